"""The review app under load: fifty annotators on 50,000 items, and a server that is killed midway.

Run by `make bench NAME=review`. The server is `vlm-loom review serve` in a process of its own;
annotators are threads of this one, each with a connection and a session, who open items, save drafts
and decide. A third of the items is assigned to ten of them, some items are gold, and a lead reloads the
page of figures all the while. At the end every decision that was acknowledged must be in the store,
once. Prints a table, and as the last line all figures as one JSON object.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path

import httpx2

from methods.ids import content_id
from methods.review import Decision, QueueItem
from resources.files.home import REPO_ROOT
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from tests.e2e.running import CLI
from tests.review.html import attribute, script_data

N_ITEMS, N_ANNOTATORS, N_ASSIGNED, N_GOLD = 50_000, 50, 10, 50
THINKING = (0.5, 2.5)
"""Seconds between what an annotator does and does next: faster than anybody reads."""
LIMIT_MS = 300
CSRF_FIELD = "input[name=csrf_token]"
PAGES = ("queue", "next item", "item", "history")
"""What people wait for, with the decision; the rest goes out while they read on."""
RULES = "default: {annotators: 1, expert: all}\ngold: 0.05\n"


class Unexpected(Exception):
    """An answer that no annotator should see."""


def queue_items(store: ReviewStore) -> None:
    """Dialogues of eight turns and 300 words each, and rewrites, half of each."""
    random_ = random.Random(11)
    words = [f"word{number}" for number in range(2000)]

    def text(n: int) -> str:
        return " ".join(random_.choices(words, k=n))

    items = []
    for number in range(N_ITEMS):
        kind, content = "rewrite", {"original": text(40), "rewrite": text(60)}
        if number % 2:
            turns = [{"question": text(40), "answer": text(300)} for _ in range(8)]
            kind, content = "dialogue", {"image_ids": [], "turns": turns}
        items.append(
            QueueItem(
                item_id=content_id("bench", number),
                kind=kind,
                content=content,
                content_hash=content_id(content),
                image_ids=[],
                set_id=content_id("set", number),
            )
        )
    store.update_queue(items)
    gold = items[:N_GOLD]
    decisions = [
        Decision(
            *(item["item_id"], item["content_hash"], round, name, "accept", None, None, None, 3.0),
            decided_at="2026-01-01T00:00:00+00:00",
        )
        for item in gold
        for round, name in ((1, "before"), (2, "expert"))
    ]
    store.append(decisions)
    store.make_gold(N_GOLD, "lead")


class Lead(threading.Thread):
    """Who leads reloads the page of figures."""

    def __init__(self, address: str, link: str, stop: threading.Event):
        super().__init__(daemon=True)
        self.visitor = Annotator(address, link, 0, stop)
        self.stop = stop

    def run(self) -> None:
        try:
            self.visitor.sign_in()
            while not self.stop.wait(2):
                self.visitor.page("lead", "GET", "/lead")
        except (httpx2.HTTPError, Unexpected) as error:
            self.visitor.faults[f"lead: {error}"] += 1


class Annotator(threading.Thread):
    """One person: opens items, types, decides, until told to stop or the server is gone."""

    def __init__(self, address: str, link: str, seed: int, stop: threading.Event):
        super().__init__(daemon=True)
        self.client = httpx2.Client(base_url=address, timeout=30)
        self.link, self.random, self.stop = link, random.Random(seed), stop
        self.milliseconds: dict[str, list[float]] = defaultdict(list)
        self.acknowledged: list[int] = []
        self.faults: Counter[str] = Counter()
        self.csrf = ""

    def run(self) -> None:
        try:
            self.sign_in()
            while not self.stop.is_set():
                self._work()
        except httpx2.HTTPError as error:
            self.faults[f"connection: {type(error).__name__}"] += 1
        except Unexpected as error:
            self.faults[str(error)] += 1

    def _work(self) -> None:
        page = self.page(
            "next item", "POST", "/next", data={"csrf_token": self.csrf}, follow_redirects=True
        )
        data = script_data(page.text)
        while data and not self.stop.is_set():
            self._think()
            draft = {"content": data["content"], "verdict": "accept", "seconds": 3}
            self._post("draft", data["urls"]["draft"], token=data["token"], draft=draft)
            self._think()
            if self.random.random() < 0.1:
                self.page("history", "GET", f"/history/{data['item_id']}")
            if self.random.random() < 0.1:
                self.page("queue", "GET", "/", params={"text": self.random.choice(["", "word7"])})
            decided = self._post(
                "decide",
                data["urls"]["decide"],
                token=data["token"],
                content_hash=data["content_hash"],
                round=data["round"],
                verdict="accept",
                seconds=3,
            )
            self.acknowledged.append(decided["event_id"])
            page = self.page("item", "GET", decided["next"])
            data = script_data(page.text)

    def sign_in(self) -> None:
        page = self.page("sign in", "GET", self.link)
        token = attribute(page.text, CSRF_FIELD, "value")
        if token is None:
            raise Unexpected("no CSRF token on the page")
        page = self.page(
            "sign in", "POST", self.link, data={"csrf_token": token}, follow_redirects=True
        )
        self.csrf = attribute(page.text, CSRF_FIELD, "value") or ""

    def page(self, name: str, method: str, url: str, **options: object) -> httpx2.Response:
        started = time.perf_counter()
        response = self.client.request(method, url, **options)  # type: ignore[arg-type]
        self.milliseconds[name].append((time.perf_counter() - started) * 1000)
        if response.status_code != 200:
            raise Unexpected(f"{name}: {response.status_code}")
        return response

    def _post(self, name: str, url: str, **body: object) -> dict:
        headers = {"X-CSRF-Token": self.csrf}
        return self.page(name, "POST", url, json=body, headers=headers).json()

    def _think(self) -> None:
        self.stop.wait(self.random.uniform(*THINKING))


@contextmanager
def serving(home: Path):
    """The real server on a free port; killed, not asked, at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", CLI, "review", "serve", "--port", str(port)],
        cwd=REPO_ROOT,
        env={**os.environ, "LOOM_HOME": str(home)},
        stdout=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                httpx2.get(f"{address}/login")
                break
            except httpx2.HTTPError:
                time.sleep(0.1)
        yield process, address
    finally:
        process.kill()
        process.wait()


