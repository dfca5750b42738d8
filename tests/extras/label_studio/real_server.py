"""Rounds in a real Label Studio: its own check of every form, its API, its browser form, and back."""

import io
import re
from contextlib import closing

import httpx2
import pytest
from PIL import Image

from dagster_project.cli import main as loom
from extras.label_studio import commands
from extras.label_studio.client import LabelStudio, LabelStudioError
from extras.label_studio.files import read_records
from methods.review import KINDS
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from review.import_export import import_records
from tests.browser import FLAGS
from tests.extras.label_studio.__main__ import VENV
from tests.extras.label_studio.label_studio_results import filled_in
from tests.extras.label_studio.server import running
from tests.review.items_of_every_kind import EDITS, HOSTILE, item_of


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with running(VENV, tmp_path_factory.mktemp("label-studio")) as server:
        yield server


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """Two pictures in a store of their own: its folder and their ids."""
    folder = tmp_path_factory.mktemp("images")
    return folder, tuple(ImageStore(folder).put(picture(c)).image_id for c in ("red", "blue"))


def picture(colour):
    data = io.BytesIO()
    Image.new("RGB", (900, 600), colour).save(data, "PNG")
    return data.getvalue()


class Team:
    """A queue and its annotators, who work through the server's API as its form does."""

    def __init__(self, server, home, monkeypatch):
        self.server, self.home, self.items = server, home, []
        self.api = httpx2.Client(
            base_url=server.url, headers={"Authorization": f"Token {server.token}"}, timeout=60
        )
        monkeypatch.setenv("LOOM_WORKSPACE", str(home))
        monkeypatch.setenv("LABEL_STUDIO_TOKEN", server.token)
        monkeypatch.setattr(commands, "read_queue", lambda: self.items)

    def run(self, way, kind, reviewer, round=1):
        """What the command returns; the reviewer has an account."""
        with closing(Accounts(self.home / "review.sqlite")) as accounts:
            if accounts.get(reviewer) is None:
                accounts.add(reviewer, "expert")
        where = ["--url", self.server.url, "--kind", kind, "--round", str(round)]
        return loom(["review", "label-studio", way, *where, "--reviewer", reviewer])

    def project(self, kind, reviewer, round=1):
        client = LabelStudio(self.server.url, self.server.token)
        return client.project(commands.project_name(kind, round, reviewer))

    def tasks(self, *whose):
        client = LabelStudio(self.server.url, self.server.token)
        return list(client.tasks(self.project(*whose)))

    def annotate(self, task, filled, skipped=False):
        """Submit the form of a task, or skip it; returns the annotation's id."""
        body = {"result": filled_in(task["data"], filled), "lead_time": 12.5}
        body |= {"was_cancelled": True} if skipped else {}
        answer = self.api.post(f"/api/tasks/{task['id']}/annotations/", json=body)
        answer.raise_for_status()
        return answer.json()["id"]

    def decisions(self):
        return ReviewStore(self.home / "review.sqlite").decisions()


@pytest.fixture
def team(server, images, tmp_path, monkeypatch):
    (tmp_path / "images").symlink_to(images[0])
    return Team(server, tmp_path, monkeypatch)


def edited(kind):
    return {"verdict": "edit"} | EDITS[kind][0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_goes_out_and_an_edit_comes_back(team, images, kind):
    team.items = [item_of(kind, image_ids=images[1])]
    assert team.run("push", kind, f"ann of {kind}") == 0
    (task,) = team.tasks(kind, f"ann of {kind}")
    team.annotate(task, edited(kind))
    assert team.run("pull", kind, f"ann of {kind}") == 0
    (decision,) = team.decisions()
    assert decision.edits == team.items[0]["content"] | EDITS[kind][1]
    assert (decision.reviewer, decision.seconds) == (f"ann of {kind}", 12.5)


def test_hostile_texts_survive_the_server_byte_for_byte(team):
    # The server's database takes no NUL, as no text of a Wikipedia page has one.
    texts = [text.replace("\0", "") for text in HOSTILE]
    team.items = [item_of("rewrite", text) for text in texts]
    assert team.run("push", "rewrite", "hostile") == 0
    tasks = team.tasks("rewrite", "hostile")
    assert [task["data"]["write"][0]["text"] for task in tasks] == texts
    for task in tasks:
        team.annotate(task, {"verdict": "accept"})
    assert team.run("pull", "rewrite", "hostile") == 0
    assert len(team.decisions()) == len(texts)


def test_what_the_server_exports_as_a_file_is_read_as_well(team, tmp_path):
    team.items = [item_of("dialogue"), item_of("dialogue", "skipped")]
    team.run("push", "dialogue", "by file")
    first, second = team.tasks("dialogue", "by file")
    team.annotate(first, edited("dialogue"))
    team.annotate(second, {}, skipped=True)
    project = team.project("dialogue", "by file")
    exported = team.api.get(f"/api/projects/{project}/export", params={"exportType": "JSON"})
    (tmp_path / "export.json").write_bytes(exported.content)
    store = ReviewStore(team.home / "review.sqlite")
    result = import_records(team.items, store, read_records(tmp_path / "export.json"), "by file", 1)
    assert (result.added, result.problems) == (2, [])
    assert [event.verdict for event in store.decisions()] == ["edit", "skip"]


def test_a_personal_access_token_does_and_a_wrong_one_is_said_to(team):
    token = team.api.post("/api/token/").json()["token"]
    assert LabelStudio(team.server.url, token).project("nobody's") is None
    for wrong in ("f" * 40, token[:-3] + "abc"):
        with pytest.raises(LabelStudioError, match="refuses the token"):
            LabelStudio(team.server.url, wrong).project("nobody's")


def choose(page, value):
    """Choices show their shortcut after their name."""
    page.locator("label").filter(has_text=re.compile(rf"^{value}\b")).first.click()


@pytest.mark.parametrize("kind", ["dialogue", "score", "extraction"])
def test_the_form_in_a_browser_sends_what_is_read_here(team, images, chromium, kind):
    """Everything above fills the form in by API; here the server's own form does."""
    from playwright.sync_api import sync_playwright

    text = "one\r\n<b>two</b>  $title {{idx}}"
    team.items = [item_of(kind, text, images[1])]
    team.run("push", kind, "in a browser")
    (task,) = team.tasks(kind, "in a browser")
    project = team.project(kind, "in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1300, "height": 1800})
        page.goto(f"{team.server.url}/user/login/")
        page.fill("input[name=email]", team.server.email)
        page.fill("input[name=password]", team.server.password)
        page.press("input[name=password]", "Enter")
        page.wait_for_url(lambda url: "login" not in url)
        page.goto(f"{team.server.url}/projects/{project}/data?task={task['id']}")
        submit = page.get_by_role("button", name="Submit").first
        submit.wait_for(timeout=60_000)
        for number, score in enumerate(("7", "10") if kind == "score" else ()):
            page.locator("input[type=number]").nth(number).fill(score)
        if kind == "extraction":
            choose(page, "Z")
        choose(page, "accept" if kind == "dialogue" else "edit")
        with page.expect_response(lambda answer: "/annotations" in answer.url) as answered:
            submit.click()
        assert answered.value.status == 201
        browser.close()
    assert team.run("pull", kind, "in a browser") == 0
    (decision,) = team.decisions()
    made = None if kind == "dialogue" else team.items[0]["content"] | EDITS[kind][1]
    assert decision.edits == made
