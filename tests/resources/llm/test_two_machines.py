"""Two machines on one store: eight askers of the same requests, of whom one is killed at ten moments.

A machine is a process with a home of its own, which forks its askers. On files both have one home.
"""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.files.home import REPO_ROOT
from resources.llm.ledger import Call, Ledger
from tests.doubles.openai_api import answer_to
from tests.resources.llm.entries import charges_of
from tests.resources.llm.test_gateway_kill import (
    AT_RISK,
    CONCURRENCY,
    FORKER,
    MODELS,
    N,
    Recorder,
    text_of,
    told,
)

pytestmark = [pytest.mark.usefixtures("stores_on"), pytest.mark.slow]
SEED = 11
N_KILLS = 10
ASKERS_OF_A_MACHINE = 4
LOOP = """
    import select

    asked = True
    while asked:
        lines = []
        if select.select([0], [], [], 0.01)[0]:
            # A line is written at once, and read so: what Python reads ahead nobody would wait for.
            asked = os.read(0, 2**16).decode()
            lines = asked.splitlines()
        for line in lines:
            folder, name = line.split()
            child = os.fork()
            if child == 0:
                try:
                    ask(Path(folder), name)
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


class Machine:
    """Its askers begin again whenever one is killed, until each was handed every outcome."""

    def __init__(self, name: str, home: Path, models: Path):
        self.name, self.home = name, home
        self.alive: dict[int, str] = {}
        self.done: list[str] = []
        self.failed: list[str] = []
        self._n_begun = 0
        program = textwrap.dedent(FORKER.partition("    for line in sys.stdin:")[0] + LOOP)
        program = program.replace('folder / "ledger', 'folder.parent / "ledger')
        self._forker = subprocess.Popen(
            [sys.executable, "-c", program, str(models), str(N)],
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
        (self.home / name).mkdir(parents=True)
        assert self._forker.stdin
        self._forker.stdin.write(f"{self.home / name} {name}\n")
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


@pytest.fixture
def api() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.stop()


def test_eight_askers_on_two_machines_of_whom_ten_are_killed_lose_nothing_and_ask_nothing_twice(
    api: Recorder, stores_on: str, tmp_path: Path
) -> None:
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.format(url=api.url, limit=CONCURRENCY))
    homes = [tmp_path / ("one" if stores_on == "sqlite" else name) for name in ("one", "two")]
    machines = [Machine(*each, models) for each in zip(("a", "b"), homes, strict=True)]
    ledger, draw = Ledger(homes[0] / "ledger.sqlite"), random.Random(SEED)
    killed: list[str] = []
    durable: list[dict[str, Call]] = []
    until = time.monotonic() + 240
    while any(len(each.done) < ASKERS_OF_A_MACHINE for each in machines):
        assert time.monotonic() < until and not [each.failed for each in machines if each.failed]
        if len(killed) < N_KILLS and len(api.sent) >= (len(killed) + 1) * N // (N_KILLS + 1):
            alive = [each for machine in machines for each in list(machine.alive.items())]
            pid, name = draw.choice(alive)
            os.kill(pid, signal.SIGKILL)
            killed.append(name)
            durable.append({call.key: call for call in ledger})
        time.sleep(0.005)
    for machine in machines:
        machine.stop()

    assert len(killed) == N_KILLS
    at_the_end = {call.key: call for call in ledger}
    assert len(at_the_end) == N and charges_of(ledger) == []
    assert all(call.response == answer_to(text_of(call)) for call in at_the_end.values())
    for state in durable:
        assert {key: at_the_end[key] for key in state} == state, "what was kept stays as it is"
    assert 0 < len(durable[0]) < len(durable[-1])

    senders = defaultdict(list)
    for name, text in api.sent:
        senders[text].append(name)
    again = {text: names for text, names in senders.items() if set(names[:-1]) - set(killed)}
    assert again == {}, "sent again although nobody was killed who had sent it"
    assert len(api.sent) - N <= N_KILLS * AT_RISK * CONCURRENCY

    handed = []
    for machine in machines:
        for name in machine.done:
            outcomes, _ = told(machine.home / name)
            handed.append([{**each, "cached": None} for each in outcomes])
    assert len(handed) == 2 * ASKERS_OF_A_MACHINE
    assert all(each == handed[0] for each in handed)
