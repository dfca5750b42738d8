"""A process that asks and is killed, over and over: what is in the ledger is there for good.

The asker is the real gateway in a process of its own, SIGKILLed at seeded moments and started again
on the same ledger until everything is answered. A stand-in of the API records which process sent
what; after each kill the ledger's files are read from a copy, so that the next asker finds them
exactly as the kill left them.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from methods.prompts.messages import Message
from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Call, Ledger, writer
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest
from resources.migrations import StoreError
from resources.mock_server.process import MockServerProcess
from tests.doubles.openai_api import Api, answer_to, serving, serving_loop
from tests.resources.llm.loopback import questions

pytestmark = pytest.mark.slow

N = 150
CONCURRENCY = 4
SEED = 7
AMID_WORK = 3
"""Kills at least that come when answers are stored."""
MODELS = """
profiles: {{paid: {{writer: it, judge: it, evaluate: [it]}}}}
models: {{it: {{provider: openai, base_url: "{url}", api_key_env: PAID_KEY, concurrency: {limit}}}}}
"""

# Forks an asker per line of its input, so that a start costs no second of imports. The asker's key
# is its name, by which the API knows it.
FORKER = """
    import json, os, signal, sys
    from dataclasses import asdict
    from pathlib import Path
    import aiohttp, openai
    import resources.llm.errors
    from methods.prompts.messages import Message
    from resources.images.store import ImageStore
    from resources.llm.gateway import Gateway
    from resources.llm.ledger import Ledger
    from resources.llm.registry import load_registry
    from resources.llm.request import ChatRequest
    from resources.mock_server.process import MockServerProcess

    models, n = Path(sys.argv[1]), int(sys.argv[2])
    openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9").chat.completions

    def ask(folder, name):
        os.environ["PAID_KEY"] = name
        ledger = Ledger(folder / "ledger.sqlite")
        images = ImageStore(folder / "images")
        gateway = Gateway(load_registry(models), "paid", ledger, images, launcher=MockServerProcess())
        requests = [
            ChatRequest("it", (Message.from_text("user", f"Question {i}"),), "test/kill@1")
            for i in range(n)
        ]
        outcomes, usage = gateway.ask("stage", requests)
        told = {"outcomes": [asdict(outcome) for outcome in outcomes], "calls": usage.calls}
        (folder / "told.json").write_text(json.dumps(told))

    for line in sys.stdin:
        folder, name = line.split()
        child = os.fork()
        if child == 0:
            try:
                ask(Path(folder), name)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Recorder:
    """The API in a thread of its own: what each asker sent, and a kill when its time has come."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self._trigger: tuple[str, int, Callable[[], None]] | None = None
        self._ending = ExitStack()
        self._loop = self._ending.enter_context(serving_loop())
        self.url = self._ending.enter_context(serving(Api((4, 8), self._heard), self._loop))

    def after(self, asker: str, n_requests: int, delay: float, do: Callable[[], None]) -> None:
        """Do it `delay` seconds after the asker's request number `n_requests`, 0 being right now."""
        self._trigger = (asker, n_requests, lambda: self._loop.call_later(delay, do))
        self._loop.call_soon_threadsafe(self._look)

    def by(self, asker: str) -> list[str]:
        """What this asker sent, in order."""
        return [text for name, text in self.sent if name == asker]

    def stop(self) -> None:
        self._ending.close()

    def _heard(self, asker: str, text: str) -> None:
        self.sent.append((asker, text))
        self._look()

    def _look(self) -> None:
        if self._trigger and len(self.by(self._trigger[0])) >= self._trigger[1]:
            start, self._trigger = self._trigger[2], None
            start()


