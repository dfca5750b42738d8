"""A Label Studio server: how it is asked, and the commands `push` and `pull`."""

import asyncio
import json
import weakref

import httpx2
import pytest

from dagster_project.cli import main as loom
from extras.label_studio import client, commands
from extras.label_studio.client import LabelStudio, LabelStudioError
from methods.json_text import from_json
from resources.files.home import review_path
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from tests.extras.label_studio.label_studio_results import annotated
from tests.review.items_of_every_kind import item_of

URL, TOKEN, ACCESS = "http://studio.test/sub", "f" * 40, "a.b.c"


@pytest.fixture
def images(tmp_path):
    return ImageStore(tmp_path / "images")


class Studio:
    """A server that speaks just enough of the API to see what it is asked."""

    def __init__(self):
        self.asked, self.answers, self.expired = [], {}, 0
        self.pages = []

    def answer(self, request):
        path = request.url.path.removeprefix("/sub")
        self.asked.append((request.method, path, request.headers.get("Authorization")))
        if path == "/api/token/refresh/":
            return httpx2.Response(200, json={"access": f"access-{len(self.asked)}"})
        if self.expired:
            self.expired -= 1
            return httpx2.Response(401)
        if path == "/api/tasks" and self.pages:
            ids = self.pages[int(request.url.params["page"]) - 1]
            return httpx2.Response(200, json={"tasks": [{"id": each} for each in ids]})
        is_new = (request.method, path) == ("POST", "/api/projects")
        if is_new and len(json.loads(request.content)["title"]) > 50:
            return httpx2.Response(400)  # as the server does
        answer = self.answers.get((request.method, path), {"results": [], "tasks": []})
        return answer if isinstance(answer, httpx2.Response) else httpx2.Response(200, json=answer)


@pytest.fixture
def studio(monkeypatch):
    studio, make = Studio(), httpx2.AsyncClient
    transport = httpx2.MockTransport(lambda request: studio.answer(request))
    monkeypatch.setattr(
        client.httpx2, "AsyncClient", lambda **options: make(transport=transport, **options)
    )
    return studio


