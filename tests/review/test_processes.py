"""Several processes of the review app on one database, behind a proxy that gives each the next request.

Each has a home of its own, as on a machine of its own; only the first has rules, and the clock of the
second is a day ahead.
"""

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from resources.web.ports import HOST
from tests.doubles.round_robin import Proxy
from tests.doubles.servers import PostgresServer
from tests.doubles.serving import free_ports, serving
from tests.e2e.running import environment
from tests.resources.review.account_clock import CHEAP, RIGHT, WRONG
from tests.resources.review.review_queue import item, status
from tests.review.html import csrf_token_in
from tests.review.http_people import decide, opened
from tests.review.pages import PEOPLE, Site, dialogue

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
RULES = """
default: {annotators: 2, expert: disagreement}
kinds:
  rewrite: {annotators: 1, expert: none}
  reference: {annotators: 1, expert: all, quota: 2}
"""
N_REWRITES = 300
# What runs `vlm-loom` with a clock that is set a day ahead.
AHEAD = """
    import datetime, time

    class Ahead(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) + datetime.timedelta(days=1)

    datetime.datetime = Ahead
    told = time.time
    time.time = lambda: told() + 86400
    from dagster_project.cli import main
    main()
"""


class Installation:
    """Processes of the review app, a proxy before them, and their database as the test reads it."""

    def __init__(self, folder: Path, stores: str):
        self.folder, self.stores = folder, stores
        self.homes = [folder / f"home-{number}" for number in range(3)]
        for home in self.homes:
            home.mkdir()
        (self.homes[0] / "review.yaml").write_text(RULES)
        path = self.homes[0] / "review.sqlite"
        self.store, self.accounts = ReviewStore(path), Accounts(path, hasher=CHEAP)
        # A folder that they share, as a bucket is.
        for home in self.homes[1:]:
            (home / "images").symlink_to(self.homes[0] / "images")
        self.site = Site(self.store, self.accounts, ImageStore(self.homes[0] / "images"))
        for name, role in PEOPLE.items():
            self.accounts.add(name, role, RIGHT)
        self.ports = free_ports(3)
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, *numbers: int) -> None:
        """Start processes, and wait until they answer."""
        for number in numbers:
            program = (
                ["-c", textwrap.dedent(AHEAD)] if number == 1 else ["-m", "dagster_project.cli"]
            )
            with (self.folder / f"log-{number}").open("ab") as log:
                stores = {"LOOM_STORES": self.stores, "LOOM_TRUSTED_PROXY": HOST}
                self.processes[number] = subprocess.Popen(
                    [sys.executable, *program, "review", "serve", f"--port={self.ports[number]}"],
                    cwd=REPO_ROOT,
                    env=environment(self.homes[number], **stores),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
        for number in numbers:
            wait_for(lambda number=number: self._answers(number))

    def end(self, *numbers: int, by: int = signal.SIGTERM) -> None:
        """End processes."""
        for number in numbers:
            self.processes[number].send_signal(by)
        for number in numbers:
            self.processes.pop(number).wait(60)

    def at(self, number: int) -> str:
        """The address of one process, past the proxy."""
        return f"http://{HOST}:{self.ports[number]}"

    def _answers(self, number: int) -> bool:
        log = self.folder / f"log-{number}"
        assert self.processes[number].poll() is None, log.read_text()[-3000:]
        try:
            return httpx2.get(f"{self.at(number)}/login").status_code == 200
        except httpx2.TransportError:
            return False


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def running(postgres: PostgresServer, folder: Path) -> Iterator[Installation]:
    stores = postgres.database()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_STORES", stores)
        made = Installation(folder, stores)
        made.store.update_queue(queue_of(made))
        try:
            made.start(0, 1, 2)
            yield made
        finally:
            made.end(*made.processes, by=signal.SIGKILL)
            made.store.close()


@pytest.fixture(scope="module")
def behind(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    with running(postgres, tmp_path_factory.mktemp("processes")) as made:
        yield made


@pytest.fixture
def proxy(behind: Installation) -> Iterator[str]:
    with serving(Proxy(behind.ports)) as server:
        yield server.address


def queue_of(behind: Installation, n_rewrites: int = N_REWRITES) -> list[Any]:
    return [
        *(dialogue(behind.site, name) for name in ("one", "two")),
        *(item(number) for number in range(n_rewrites)),
        *(item(number, kind="reference") for number in range(10_000, 10_008)),
    ]


def signed_in(behind: Installation, address: str, name: str) -> httpx2.Client:
    """Somebody who used a link."""
    client = httpx2.Client(base_url=address, timeout=120)
    link = f"/link/{behind.accounts.link(name)}"
    answer = client.post(link, data={"csrf_token": csrf_token_in(client.get(link).text)})
    assert answer.status_code == 303, answer.text
    client.headers["x-csrf-token"] = csrf_token_in(client.get("/").text)
    return client


def by_password(client: httpx2.Client, name: str, password: str, address: str = "10.0.0.1") -> int:
    """The status of trying to sign in, from an address."""
    token = csrf_token_in(client.get("/login").text)
    given = {"name": name, "password": password, "csrf_token": token}
    return client.post("/login", data=given, headers={"x-forwarded-for": address}).status_code


def test_what_one_process_was_told_all_others_know(behind, proxy):
    with httpx2.Client(base_url=proxy) as anna, closing(signed_in(behind, proxy, "ben")) as ben:
        assert by_password(anna, "anna", RIGHT) == 303
        anna.headers["x-csrf-token"] = csrf_token_in(anna.get("/").text)
        one = dialogue(behind.site, "one")
        url = f"/items/{one['item_id']}"

        # The same lock everywhere, and the draft that was saved last.
        tokens = {opened(anna, one["item_id"])["token"] for _ in range(3)}
        assert len(tokens) == 1
        version = None
        for number in range(4):
            draft = {"content": one["content"], "note": f"draft {number}", "verdict": "accept"}
            body = {"token": [*tokens][0], "draft": draft, "based_on": version}
            version = anna.post(f"{url}/draft", json=body).json()["version"]
            page = anna.get(f"{behind.at(number % 3)}{url}").text
            assert f"draft {number}" in page
        body = {"token": [*tokens][0], "draft": {}, "based_on": "elsewhere"}
        other = anna.post(f"{url}/draft", json=body)
        assert (other.status_code, other.json()["other"]) == (409, True)

        # Rules are those of who has some: two annotators who do not see each other's decision.
        data = opened(anna, one["item_id"])
        answer = decide(anna, data, "accept", note="the ground is red", based_on=version)
        assert answer.status_code == 200, answer.text
        event = str(answer.json()["event_id"])
        for number in range(3):
            assert "the ground is red" not in ben.get(f"{behind.at(number)}{url}").text
        assert anna.post(f"{url}/take-back", data={"event_id": event}).status_code == 303
        assert "the ground is red" in anna.get(url).text
        for client in (anna, ben):
            assert decide(client, opened(client, one["item_id"]), "accept").status_code == 200
        assert status(behind.store, one["item_id"]) == "approved"
        for number in range(3):
            text = f"said at {number}"
            said = {"text": text, "addressee": "anna"}
            assert ben.post(f"{behind.at(number)}{url}/comments", data=said).status_code == 303
            assert text in anna.get(url).text

        # Nobody is signed out at one and in at another.
        assert anna.post("/logout").status_code == 303
        assert {anna.get(f"{behind.at(n)}/").status_code for n in range(3)} == {303}
        stale = ben.post("/logout", headers={"x-csrf-token": anna.headers["x-csrf-token"]})
        assert stale.status_code == 403
        for change in (
            lambda: behind.accounts.disable("ben"),
            lambda: behind.accounts.set_password("ben", RIGHT[::-1]),
        ):
            assert {ben.get(f"{behind.at(n)}/").status_code for n in range(3)} == {200}
            change()
            assert {ben.get(f"{behind.at(n)}/").status_code for n in range(3)} == {303}
            behind.accounts.enable("ben")
            ben = signed_in(behind, proxy, "ben")
        ben.close()


def test_failed_sign_ins_are_counted_over_all_whatever_their_clocks_say(behind, proxy):
    with httpx2.Client(base_url=proxy) as client:
        assert [by_password(client, "eva", WRONG) for _ in range(7)] == [401] * 5 + [429] * 2
        for number in range(3):
            client.base_url = behind.at(number)
            assert by_password(client, "eva", RIGHT) == 429
            # From one address, with names that nobody has.
        tried = []
        for number in range(21):
            client.base_url = behind.at(number % 3)
            tried.append(by_password(client, f"nobody {number}", WRONG, "10.0.0.9"))
        assert tried == [401] * 20 + [429]


def test_a_day_is_the_same_for_all(behind, proxy):
    behind.accounts.add("dora", "annotator")
    with closing(signed_in(behind, proxy, "dora")) as dora:
        for number in (0, 1):
            given = {"kind": "reference"}
            page = dora.post(f"{behind.at(number)}/next", data=given).headers["location"]
            data = opened(dora, page.removeprefix("/items/"))
            decided = decide(dora, data, "accept")
            assert decided.status_code == 200
        # What she was given beside that is free for others.
        behind.store.release(decided.json()["next"].removeprefix("/items/"), "dora")
        for number in range(3):
            page = dora.post(f"{behind.at(number)}/next", data={"kind": "reference"})
            assert "nothing_left" in page.headers["location"]
    days = {each.decided_at[:10] for each in behind.store.decisions() if each.reviewer == "dora"}
    # The database is on this machine.
    now = time.gmtime()
    assert days == {time.strftime("%Y-%m-%d", now)} or now.tm_hour == 0


def test_the_leads_figures_follow_what_was_done_at_another(behind, proxy):
    def figures(number: int) -> dict[str, Any]:
        return ada.get(f"{behind.at(number)}/lead.json").json()

    reference = item(10_007, kind="reference")["item_id"]
    with (
        closing(signed_in(behind, proxy, "ada")) as ada,
        closing(signed_in(behind, proxy, "anna")) as anna,
    ):
        assert decide(anna, opened(anna, reference), "accept").status_code == 200
        assert decide(ada, opened(ada, reference), "accept").status_code == 200
        before = [figures(number) for number in range(3)]
        assert [each["gold"][0] for each in before] == [0, 0, 0]
        assert ada.post(f"{behind.at(0)}/lead/gold", data={"n": "1"}).status_code == 303
        assert [figures(number)["gold"][0] for number in range(3)] == [1, 1, 1]

        behind.store.update_queue([*queue_of(behind), item(50_000), item(50_001)])
        for number, was in enumerate(before):
            needed = figures(number)["forecast"]["needed"]["1"]
            assert needed == was["forecast"]["needed"]["1"] + 2
        behind.accounts.rename("anna", "anne")
        try:
            for number in range(3):
                named = {person["reviewer"] for person in figures(number)["people"]}
                assert "anne" in named and "anna" not in named
        finally:
            behind.accounts.rename("anne", "anna")
            behind.store.update_queue(queue_of(behind))