class Askers:
    """Starts askers one after another; `ask` is how one ended."""

    def __init__(self, models: Path):
        command = [sys.executable, "-c", textwrap.dedent(FORKER), str(models), str(N)]
        self._forker = subprocess.Popen(
            command, cwd=REPO_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(
        self, folder: Path, name: str, started: Callable[[int], None] = lambda pid: None
    ) -> int:
        """The exit code of an asker of everything; `started` is given its process."""
        assert self._forker.stdin and self._forker.stdout
        self._forker.stdin.write(f"{folder} {name}\n")
        self._forker.stdin.flush()
        started(int(self._forker.stdout.readline()))
        return int(self._forker.stdout.readline())

    def stop(self) -> None:
        self._forker.communicate()


@dataclass(frozen=True)
class Kill:
    """One asker's end: what was durable by then, and how much of that by its own work."""

    asker: str
    durable: dict[str, Call]
    gained: int


@dataclass(frozen=True)
class Run:
    """An undisturbed run, and one that was killed over and over and came to its end."""

    calm: Path
    rough: Path
    kills: list[Kill]
    askers: list[str]
    sent: dict[str, list[str]]

    @property
    def lost(self) -> dict[str, int]:
        """Requests sent by each killed asker that left nothing in the ledger."""
        return {kill.asker: len(self.sent[kill.asker]) - kill.gained for kill in self.kills}


@pytest.fixture(scope="module")
def api() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.stop()


@pytest.fixture(scope="module")
def askers(api: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Askers]:
    models = tmp_path_factory.mktemp("models") / "models.yaml"
    models.write_text(MODELS.format(url=api.url, limit=CONCURRENCY))
    starter = Askers(models)
    yield starter
    starter.stop()


def ledger_as_left(folder: Path, aside: Path) -> dict[str, Call]:
    """The ledger by key, read from a copy: opening it would tidy up what the kill left behind."""
    aside.mkdir()
    for name in ("ledger.sqlite", "ledger.sqlite-wal"):
        if (folder / name).exists():
            shutil.copy(folder / name, aside)
    return {call.key: call for call in Ledger(aside / "ledger.sqlite")}


def text_of(call: Call) -> str:
    """The question of a call."""
    return call.request["messages"][0]["parts"][0]  # type: ignore[index]


def told(folder: Path) -> tuple[list[dict], int]:
    """The outcomes an asker that lived was handed, and how many of them it had asked for itself."""
    said = json.loads((folder / "told.json").read_text())
    return said["outcomes"], said["calls"]


def kill_over_and_over(
    api: Recorder, askers: Askers, folder: Path, seed: int, n_kills: int
) -> list[Kill]:
    """Askers killed at seeded moments: after so many requests and a little while.

    There are more of them where a busy machine has few answers stored by then.
    """
    rng = random.Random(seed)
    kills: list[Kill] = []
    durable: dict[str, Call] = {}
    while len(kills) < n_kills or sum(1 for kill in kills if kill.gained) < AMID_WORK:
        number = len(kills)
        name = f"rough-{number}"
        left = N - len(durable)
        most = min(3 * left // (2 * max(1, n_kills - number)), left - CONCURRENCY)
        # A few die before they have asked anything, the others amid their work.
        n_requests = 0 if rng.random() < 0.15 else rng.randint(1, max(1, most))
        delay = rng.uniform(0, 0.12 if n_requests == 0 else 0.008)

        def started(pid: int, when=(name, n_requests, delay)) -> None:
            api.after(*when, lambda: os.kill(pid, signal.SIGKILL))

        ended = askers.ask(folder, name, started)
        assert ended == -signal.SIGKILL, f"{name} was to be killed and ended with {ended}"
        before, durable = durable, ledger_as_left(folder, folder / f"aside-{number}")
        kills.append(Kill(name, durable, len(durable.keys() - before.keys())))
        if N - len(durable) < 2 * CONCURRENCY:
            break  # another asker might be done before its kill
    return kills


@pytest.fixture(scope="module", params=[8, pytest.param(26, marks=pytest.mark.nightly)])
def run(
    api: Recorder,
    askers: Askers,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Run:
    calm, rough = tmp_path_factory.mktemp("calm"), tmp_path_factory.mktemp("rough")
    assert askers.ask(calm, "calm") == 0
    kills = kill_over_and_over(api, askers, rough, SEED, request.param)
    assert askers.ask(rough, "last") == 0
    names = [*(kill.asker for kill in kills), "last"]
    return Run(calm, rough, kills, names, {name: api.by(name) for name in names})


def test_an_answer_that_was_durable_at_any_kill_is_there_unchanged_at_the_end(run):
    at_the_end = {call.key: call for call in Ledger(run.rough / "ledger.sqlite")}

    assert len(at_the_end) == N
    assert sum(1 for kill in run.kills if kill.gained) >= AMID_WORK
    for kill in run.kills:
        # All of each row, the time it was made included.
        assert {key: at_the_end.get(key) for key in kill.durable} == kill.durable
    assert all(call.response == answer_to(text_of(call)) for call in at_the_end.values())


def test_what_was_durable_at_a_kill_is_never_sent_again(run):
    for kill, later in zip(run.kills, run.askers[1:], strict=True):
        known = {text_of(call) for call in kill.durable.values()}
        assert known.isdisjoint(run.sent[later]), f"{later} sent what {kill.asker} had kept"
    for name in run.askers:
        assert max(Counter(run.sent[name]).values(), default=1) == 1, f"{name} sent one twice"


def test_who_asks_sees_no_difference_from_an_undisturbed_run(run):
    calm, calm_calls = told(run.calm)
    rough, rough_calls = told(run.rough)

    for outcome in [*calm, *rough]:
        del outcome["cached"]
    assert rough == calm
    assert (calm_calls, rough_calls) == (N, N - len(run.kills[-1].durable))


def test_every_send_beyond_the_first_is_one_that_a_kill_took(run):
    assert sum(map(len, run.sent.values())) - N == sum(run.lost.values())


AT_RISK = 2
"""Answers that a kill can cost, for each that may be in flight: it, and one on its way to the disk."""


def test_a_kill_takes_no_more_than_may_be_at_risk(run):
    assert max(run.lost.values()) <= AT_RISK * CONCURRENCY, run.lost


def test_no_more_than_may_be_at_risk_is_ever_paid_for_and_not_yet_durable(
    api, tmp_path, monkeypatch
):
    at_risk: list[int] = []

    class SlowLedger(Ledger):
        def add(self, calls: Iterable[Call]) -> None:
            time.sleep(0.03)
            at_risk.append(len(api.by("slow")) - len(self))
            super().add(calls)

    monkeypatch.setenv("PAID_KEY", "slow")
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.format(url=api.url, limit=4))
    ledger = SlowLedger(tmp_path / "ledger.sqlite")
    gateway = Gateway(
        load_registry(models),
        "paid",
        ledger,
        ImageStore(tmp_path / "images"),
        launcher=MockServerProcess(),
    )

    gateway.ask(
        "stage",
        [ChatRequest("it", (Message.from_text("user", f"Question {i}"),), "v1") for i in range(60)],
    )

    assert 4 < max(at_risk) <= AT_RISK * 4, "a slow disk slows nobody down at first"


def test_after_the_first_answer_that_a_full_disk_cannot_take_nothing_more_is_sent(
    tmp_path, monkeypatch
):
    refused = list[int]()
    heard = list[str]()

    class FullLedger(Ledger):
        def add(self, calls: Iterable[Call]) -> None:
            if len(self) >= 20:
                refused.append(len(list(calls)))
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise StoreError("The disk is full.") from error
            super().add(calls)

    monkeypatch.setenv("PAID_KEY", "full")
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", 0.5)
    models, ledger = tmp_path / "models.yaml", FullLedger(tmp_path / "ledger.sqlite")
    with serving(Api((100, 150), lambda _key, text: heard.append(text))) as url:
        models.write_text(MODELS.format(url=url, limit=8))
        registry, images = load_registry(models), ImageStore(tmp_path / "images")
        gateway = Gateway(registry, "paid", ledger, images, launcher=MockServerProcess())
        with pytest.raises(StoreError, match="The disk is full"):
            gateway.ask("stage", questions(80))

    assert len(refused) > 2, "the disk may have room again: it is tried again"
    # What was in flight, and what came together with the first answer that was not taken.
    assert len(heard) - len(ledger) <= 8 + refused[0] < 14
