"""How far an asset is while it runs: in its run's log and on its page, not too often, and true."""

from types import SimpleNamespace

import dagster as dg
import pytest

from assets.common import progress
from assets.common.progress import OBSERVE_SECONDS, StepProgress, show_progress
from resources.llm import progress as counting
from resources.llm.progress import ProgressReport, StageProgress
from resources.llm.request import Completion
from resources.llm.usage import ALL_MODELS, Usage


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


# What is said when, by a clock that is set by hand


def test_a_stage_is_seen_before_anything_of_it_is_done(clock):
    moments: list[ProgressReport] = []
    stage = StageProgress("s", {ALL_MODELS: 81}, Usage(), moments.append)
    for _ in range(64):
        stage.begin(ALL_MODELS)

    for _ in range(8):
        clock.now += 1
        stage.report_if_due()

    # Looked at every second: it is said after 2 s, and five seconds later.
    assert [moment.line() for moment in moments] == [
        f"s: 0/81 done, 64 under way for {seconds} s, 0 calls, 0 from the ledger, 0 failed"
        for seconds in (2, 7)
    ]
    assert moments[0].metadata()["under way"] == 64
    assert "seconds left" not in moments[0].metadata()


def test_the_time_is_that_of_the_model_that_takes_longest(clock):
    usage, moments = Usage(), list[ProgressReport]()
    stage = StageProgress("s", {"fast": 100, "slow": 100}, usage, moments.append)
    for _ in range(12):
        clock.now += 1
        for model, n in (("fast", 8), ("slow", 1)):
            for _ in range(n):
                usage.count(Completion("k", "a", "stop", 1, 1, 0.0, False), model)
                stage.begin(model)
                stage.step(model)

    # The report of second 12 comes with the first item of that second: 89 and 11 are done.
    last = moments[-1]
    assert (last.done, last.total) == (89 + 11, 200)
    assert last.seconds_left == pytest.approx(89, rel=0.02), "eleven in 11 s: 89 more are 89 s"


# Steps without models


def test_a_step_counts_its_pace_from_its_first_units_on(instance, clock):
    @dg.asset
    def vectors(context: dg.AssetExecutionContext) -> None:
        step = StepProgress(context, "texts")
        clock.now += 30  # a model is loaded
        for done in range(0, 200, 10):
            clock.now += 1
            step.update(done, 1000)

        lines = [
            entry.user_message
            for entry in context.instance.all_logs(context.run.run_id)
            if " texts, " in entry.user_message
        ]
        assert lines == [
            "vectors: 0/1000 texts, 0.0/s",
            "vectors: 50/1000 texts, 10.0/s, at most about 95 s left",
            "vectors: 100/1000 texts, 10.0/s, at most about 90 s left",
            "vectors: 150/1000 texts, 10.0/s, at most about 85 s left",
        ]

    run(instance, vectors)
