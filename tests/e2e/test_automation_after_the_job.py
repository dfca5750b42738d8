"""What the automation sensor would do on a finished build, once somebody turns it on."""

import dagster as dg
import pytest

from assets.common.partitions import buckets
from dagster_project.definitions import defs
from tests.e2e.running import Run

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(200),
    pytest.mark.filterwarnings("ignore::dagster.BetaWarning"),
]


def requested(result: dg.EvaluateAutomationConditionsResult) -> set[str]:
    return {
        each.key.to_user_string() for each in result.results if result.get_num_requested(each.key)
    }


def complete(instance: dg.DagsterInstance, bucket: str) -> None:
    """As the sensor reports a bucket that people are done with."""
    done = dg.AssetMaterialization(["review", "decisions"], partition=bucket)
    instance.report_runless_asset_event(done)


def test_nothing_is_due_then_decisions_reach_the_release_and_a_new_model_is_asked(
    copied: Run,
) -> None:
    with dg.DagsterInstance.from_config(str(copied.home / "dagster")) as instance:
        settled = dg.evaluate_automation_conditions(defs, instance)
        assert requested(settled) == set()

        *first, last = buckets.get_partition_keys()
        for key in first:
            complete(instance, key)
        waiting = dg.evaluate_automation_conditions(defs, instance, cursor=settled.cursor)
        assert requested(waiting) == set()  # One bucket still awaits people.

        complete(instance, last)
        decided = dg.evaluate_automation_conditions(defs, instance, cursor=waiting.cursor)
        assert requested(decided) >= {"review/approved", "release/releases", "release/exports"}
        assert not any(key.startswith(("ingest", "dialogue")) for key in requested(decided))

        instance.add_dynamic_partitions("model", ["newcomer"])
        arrived = dg.evaluate_automation_conditions(defs, instance, cursor=decided.cursor)
        assert requested(arrived) == {"evaluate/answers"}
