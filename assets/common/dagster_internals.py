"""What the project uses of Dagster that Dagster does not offer as public; ruff bans it elsewhere.

Each import may break with a new version of Dagster (`make test-nightly` tries the newest one). A
comment says what it is for and what public way it waits for. Tags are part of what Dagster stores, and
have no public names.
"""

# Which assets are stale, as the UI shows it: waits for a method of DagsterInstance.
from dagster._core.definitions.data_version import (
    SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD as _MANY_PARTITIONS,
)
from dagster._core.definitions.data_version import (
    CachingStaleStatusResolver as CachingStaleStatusResolver,
)

# The answer of a run launcher to run monitoring: waits for public names.
from dagster._core.launcher import CheckRunHealthResult as CheckRunHealthResult
from dagster._core.launcher import WorkerStatus as WorkerStatus
from dagster._core.loader import LoadingContext as LoadingContext

# Runs of a terminal in the timeline: waits for a parameter of execute_in_process.
from dagster._core.remote_origin import RegisteredCodeLocationOrigin as RegisteredCodeLocationOrigin
from dagster._core.remote_origin import RemoteRepositoryOrigin as RemoteRepositoryOrigin

# Many assets' latest events in one query: waits for a method of DagsterInstance.
from dagster._core.storage.event_log.base import AssetRecord as AssetRecord

MANY_PARTITIONS = _MANY_PARTITIONS
"""Of an asset that is made of so many partitions of another, Dagster does not say that it is stale."""
CODE_VERSION_TAG = "dagster/code_version"
DATA_VERSION_TAG = "dagster/data_version"
INPUT_EVENT_TAG = "dagster/input_event_pointer/"
"""Before the key of a dependency: its latest event when an asset was made."""
IMPLICIT_ASSET_JOB_NAME = "__ASSET_JOB"
"""The job of runs of assets that were selected by hand."""
