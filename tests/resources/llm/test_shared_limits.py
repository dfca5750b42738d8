"""Limits of a model over several processes: places in flight, and units in any minute."""

import asyncio
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.files.home import REPO_ROOT
from resources.llm import limits, sliding_minute
from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.limits import ModelLimits
from resources.llm.model_spec import ModelSpec
from resources.llm.shared import SharedLimits, shared_limits
from resources.llm.shared.shared_limits import Places
from resources.llm.sliding_minute import SLACK, SlidingMinute
from resources.stores.locks import ByteLocks
from tests.doubles.openai_api import Api, completion_by_rule, http_reply, serving
from tests.doubles.virtual_time import VirtualTime

pytestmark = [pytest.mark.usefixtures("stores_on"), pytest.mark.slow]

SPEC = ModelSpec(name="it", provider="openai", base_url="http://it/v1", model="it", concurrency=4)
WINDOW = 10.0

clock = VirtualTime()


@pytest.fixture
def under_virtual_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "time", clock)
    monkeypatch.setattr(sliding_minute, "time", clock)
    monkeypatch.setattr(shared_limits, "time", clock)
    of_server = shared_limits.server_seconds
    monkeypatch.setattr(
        shared_limits,
        "server_seconds",
        lambda connection: None if of_server(connection) is None else 2.0**20 + clock.monotonic(),
    )


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[SharedLimits]]:
    """What three processes have of the same file."""
    shared = [SharedLimits(tmp_path / "limits.sqlite") for _ in range(3)]
    yield shared
    for each in shared:
        each.close()


def minute(shared: SharedLimits, limit: int, spec: ModelSpec = SPEC) -> SlidingMinute:
    return SlidingMinute(limit, shared.minute(spec, "requests", WINDOW), WINDOW)


# Requests in flight


def test_processes_have_as_many_places_together_as_one_has_alone(processes):
    one, other, _ = (each.places(SPEC) for each in processes)
    taken = [one.take() for _ in range(3)]

    assert sorted([*taken, other.take()]) == [0, 1, 2, 3]
    assert one.take() is None and other.take() is None
    one.leave(taken[0])
    assert other.take() == taken[0]


def test_models_are_told_apart_by_endpoint_and_name(processes):
    one, other, _ = processes
    for _ in range(4):
        one.places(SPEC).take()

    assert other.places(SPEC).take() is None
    same = SPEC.model_copy(update={"name": "an alias"})
    assert other.places(same).take() is None
    for change in ({"model": "another"}, {"base_url": "http://elsewhere/v1"}):
        assert other.places(SPEC.model_copy(update=change)).take() is not None


def test_a_server_of_the_processs_own_has_no_limits_to_share(processes):
    own = ModelSpec(name="offline-careful", provider="offline", model="offline-careful")

    assert processes[0].places(own) is None and processes[0].minute(own, "requests", 1) is None
    assert not processes[0].path.exists()


def test_places_of_a_killed_process_are_free(tmp_path):
    program = """
        import sys, time
        from pathlib import Path
        from resources.stores.locks import ByteLocks
        from resources.llm.shared.shared_limits import Places
        places = Places(ByteLocks(Path(sys.argv[1])), "it", 2)
        print(places.take(), places.take(), flush=True)
        time.sleep(600)
    """
    locks = ByteLocks(tmp_path / "flights")
    places = Places(locks, "it", 2)
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "flights")]
    with subprocess.Popen(command, cwd=REPO_ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline().split() == ["1", "0"]
        assert places.take() is None
        process.kill()
        process.wait()

    assert [places.take(), places.take()] == [1, 0]
    locks.close()


def test_two_busy_processes_share_the_places_and_both_go_on(processes, under_virtual_time):
    in_flight, most, done = 0, 0, [0, 0]
    behind: list[int] = []

    async def ask(number: int, of_model: ModelLimits) -> None:
        nonlocal in_flight, most
        async with of_model.attempt(0, CircuitBreaker("it")):
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(1)
            in_flight -= 1
        done[number] += 1
        if done[number] == 100:
            behind.append(done[1 - number])

    async def ask_all() -> None:
        async def busy(number: int) -> None:
            of_model = ModelLimits(4, places=processes[number].places(SPEC))
            # The second begins when the first has all places.
            await asyncio.sleep(0.5 * number)
            await asyncio.gather(*(ask(number, of_model) for _ in range(100)))

        await asyncio.gather(busy(0), busy(1))

    began = clock.monotonic()
    clock.run(ask_all)

    assert done == [100, 100] and most == 4
    assert behind[0] > 50, "when one was done, the other had had its share"
    # 200 at 4 at once are 50 s; places are looked for every 0.05 s at the latest.
    assert clock.monotonic() - began < 50 * 1.06


def test_a_stage_that_ended_while_it_waited_leaves_nobody_waiting(processes, under_virtual_time):
    of_model = ModelLimits(4, places=processes[0].places(SPEC))
    others = processes[1].places(SPEC)
    taken = [others.take() for _ in range(4)]

    async def attempt() -> str:
        async with of_model.attempt(0, CircuitBreaker("it")):
            return "served"

    with pytest.raises(TimeoutError):
        clock.run(lambda: asyncio.wait_for(attempt(), 1))
    made_in_order = processes[0].places(SPEC).calls
    assert not asyncio.run(made_in_order.call(others.others_wait))
    others.leave(taken[0])

    assert clock.run(lambda: asyncio.wait_for(attempt(), 1)) == "served"


# Units in a minute


@pytest.mark.files_alone  # a store for each example
@settings(max_examples=20, deadline=None)
@given(
    limit=st.integers(1, 12),
    asked=st.lists(
        st.tuples(st.integers(0, 2), st.integers(1, 15), st.integers(0, 15)), max_size=25
    ),
)
def test_no_window_holds_more_than_the_limit_whoever_takes(tmp_path_factory, limit, asked):
    path = tmp_path_factory.mktemp("limits") / "limits.sqlite"
    shared = [SharedLimits(path) for _ in range(3)]
    entries = []

    async def take_all() -> None:
        minutes = [minute(each, limit) for each in shared]

        async def take(process: int, units: int, used: int) -> None:
            entry = await minutes[process].take(units)
            await asyncio.sleep(0.5)
            minutes[process].correct(entry, min(used, entry.units))
            entries.append(entry)

        await asyncio.gather(*(take(*each) for each in asked))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliding_minute, "time", clock)
        clock.run(take_all)
    for each in shared:
        each.close()

    assert len(entries) == len(asked)
    for start in entries:
        inside = sum(e.units for e in entries if start.at <= e.at < start.at + WINDOW)
        assert inside <= limit + 1e-6


