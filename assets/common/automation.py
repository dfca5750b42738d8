"""Automation: when an asset is run without being asked for.

What belongs here: the conditions that assets share. The calendar is `dagster_project/schedules.py`.
"""

from typing import Any

import dagster as dg

Condition = dg.AutomationCondition[Any]


def when_changed(
    only: dg.AssetSelection | None = None, not_awaited: dg.AssetSelection | None = None
) -> Condition:
    """Run when the data version of a dependency has changed, or of one of `only`, or the code version.

    A dependency that was run and has the rows that it had is no reason to run. A missing dependency is
    waited for, but none of `not_awaited`, nor missing partitions of these.
    """
    # Dagster types each kind of condition on its own, and not their combinations.
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
    blocked = dg.AutomationCondition.any_deps_match(
        dg.AutomationCondition.any_checks_match(
            dg.AutomationCondition.check_failed(), blocking_only=True
        )
    ).with_label("blocked: a blocking check of a dependency failed")
    return (
        (missing | edited | (changed.allow(only) if only else changed)).since_last_handled()
        & ~(absent.ignore(not_awaited) if not_awaited else absent)
        & ~dg.AutomationCondition.any_deps_in_progress()
        & ~dg.AutomationCondition.in_progress()
        & ~blocked
    )


WHEN_SHARD_READY = when_changed()
"""Follow the dependencies of the same shard as soon as one has changed and none is blocked."""

SHARDS = dg.AssetSelection.groups("ingest")
WHEN_READY = when_changed(not_awaited=SHARDS)
"""Follow the dependencies as soon as one has changed and none is blocked; work with the shards that are
there while others were not ingested yet."""
BY_PEOPLE = dg.AssetSelection.assets(["review", "approved"], ["evaluate", "human_scores"])
WHEN_EVALUATED = when_changed(not_awaited=SHARDS | BY_PEOPLE)
"""The same for what also follows decisions and scores of people, which a home may never have."""
