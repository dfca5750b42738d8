"""Automation conditions of assets (declarative automation): when Dagster runs an asset by itself.

Schedules are in `dagster_project/schedules.py`. `OutOfDate` is a custom condition, so the sensor
(`dagster_project/sensors.py`) evaluates in the code location.
"""

from typing import Any

import dagster as dg

from assets.common.dagster_internals import CachingStaleStatusResolver

Condition = dg.AutomationCondition[Any]


class OutOfDate(dg.AutomationCondition[dg.AssetKey]):
    """True for an asset that the UI shows as Unsynced.

    An asset whose partitions depend on other partitions is only evaluated the first time, because there
    may be thousands of partitions. Later changes show as new data versions of dependencies.
    """

    @property
    def name(self) -> str:
        """The name of the condition in the UI's evaluations."""
        return "out_of_date"

    def evaluate(
        self, context: dg.AutomationContext[dg.AssetKey]
    ) -> dg.AutomationResult[dg.AssetKey]:
        """Evaluate with the resolver that the UI uses for Unsynced."""
        view = context.asset_graph_view
        if context.previous_evaluation_time and self._follows_partitions(context):
            return dg.AutomationResult(context, context.get_empty_subset())
        resolver = CachingStaleStatusResolver(view.instance, context.asset_graph, view)
        true = {
            partition
            for partition in context.candidate_subset.expensively_compute_asset_partitions()
            if resolver.get_status(*partition).value == "STALE"
        }
        return dg.AutomationResult(
            context, view.get_asset_subset_from_asset_partitions(context.key, true)
        )

    @staticmethod
    def _follows_partitions(context: dg.AutomationContext[dg.AssetKey]) -> bool:
        """Tell whether a partitioned asset has no partitioned external parent, whose changes Dagster
        does not report.
        """
        if context.partitions_def is None:
            return False
        parents = map(context.asset_graph.get, context.asset_graph.get(context.key).parent_keys)
        return not any(parent.is_external and parent.is_partitioned for parent in parents)


def when_changed(
    only: dg.AssetSelection | None = None, not_awaited: dg.AssetSelection | None = None
) -> Condition:
    """Run an out-of-date asset once for each change.

    A change is a new data version of a dependency, a new code version, or any other cause of Unsynced
    or Missing, also from before the sensor was turned on. A dependency that ran and produced the same
    rows is not a change.

    Args:
        only: The dependencies whose data versions count; None for all.
        not_awaited: Dependencies that may be missing, or have missing partitions.

    Returns:
        The condition. It waits for missing dependencies, for running dependencies, and for dependencies
        with a failed blocking check.
    """
    # Any, because Dagster's types do not cover combinations of conditions.
    changed: Any = dg.AutomationCondition.any_deps_match(
        (
            dg.AutomationCondition.data_version_changed()
            & ~dg.AutomationCondition.executed_with_root_target()
        ).with_label("data_version_changed_without_root")
        | dg.AutomationCondition.will_be_requested()
    ).with_label("any_deps_changed")
    absent: Any = dg.AutomationCondition.any_deps_missing()
    edited: Any = dg.AutomationCondition.code_version_changed()
    missing: Any = dg.AutomationCondition.newly_missing()
    behind: Any = OutOfDate().newly_true()
    blocked = dg.AutomationCondition.any_deps_match(
        dg.AutomationCondition.any_checks_match(
            dg.AutomationCondition.check_failed(), blocking_only=True
        )
    ).with_label("blocked: a blocking check of a dependency failed")
    # Replaces `since_last_handled`, which drops the causes that the first evaluation finds, and the
    # marks of actions.
    updated: Any = dg.AutomationCondition.newly_updated()
    handled = dg.AutomationCondition.newly_requested() | (updated & ~OutOfDate())
    reasons: Any = missing | edited | (changed.allow(only) if only else changed | behind)
    return (
        reasons.since(handled.with_label("handled"))
        & ~(absent.ignore(not_awaited) if not_awaited else absent)
        & ~dg.AutomationCondition.any_deps_in_progress()
        & ~dg.AutomationCondition.in_progress()
        & ~blocked
    )


OBSERVED = dg.AssetSelection.assets(["ingest", "shards"], ["ingest", "corpus_files"])
WHEN_SHARD_READY = when_changed(not_awaited=OBSERVED)
"""Runs a shard as soon as a dependency of the same shard has changed and none is blocked. It does not
wait for observations: changes of remote files are never reported.
"""

SHARDS = dg.AssetSelection.groups("ingest")
DECISIONS = dg.AssetSelection.assets(["review", "decisions"])
WHEN_READY = when_changed(not_awaited=SHARDS | DECISIONS)
"""Runs as soon as a dependency has changed and none is blocked. It does not wait for shards that are
not ingested yet, or for decisions of people.
"""
BY_PEOPLE = dg.AssetSelection.assets(["review", "approved"], ["evaluate", "human_scores"])
WHEN_EVALUATED = when_changed(not_awaited=SHARDS | DECISIONS | BY_PEOPLE)
"""Like `WHEN_READY`, and does not wait for approvals and human scores, which may never exist."""
