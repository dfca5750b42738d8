"""Processes that ask and are killed: what is in the ledger is there for good.

Two machines fork askers, each the real gateway. They ask the same requests over one store; askers are
SIGKILLed at seeded moments and begin again until each was handed every outcome. The fake API records
which asker sent what. On files both machines have one home.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Call, Ledger, writer
from resources.llm.registry import load_registry
from resources.migrations import StoreError
from resources.mock_server.process import MockServerProcess
from tests.doubles.openai_api import Api, answer_to, serving
from tests.resources.llm.entries import charges_of
from tests.resources.llm.loopback import questions

pytestmark = pytest.mark.slow

N = 60
CONCURRENCY = 4
AT_RISK = 2
"""Answers that a kill can cost, for each that may be in flight: it, and one on its way to the disk."""
MODELS = """
profiles: {{paid: {{writer: it, judge: it, evaluate: [it]}}}}
models: {{it: {{provider: openai, base_url: "{url}", api_key_env: PAID_KEY, concurrency: {limit}}}}}
"""
SEED = 11
N_KILLS = 4
ASKERS_OF_A_MACHINE = 2
MACHINE = """
    import json, os, select, sys
    from dataclasses import asdict
    from pathlib import Path
    import aiohttp, openai
    import resources.llm.errors
    from tests.resources.llm.test_gateway_kill import gateway_over, questions

    models, home, n = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9").chat.completions

    def ask(name):
        # By its key the API knows an asker.
        os.environ["PAID_KEY"] = name
        outcomes, _ = gateway_over(home, models).ask("stage", questions(n))
        (home / f"{name}.json").write_text(json.dumps([asdict(outcome) for outcome in outcomes]))

    names = True
    while names:
        lines = []
        if select.select([0], [], [], 0.01)[0]:
            # A line is written at once, and read so: what Python reads ahead nobody would wait for.
            names = os.read(0, 2**16).decode()
            lines = names.splitlines()
        for name in lines:
            child = os.fork()
            if child == 0:
                try:
                    ask(name)
                except BaseException:
                    sys.excepthook(*sys.exc_info())
                    os._exit(1)
                os._exit(0)
            print("began", name, child, flush=True)
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            continue
        if child:
            print("ended", child, os.waitstatus_to_exitcode(status), flush=True)
"""


def gateway_over(home: Path, models: Path, ledger: Ledger | None = None) -> Gateway:
    if ledger is None:
        ledger = Ledger(home / "ledger.sqlite")
    images = ImageStore(home / "images")
    return Gateway(load_registry(models), "paid", ledger, images, launcher=MockServerProcess())


class Recorder(Api):
    """Remembers which asker sent what."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        super().__init__((4, 8), lambda asker, text: self.sent.append((asker, text)))
        self.url = ""

    def by(self, asker: str) -> list[str]:
        return [text for name, text in self.sent if name == asker]


@pytest.fixture
def api() -> Iterator[Recorder]:
    recorder = Recorder()
    with serving(recorder) as recorder.url:
        yield recorder


def text_of(call: Call) -> str:
    return call.request["messages"][0]["parts"][0]  # type: ignore[index]


class Machine:
    """Its askers begin again whenever one is killed, until each was handed every outcome."""

    def __init__(self, name: str, home: Path, models: Path):
        self.name, self.home = name, home
        self.alive: dict[int, str] = {}
        self.done: list[str] = []
        self.failed: list[str] = []
        self._n_begun = 0
        self._forker = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(MACHINE), str(models), str(home), str(N)],
            cwd=REPO_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        for _ in range(ASKERS_OF_A_MACHINE):
            self._begin()

    def stop(self) -> None:
        assert self._forker.stdin
        self._forker.stdin.close()
        self._forker.wait(60)

    def _begin(self) -> None:
        name = f"{self.name}-{self._n_begun}"
        self._n_begun += 1
        assert self._forker.stdin
        self._forker.stdin.write(f"{name}\n")
        self._forker.stdin.flush()

    def _listen(self) -> None:
        assert self._forker.stdout
        for line in self._forker.stdout:
            what, *of = line.split()
            if what == "began":
                self.alive[int(of[1])] = of[0]
                continue
            name = self.alive.pop(int(of[0]))
            if of[1] == "0":
                self.done.append(name)
            elif of[1] == str(-signal.SIGKILL):
                self._begin()
            else:
                self.failed.append(f"{name} ended with {of[1]}")


@pytest.mark.usefixtures("stores_on")
def test_four_askers_on_two_machines_of_whom_four_are_killed_lose_nothing_and_ask_nothing_twice(
    api: Recorder, stores_on: str, tmp_path: Path
) -> None:
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.format(url=api.url, limit=CONCURRENCY))
    homes = [tmp_path / ("one" if stores_on == "sqlite" else name) for name in ("one", "two")]
    for home in homes:
        home.mkdir(exist_ok=True)
    machines = [Machine(*each, models) for each in zip(("a", "b"), homes, strict=True)]
    ledger, draw = Ledger(homes[0] / "ledger.sqlite"), random.Random(SEED)
    killed: list[str] = []
    durable: list[dict[str, Call]] = []
    sent_by_then: list[int] = []
    until = time.monotonic() + 240
    while any(len(each.done) < ASKERS_OF_A_MACHINE for each in machines):
        assert time.monotonic() < until and not [each.failed for each in machines if each.failed]
        if len(killed) < N_KILLS and len(api.sent) >= (len(killed) + 1) * N // (N_KILLS + 1):
            alive = [each for machine in machines for each in list(machine.alive.items())]
            pid, name = draw.choice(alive)
            os.kill(pid, signal.SIGKILL)
            killed.append(name)
            durable.append({call.key: call for call in ledger})
            sent_by_then.append(len(api.sent))
        time.sleep(0.005)
    for machine in machines:
        machine.stop()

    assert len(killed) == N_KILLS
    at_the_end = {call.key: call for call in ledger}
    assert len(at_the_end) == N and charges_of(ledger) == []
    assert all(call.response == answer_to(text_of(call)) for call in at_the_end.values())
    for state, n_sent in zip(durable, sent_by_then, strict=True):
        assert {key: at_the_end[key] for key in state} == state, "what was kept stays as it is"
        later = {text for _, text in api.sent[n_sent:]}
        assert later.isdisjoint(map(text_of, state.values())), "what was kept is never sent again"
    assert 0 < len(durable[0]) < len(durable[-1])

    senders = defaultdict(list)
    for name, text in api.sent:
        senders[text].append(name)
    again = {text: names for text, names in senders.items() if set(names[:-1]) - set(killed)}
    assert again == {}, "sent again although nobody was killed who had sent it"
    assert len(api.sent) - N <= N_KILLS * AT_RISK * CONCURRENCY

    handed = [
        [{**outcome, "cached": None} for outcome in json.loads(path.read_text())]
        for machine in machines
        for path in (machine.home / f"{name}.json" for name in machine.done)
    ]
    assert len(handed) == 2 * ASKERS_OF_A_MACHINE
    assert all(outcomes == handed[0] for outcomes in handed)


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

    gateway_over(tmp_path, models, ledger).ask("stage", questions(60))

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
        with pytest.raises(StoreError, match="The disk is full"):
            gateway_over(tmp_path, models, ledger).ask("stage", questions(80))

    assert len(refused) > 2, "the disk may have room again: it is tried again"
    # What was in flight, and what came together with the first answer that was not taken.
    assert len(heard) - len(ledger) <= 8 + refused[0] < 14