def load(home: Path, seconds: float, n: int, *, kill: bool = False) -> dict:
    """`n` annotators for some seconds; `kill` ends the server by SIGKILL while they work."""
    accounts = Accounts(home / "review.sqlite")
    links, store = [], ReviewStore(home / "review.sqlite")
    for number in range(n):
        name = f"annotator-{'killed' if kill else 'load'}-{number}"
        accounts.add(name, "annotator")
        links.append(f"/link/{accounts.link(name)}")
        if number < N_ASSIGNED and not kill:
            store.assign(name, "annotator", "lead", share=1 / 30)
    lead = f"lead-{kill}"
    accounts.add(lead, "admin")
    lead_link = f"/link/{accounts.link(lead)}"
    stop = threading.Event()
    with serving(home) as (process, address):
        people = [Annotator(address, link, seed, stop) for seed, link in enumerate(links)]
        leading = Lead(address, lead_link, stop)
        started = time.monotonic()
        for person in [*people, leading]:
            person.start()
        time.sleep(seconds)
        if kill:
            process.kill()
        stop.set()
        for person in [*people, leading]:
            person.join(60)
        wall = time.monotonic() - started
    acknowledged = [event for person in people for event in person.acknowledged]
    stored = Counter(each.event_id for each in ReviewStore(home / "review.sqlite").decisions())
    milliseconds: dict[str, list[float]] = defaultdict(list)
    for person in [*people, leading.visitor]:
        for name, values in person.milliseconds.items():
            milliseconds[name] += values
    faults: Counter[str] = sum((person.faults for person in [*people, leading.visitor]), Counter())
    if kill:
        # A connection that the killed server dropped is what was asked for.
        faults = Counter(
            {k: v for k, v in faults.items() if not k.startswith(("connection", "lead"))}
        )
    return {
        "seconds": round(wall, 1),
        "annotators": n,
        "decisions": len(acknowledged),
        "lost": sum(stored[event] != 1 for event in acknowledged),
        "acknowledged_twice": len(acknowledged) - len(set(acknowledged)),
        "faults": dict(faults),
        "requests": {
            name: {"n": len(values), **quantiles(values)} for name, values in milliseconds.items()
        },
        "pages": quantiles([v for name in (*PAGES, "decide") for v in milliseconds[name]]),
        "within_limit": quantiles([v for name in (*PAGES, "decide") for v in milliseconds[name]])[
            "p95"
        ]
        < LIMIT_MS,
    }


def quantiles(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile and largest, in milliseconds."""
    ordered = sorted(values) or [0.0]
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))
    }


def show(figures: dict) -> None:
    """The figures for people."""
    for name in ("load", "killed"):
        row = figures[name]
        print(
            f"\n{name}: {row['annotators']} annotators, {row['seconds']} s, {row['decisions']} "
            f"decisions acknowledged, {row['lost']} lost, faults: {row['faults'] or 'none'}"
        )
        print(f"{'':12}{'n':>8}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}")
        for request, said in [*row["requests"].items(), ("all pages", {"n": "", **row["pages"]})]:
            print(
                f"{request:12}{said['n']:>8}{said['p50']:9.1f}{said['p95']:9.1f}{said['max']:9.1f}"
            )
    print()


def main() -> None:
    """Both runs on one home."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as name:
        home = Path(name)
        (home / "review.yaml").write_text(RULES)
        queue_items(ReviewStore(home / "review.sqlite"))
        figures = {
            "cores": os.cpu_count(),
            "items": N_ITEMS,
            "load": load(home, seconds, N_ANNOTATORS),
            "killed": load(home, seconds / 6, N_ANNOTATORS, kill=True),
        }
    show(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