def test_what_one_process_did_not_use_another_may_take(processes, under_virtual_time):
    async def second_waits(settled: int) -> float:
        one, other = minute(processes[0], 100), minute(processes[1], 100)
        clock.now += WINDOW
        entry = await one.take(80)
        one.correct(entry, settled)
        await one._calls.call(lambda: None)  # It is corrected on a server, too.
        asked = clock.monotonic()
        await other.take(50)
        return clock.monotonic() - asked

    assert clock.run(lambda: second_waits(30)) == 0
    assert clock.run(lambda: second_waits(80)) == pytest.approx(WINDOW, abs=0.01)
    # What was used beyond the estimate counts for others, too.
    assert clock.run(lambda: second_waits(90)) == pytest.approx(WINDOW, abs=0.01)


def test_what_a_killed_process_took_is_there_again_after_a_minute(processes, under_virtual_time):
    async def takes(shared: SharedLimits) -> float:
        asked = clock.monotonic()
        await minute(shared, 10).take(10)
        return clock.monotonic() - asked

    assert clock.run(lambda: takes(processes[0])) == 0
    processes[0].close()
    clock.now += 4
    assert clock.run(lambda: takes(processes[1])) == pytest.approx(WINDOW - 4, abs=0.01)


def test_a_clock_that_begins_anew_holds_nobody_up(processes, under_virtual_time):
    async def take(shared: SharedLimits) -> float:
        asked = clock.monotonic()
        await minute(shared, 10).take(10)
        return clock.monotonic() - asked

    clock.now += 30_000
    clock.run(lambda: take(processes[0]))
    clock.now -= 30_000  # The machine was restarted.

    assert clock.run(lambda: take(processes[1])) == 0


def test_what_no_window_has_any_more_is_removed(processes, under_virtual_time):
    async def take_many() -> None:
        of_one = minute(processes[0], 10)
        for _ in range(450):
            await of_one.take(1)

    clock.run(take_many)

    with processes[0]._store.read() as connection:
        rows = connection.exec_driver_sql("SELECT count(*) FROM taken").scalar()
    assert rows <= 260, "those since the last time it was cleaned, and a window"


# Two processes


class Crowd(Api):
    """Counts what is in flight, and when each request came."""

    def __init__(self) -> None:
        super().__init__((40, 60))
        self.in_flight = self.most = 0
        self.arrivals: list[float] = []

    def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        self.arrivals.append(loop.time())
        text = json.loads(body)["messages"][-1]["content"]
        loop.call_later(self._random.uniform(*self._latency) / 1000, self._answer, transport, text)

    def _answer(self, transport: asyncio.Transport, text: str) -> None:
        self.in_flight -= 1
        transport.write(http_reply(200, completion_by_rule(text)))


MODELS = """
profiles: {{p: {{writer: it, judge: it, evaluate: [it]}}}}
models:
  it: {{provider: openai, base_url: "{url}", concurrency: 4, requests_per_minute: {limit}}}
"""
ASKING = """
    import sys
    from pathlib import Path
    from methods.prompts.messages import Message
    from resources.images.store import ImageStore
    from resources.llm import run_context
    from resources.llm.gateway import Gateway
    from resources.llm.ledger import Ledger
    from resources.llm.registry import load_registry
    from resources.llm.request import ChatRequest, Completion
    from resources.offline.process import OfflineServer

    folder, name, window = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    run_context.WINDOW = window
    ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
    gateway = Gateway(load_registry(folder / "m.yaml"), "p", ledger, images, launcher=OfflineServer())
    asked = [
        ChatRequest("it", (Message.of("user", f"{name} {number}?"),), "q@1") for number in range(30)
    ]
    outcomes, _ = gateway.ask("s", asked)
    assert all(isinstance(each, Completion) for each in outcomes)
    gateway.close()
"""


# On a database a busy machine delays what was taken by more than the slack of a window; the tests under
# virtual time hold its minutes.
@pytest.mark.files_alone
def test_two_processes_keep_to_the_limits_of_one(tmp_path):
    limit, window = 20, 1.5
    crowd = Crowd()
    with serving(crowd) as url:
        (tmp_path / "m.yaml").write_text(MODELS.format(url=url, limit=limit))
        command = [sys.executable, "-c", textwrap.dedent(ASKING), str(tmp_path)]
        asking = [
            subprocess.Popen([*command, name, str(window)], cwd=REPO_ROOT) for name in ("A", "B")
        ]
        ended = [process.wait(timeout=120) for process in asking]

    assert ended == [0, 0] and len(crowd.arrivals) == 60
    assert crowd.most == 4
    # A window of the limits' length less what the network may bunch.
    inside = [
        sum(first <= each < first + window - SLACK for each in crowd.arrivals)
        for first in crowd.arrivals
    ]
    assert max(inside) <= limit
