"""List of all actions, in the order of the help of `vlm-loom`."""

from dagster_project import release_actions, result_actions
from dagster_project.action import Action

ACTIONS: tuple[type[Action], ...] = (
    release_actions.PinRelease,
    release_actions.UnpinRelease,
    release_actions.RetireRelease,
    release_actions.CleanRelease,
    release_actions.CompareReleases,
    release_actions.ImportRelease,
    release_actions.ExportRelease,
    release_actions.PushRelease,
    result_actions.ImportPredictions,
    result_actions.RemovePredictions,
    result_actions.ImportScores,
    result_actions.ArchiveResults,
    result_actions.RemoveShard,
    result_actions.MergeFiles,
    result_actions.ReAsk,
)
