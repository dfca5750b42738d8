"""How far an asset is while it runs: in its run's log and on its page, not too often, and true."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest

from assets.common import progress
from assets.common.progress import OBSERVE_SECONDS, show_progress
from methods.prompts.messages import Message
from resources.images.store import ImageStore
from resources.llm import usage as counting
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest
from resources.llm.usage import Progress, ProgressReport, Usage
from resources.offline.process import OfflineServer
from tests.doubles.openai_api import Api, serving


class Clock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The only clock that progress looks at."""
    stopped = Clock()
    for module in (progress, counting):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=stopped.monotonic))
    return stopped


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def seen(context: dg.AssetExecutionContext) -> tuple[list[str], list[dg.AssetObservation]]:
    """Progress lines in the log of the run until now, and observations on the asset's page."""
    instance = context.instance
    lines = [
        entry.user_message
        for entry in instance.all_logs(context.run.run_id)
        if not entry.is_dagster_event and " done, " in entry.user_message
    ]
    records = instance.fetch_observations(context.asset_key, limit=100).records
    return lines, [record.asset_observation for record in reversed(records)]


def shown(observation: dg.AssetObservation) -> dict[str, object]:
    return {name: entry.value for name, entry in observation.metadata.items()}


def run(instance: dg.DagsterInstance, asset: dg.AssetsDefinition, **options: object) -> None:
    assert dg.materialize([asset], instance=instance, **options).success  # type: ignore[arg-type]


# In the event log, while the asset runs

MOMENT = ProgressReport("eyes.answers", 7, 20, Usage(5, 2, 1000, 200, 0.125), 2.54, 12.6)
AS_SHOWN = {
    "done": "7 of 20",
    "calls": 5,
    "cache hits": 2,
    "failed calls": 0,
    "prompt tokens": 1000,
    "completion tokens": 200,
    "cost (USD)": 0.125,
    "requests per second": 2.5,
    "seconds left": 13,
}


def test_a_moment_is_in_the_log_and_on_the_assets_page_while_the_asset_runs(instance):
    @dg.asset(key=["eyes", "answers"])
    def answers(context: dg.AssetExecutionContext) -> None:
        show_progress(context)(MOMENT)

        lines, observations = seen(context)

        assert lines == [MOMENT.line()]
        assert lines[0].endswith("2.5/s, 1200 tokens, $0.1250, about 13 s left")
        (observation,) = observations
        assert observation.asset_key == dg.AssetKey(["eyes", "answers"])
        assert shown(observation).items() >= AS_SHOWN.items()

    run(instance, answers)


def test_observations_are_no_more_often_than_bearable_and_lines_are_all_there(instance, clock):
    assert OBSERVE_SECONDS == 15

    @dg.asset
    def answers(context: dg.AssetExecutionContext) -> None:
        begun, say = clock.now, show_progress(context)
        for second in (5, 10, 19.9, 20, 25, 34.9, 36, 50, 51):
            clock.now = begun + second
            say(ProgressReport("s", round(second * 10), 1000, Usage(), 1.0, 1.0))

        lines, observations = seen(context)

        assert len(lines) == 9
        # The first at 5 s, the next at 20, the next after 35, the next after 51.
        assert [shown(each)["done"] for each in observations] == [
            f"{tenths} of 1000" for tenths in (50, 200, 360, 510)
        ]

    run(instance, answers)


def test_each_asset_that_runs_shows_its_own(instance):
    def made(name: str) -> dg.AssetsDefinition:
        @dg.asset(name=name)
        def asset(context: dg.AssetExecutionContext) -> None:
            # Two assets within one second: each has its first moment on its own page.
            show_progress(context)(MOMENT)
            assert len(seen(context)[1]) == 1

        return asset

    assert dg.materialize([made("one"), made("two")], instance=instance).success


def test_an_asset_of_partitions_shows_it_too(instance):
    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(["careful", "careless"]))
    def answers(context: dg.AssetExecutionContext) -> None:
        show_progress(context)(MOMENT)
        assert len(seen(context)[1]) == 1

    run(instance, answers, partition_key="careful")


MODELS = """
profiles: {{p: {{writer: it, judge: it, evaluate: [it]}}}}
models: {{it: {{provider: openai, base_url: "{url}", concurrency: 1, price: {{prompt: 1000000}}}}}}
"""


