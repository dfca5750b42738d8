"""The database of the stores is restarted, killed or paused while models are asked.

The asker is the real gateway in a process of its own, with a budget and limits per minute, so that all
that it shares with other processes is in use. It goes on when the database is back, and says so where
the database stays away.
"""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resources.files.home import REPO_ROOT
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.mock_server.process import MockServerProcess
from tests.doubles.openai_api import answer_to
from tests.doubles.servers import PostgresServer, postgres_binaries, running_postgres
from tests.doubles.serving import free_ports
from tests.resources.llm.loopback import questions
from tests.resources.llm.test_gateway_kill import AT_RISK, FORKER, Recorder, text_of, told

pytestmark = pytest.mark.slow
N = 150
CONCURRENCY = 8
SEED = 53
MOMENTS = pytest.mark.parametrize("n_moments", [3, pytest.param(10, marks=pytest.mark.nightly)])
ENOUGH_SECONDS = 60.0
"""An undisturbed asker takes a second or two."""
MODELS = """
profiles: {{paid: {{writer: it, judge: it, evaluate: [it]}}}}
models:
  it:
    provider: openai
    base_url: "{url}"
    api_key_env: PAID_KEY
    concurrency: {limit}
    requests_per_minute: 100000
    tokens_per_minute: 100000000
    price: {{prompt: 1, completion: 1}}
"""
PROGRAM = (
    textwrap.dedent(FORKER)
    .replace("folder, name = line", 'folder, name, os.environ["LOOM_STORES"] = line')
    .replace("launcher=", "budget_usd=100.0, launcher=")
)


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A server that no other test uses."""
    binaries = postgres_binaries()
    assert binaries
    with running_postgres(binaries, *free_ports(1)) as own:
        yield own


def restart(server: PostgresServer) -> None:
    server.stop(signal.SIGINT)
    server.start()


def crash(server: PostgresServer) -> None:
    server.stop(signal.SIGQUIT)
    time.sleep(1)
    server.start()


def pause(server: PostgresServer) -> None:
    server.signal_all(signal.SIGSTOP)
    time.sleep(1)
    server.signal_all(signal.SIGCONT)


@pytest.mark.timeout(900)
@MOMENTS
@pytest.mark.parametrize("disturb", [restart, crash, pause])
def test_an_asker_outlives_a_disturbed_database_and_pays_twice_for_what_was_in_flight_at_most(
    disturb: Callable[[PostgresServer], None],
    server: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    n_moments: int,
) -> None:
    api = Recorder()
    request.addfinalizer(api.stop)
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.format(url=api.url, limit=CONCURRENCY))
    rng = random.Random(SEED)
    forker = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(models), str(N)],
        cwd=REPO_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert forker.stdin and forker.stdout
    for number in range(n_moments):
        folder, name = tmp_path / str(number), f"asker-{number}"
        folder.mkdir()
        stores = server.database()
        began = threading.Thread(target=disturb, args=[server])
        api.after(name, rng.randint(1, N - 1), rng.uniform(0, 0.01), began.start)
        print(folder, name, stores, file=forker.stdin, flush=True)
        pid = int(forker.stdout.readline())
        hung = threading.Timer(ENOUGH_SECONDS, os.kill, [pid, signal.SIGKILL])
        hung.start()
        assert forker.stdout.readline() == "0\n", (name, len(api.by(name)))
        hung.cancel()
        began.join()

        monkeypatch.setenv("LOOM_STORES", stores)
        kept = list(Ledger(folder / "ledger.sqlite"))
        assert {text_of(call): call.response for call in kept} == {
            f"Question {i}": answer_to(f"Question {i}") for i in range(N)
        }
        outcomes, _ = told(folder)
        assert len(outcomes) == N
        assert len(api.by(name)) <= N + AT_RISK * CONCURRENCY
    forker.communicate()


WHOLE_SECONDS, PAUSE_SECONDS = 2.0, 5.0


@pytest.mark.timeout(300)
@MOMENTS
def test_a_database_that_stands_for_longer_than_the_timeout_costs_no_request(
    server: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    n_moments: int,
) -> None:
    rng = random.Random(SEED)
    api = Recorder()
    request.addfinalizer(api.stop)
    models = tmp_path / "models.yaml"
    timeouts = f"    timeouts: {{whole: {WHOLE_SECONDS}}}\n"
    models.write_text(MODELS.format(url=api.url, limit=CONCURRENCY) + timeouts)
    registry = load_registry(models)

    def stand() -> None:
        server.signal_all(signal.SIGSTOP)
        time.sleep(PAUSE_SECONDS)
        server.signal_all(signal.SIGCONT)

    for number in range(n_moments):
        folder, name = tmp_path / str(number), f"stands-{number}"
        monkeypatch.setenv("PAID_KEY", name)
        monkeypatch.setenv("LOOM_STORES", server.database())
        ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
        gateway = Gateway(
            registry, "paid", ledger, images, budget_usd=100.0, launcher=MockServerProcess()
        )
        standing = threading.Thread(target=stand)
        api.after(name, rng.randint(1, N - 1), rng.uniform(0, 0.01), standing.start)
        began = time.monotonic()
        _, usage = gateway.ask("stage", questions(N))
        assert time.monotonic() - began > PAUSE_SECONDS
        standing.join()
        gateway.close()

        assert (usage.calls, usage.timeouts, usage.sent_again) == (N, 0, 0)
        assert not usage.failures
        assert len(api.by(name)) == len(set(api.by(name))) == N
