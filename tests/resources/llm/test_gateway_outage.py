"""The database of the stores is killed and started again, or paused while models are asked.

The gateway has a budget and limits per minute, so that all that it shares with other processes is in
use. It goes on when the database is back.
"""

import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.mock_server.process import MockServerProcess
from tests.doubles.openai_api import answer_to
from tests.doubles.servers import PostgresServer, postgres_binaries, running_postgres
from tests.doubles.serving import free_ports
from tests.resources.llm.loopback import questions
from tests.resources.llm.test_gateway_kill import AT_RISK, Recorder, text_of

pytestmark = pytest.mark.slow
N = 150
CONCURRENCY = 8
SEED = 53
WHOLE_SECONDS, PAUSE_SECONDS = 2.0, 5.0
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
    timeouts: {{whole: {whole}}}
"""


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    binaries = postgres_binaries()
    assert binaries
    with running_postgres(binaries, *free_ports(1)) as own:
        yield own


def crash(server: PostgresServer) -> None:
    server.stop(signal.SIGQUIT)
    time.sleep(1)
    server.start()


def stand(server: PostgresServer) -> None:
    """For longer than the timeout of a request."""
    server.signal_all(signal.SIGSTOP)
    time.sleep(PAUSE_SECONDS)
    server.signal_all(signal.SIGCONT)


@pytest.mark.timeout(300)
def test_a_run_outlives_a_disturbed_database_and_pays_twice_for_what_was_in_flight_at_most(
    server: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    rng = random.Random(SEED)
    api = Recorder()
    request.addfinalizer(api.stop)
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.format(url=api.url, limit=CONCURRENCY, whole=WHOLE_SECONDS))
    registry = load_registry(models)

    for number, disturb in enumerate((stand, crash, crash)):
        folder, name = tmp_path / str(number), f"asker-{number}"
        monkeypatch.setenv("PAID_KEY", name)
        monkeypatch.setenv("LOOM_STORES", server.database())
        ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
        gateway = Gateway(
            registry, "paid", ledger, images, budget_usd=100.0, launcher=MockServerProcess()
        )
        disturbing = threading.Thread(target=disturb, args=[server])
        api.after(name, rng.randint(1, N - 1), rng.uniform(0, 0.01), disturbing.start)
        outcomes, usage = gateway.ask("stage", questions(N))
        disturbing.join()

        texts = [f"Question {i}?" for i in range(N)]
        assert {text_of(call): call.response for call in gateway.ledger} == {
            text: answer_to(text) for text in texts
        }
        assert len(outcomes) == N and not usage.failures
        gateway.close()
        assert len(api.by(name)) <= N + AT_RISK * CONCURRENCY
        if disturb is stand:
            assert (usage.calls, usage.timeouts, usage.sent_again) == (N, 0, 0)
            assert len(api.by(name)) == N