def test_what_the_gateway_is_at_is_seen_before_it_is_done(instance, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "PROGRESS_SECONDS", 0)
    monkeypatch.setattr(progress, "OBSERVE_SECONDS", 0)
    texts = [f"Question {number}?" for number in range(4)]
    met: list[tuple[list[str], list[dict[str, object]]]] = []

    @dg.asset
    def answers(context: dg.AssetExecutionContext) -> None:
        say = show_progress(context)

        def say_and_look(moment: ProgressReport) -> None:
            say(moment)
            lines, observations = seen(context)
            met.append((lines, [shown(each) for each in observations]))

        with serving(Api((1, 2))) as url:
            asked = [ChatRequest("it", (Message.of("user", text),), "q@1") for text in texts]
            make_gateway(tmp_path, url).ask("s", asked, say_and_look)

    run(instance, answers)

    assert [len(lines) for lines, _ in met] == [len(shows) for _, shows in met] == [1, 2, 3, 4]
    lines, observations = met[2]
    assert lines[2].startswith("s: 3/4 done, 3 calls, 0 from the ledger, 0 failed, ")
    assert [each["done"] for each in observations] == ["1 of 4", "2 of 4", "3 of 4"]
    assert [each["calls"] for each in observations] == [1, 2, 3]
    # A dollar a character asked, and each question has eleven.
    assert [each["cost (USD)"] for each in observations] == [11, 22, 33]
    assert all(each["requests per second"] > 0 for each in observations)  # type: ignore[operator]


def make_gateway(folder: Path, url: str) -> Gateway:
    models = folder / "models.yaml"
    models.write_text(MODELS.format(url=url))
    ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
    return Gateway(load_registry(models), "p", ledger, images, launcher=OfflineServer())


# The pace, by a clock that is set by hand


class Stage:
    """A stage of so many items, each of one request; what is said of it."""

    def __init__(self, clock: Clock, total: int):
        self.clock, self.usage = clock, Usage()
        self.moments: list[ProgressReport] = []
        self._progress = Progress("s", total, self.usage, self.moments.append)

    def goes(self, n: int, seconds: float, *, cached: bool = False) -> None:
        """`n` more items are done, evenly over some seconds."""
        for _ in range(n):
            self.clock.now += seconds / n
            if cached:
                self.usage.cache_hits += 1
            else:
                self.usage.calls += 1
            self._progress.step()


def test_a_steady_pace_is_what_is_left_over_it(clock):
    stage = Stage(clock, 128)

    stage.goes(20, 10)  # two a second

    at_5, at_10 = stage.moments
    assert (at_5.done, at_5.total, at_5.per_second, at_5.seconds_left) == (10, 128, 2, 59)
    assert (at_10.done, at_10.per_second, at_10.seconds_left) == (20, 2, 54)


def test_it_is_said_every_five_seconds_and_not_between(clock):
    stage = Stage(clock, 1000)

    stage.goes(96, 24)  # four a second

    assert [moment.done for moment in stage.moments] == [20, 40, 60, 80]


def test_requests_are_counted_for_the_pace_and_items_for_the_time_left(clock):
    stage = Stage(clock, 10)
    stage.usage.calls = 39  # four requests an item, of which `goes` counts the last

    stage.goes(1, 10)

    # 40 requests and one item in 10 s: nine items more are 90 s.
    (moment,) = stage.moments
    assert (moment.per_second, moment.seconds_left) == (4, 90)


def test_the_pace_is_that_of_the_last_minute(clock):
    stage = Stage(clock, 10_000)
    stage.goes(640, 640)

    # After a minute and ten seconds of four a second nothing is left of one a second.
    stage.goes(280, 70)

    last = stage.moments[-1]
    assert (last.done, last.per_second, last.seconds_left) == (920, 4, (10_000 - 920) / 4)


def test_what_the_ledger_knew_at_the_beginning_says_nothing_after_a_minute(clock):
    stage = Stage(clock, 1100)
    stage.goes(1000, 0, cached=True)

    stage.goes(70, 70)

    # 1,070 are done in 70 s; but 65 in the last 65, so the 30 that are left take as many seconds.
    last = stage.moments[-1]
    assert (last.done, last.per_second, last.seconds_left) == (1070, 1, 30)


def test_what_the_ledger_knew_at_the_beginning_does_not_make_the_time_left_too_short(clock):
    stage = Stage(clock, 1100)
    stage.goes(1000, 0, cached=True)

    stage.goes(5, 5)

    # Of the 100 that have to be asked 5 are done in 5 s: 95 s are left, not half a second.
    assert stage.moments[-1].seconds_left == pytest.approx(95, rel=0.1)
