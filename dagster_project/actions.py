"""List of all actions, in the order of the help of `vlm-loom`."""

from dagster_project.action import Action
from dagster_project.release_actions import (
    CleanRelease,
    CompareReleases,
    ExportRelease,
    ImportRelease,
    PinRelease,
    PushRelease,
    RetireRelease,
    UnpinRelease,
)
from dagster_project.result_actions import (
    ArchiveResults,
    ImportPredictions,
    ImportScores,
    MergeFiles,
    ReAsk,
    RemovePredictions,
    RemoveShard,
)

ACTIONS: tuple[type[Action], ...] = (
    PinRelease,
    UnpinRelease,
    RetireRelease,
    CleanRelease,
    CompareReleases,
    ImportRelease,
    ExportRelease,
    PushRelease,
    ImportPredictions,
    RemovePredictions,
    ImportScores,
    ArchiveResults,
    RemoveShard,
    MergeFiles,
    ReAsk,
)