class TestServer:
    def test_a_legacy_token_is_sent_itself_and_an_access_token_changed_when_it_runs_out(
        self, studio
    ):
        assert LabelStudio(URL, TOKEN).project("x") is None
        assert studio.asked == [("GET", "/api/projects", f"Token {TOKEN}")]
        studio.asked.clear()
        server = LabelStudio(URL, ACCESS)
        server.project("x")
        studio.expired = 1
        server.project("x")
        refresh = ("POST", "/api/token/refresh/", None)
        projects = [("GET", "/api/projects", f"Bearer access-{number}") for number in (1, 1, 4)]
        assert studio.asked == [refresh, projects[0], projects[1], refresh, projects[2]]

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (httpx2.Response(401), "refuses the token"),
            (httpx2.Response(400, json={"detail": "two\nlines"}), "with 400: two lines"),
            (httpx2.Response(302, headers={"Location": "http://elsewhere"}), "with 302: Found"),
            (httpx2.Response(200, text="<html>"), "is not a Label Studio server"),
            (httpx2.Response(200, headers={"Content-Length": "40000001"}), "over 40,000,000 bytes"),
        ],
    )
    def test_a_refusal_is_one_sentence(self, studio, answer, words):
        studio.answers["GET", "/api/projects"] = answer
        with pytest.raises(LabelStudioError, match=words):
            LabelStudio(URL, TOKEN).project("x")

    def test_an_answer_of_another_form_is_one_sentence(self, studio):
        for answer in ([], {"results": {}}, {"results": [{"id": "../../users"}]}):
            studio.answers["GET", "/api/projects"] = answer
            studio.answers["POST", "/api/projects"] = answer
            for asks in (lambda it: it.project("x"), lambda it: it.new_project("x", "x", "")):
                with pytest.raises(LabelStudioError, match="/api/projects without"):
                    asks(LabelStudio(URL, TOKEN))

    def test_a_title_is_cut_to_what_the_server_takes(self, studio):
        studio.answers["POST", "/api/projects"] = {"id": 7}
        assert LabelStudio(URL, TOKEN).new_project("x", "t" * 51, "") == 7

    def test_a_server_that_is_not_there(self):
        with pytest.raises(LabelStudioError, match="cannot be reached") as raised:
            LabelStudio("http://u:LSPASS@127.0.0.1:9", TOKEN).project("x")
        assert "LSPASS" not in str(raised.value)

    def test_an_answer_that_takes_too_long_is_given_up(self, studio, monkeypatch):
        async def slow(request):
            await asyncio.sleep(5)

        studio.answer = slow
        monkeypatch.setattr(client, "WHOLE_SECONDS", 0.05)
        with pytest.raises(LabelStudioError, match=r"did not complete its answer .* 0.05 seconds"):
            LabelStudio(URL, TOKEN).project("x")

    def test_all_pages_are_read_up_to_a_page_that_comes_again_or_a_limit(self, studio, monkeypatch):
        def n_tasks():
            return len([*LabelStudio(URL, TOKEN).tasks(1)])

        studio.pages = [range(1, client.PAGE + 1), range(client.PAGE + 1, client.PAGE + 4)]
        assert n_tasks() == client.PAGE + 3
        studio.pages = [range(1, client.PAGE + 1)] * 2
        with pytest.raises(LabelStudioError, match="the same page again"):
            n_tasks()
        monkeypatch.setattr(client, "MOST_PAGES", 3)
        studio.pages = [range(n, n + client.PAGE) for n in range(1, 1_000, client.PAGE)]
        with pytest.raises(LabelStudioError, match="more than 3 pages"):
            n_tasks()

    def test_a_page_is_freed_before_the_next_one_is_decoded(self, studio, monkeypatch):
        class Page(list):
            """A list that can have weak references."""

        pages = []

        def decoded(content):
            assert not any(page() for page in pages)
            page = Page(from_json(content)["tasks"])
            pages.append(weakref.ref(page))
            return {"tasks": page}

        monkeypatch.setattr(client, "from_json", decoded)
        studio.pages = [range(1, client.PAGE + 1), range(client.PAGE + 1, client.PAGE + 2)]
        assert len([*LabelStudio(URL, TOKEN).tasks(1)]) == client.PAGE + 1
        assert len(pages) == 2


class TestCommands:
    @pytest.fixture(autouse=True)
    def home(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
        monkeypatch.setenv("LABEL_STUDIO_TOKEN", TOKEN)
        monkeypatch.setattr(commands, "read_queue", lambda: [item_of("rewrite")])
        Accounts(review_path()).add("ann", "annotator")

    def run(self, way):
        where = ["--url", URL, "--kind", "rewrite", "--round", "1", "--reviewer", "ann"]
        return loom(["review", "label-studio", way, *where])

    def test_without_a_token_nothing_is_asked_and_what_was_never_pushed_cannot_be_pulled(
        self, studio, monkeypatch, capsys
    ):
        assert self.run("pull") == 2
        assert "push it first" in capsys.readouterr().err
        studio.asked.clear()
        monkeypatch.delenv("LABEL_STUDIO_TOKEN")
        assert self.run("push") == 2
        assert "LABEL_STUDIO_TOKEN is not set" in capsys.readouterr().err
        assert studio.asked == []

    def test_a_round_goes_out_once_and_comes_back(self, studio, images, capsys):
        studio.answers["POST", "/api/projects"] = {"id": 3}
        assert self.run("push") == 0
        assert "1 tasks added to project 3, 0 were there already" in capsys.readouterr().out
        assert studio.asked[-1][:2] == ("POST", "/api/projects/3/import")
        mine = {"id": 3, "description": "vlm-loom: rewrite, round 1, by ann"}
        studio.answers["GET", "/api/projects"] = {"results": [{"id": 2, "description": ""}, mine]}
        studio.answers["GET", "/api/tasks"] = {
            "tasks": [annotated(item_of("rewrite"), images, {"verdict": "accept"})]
        }
        assert self.run("push") == 0
        assert "0 tasks added to project 3, 1 were there already" in capsys.readouterr().out
        assert self.run("pull") == 0
        assert capsys.readouterr().out.startswith("1 decisions added")
