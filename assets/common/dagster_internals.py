"""What the project uses of Dagster that Dagster does not offer as public; ruff bans it elsewhere.

Each import may break with a new version of Dagster (`make test-nightly` tries the newest one), so there
are five at most. A comment says what it is for and what public way it waits for. Tags are part of what
Dagster stores, and have no public names.
"""

from types import ModuleType

# Which assets are stale, as the UI shows it: waits for a method of DagsterInstance.
from dagster._core.definitions.data_version import CachingStaleStatusResolver

# What run monitoring gets from a run launcher: dg.DefaultRunLauncher is public, the types of its method
# check_run_worker_health are not. Waits for public names.
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

# Where the resolver looks events up: waits for the same method.
from dagster._core.loader import LoadingContext

__all__ = ["CachingStaleStatusResolver", "CheckRunHealthResult", "LoadingContext", "WorkerStatus"]


def module_of_dagster_dev() -> ModuleType:
    """The module of the command `dagster dev`, which is slow to import."""
    # The command starts Dagster's own webserver: waits for an option that names another.
    from dagster._cli import dev

    return dev


MANY_PARTITIONS = 100
"""Of an asset that is made of so many partitions of another, Dagster does not say that it is stale.

A test compares the number with Dagster's, which has no public name.
"""
CODE_VERSION_TAG = "dagster/code_version"
DATA_VERSION_TAG = "dagster/data_version"
INPUT_EVENT_TAG = "dagster/input_event_pointer/"
"""Before the key of a dependency: its latest event when an asset was made."""
IMPLICIT_ASSET_JOB_NAME = "__ASSET_JOB"
"""The job of runs of assets that were selected by hand."""
