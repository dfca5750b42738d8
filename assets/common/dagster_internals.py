"""What the project uses of Dagster that Dagster does not offer as public; ruff bans it elsewhere.

Each line may break with a new version of Dagster (`make test-nightly` tries the newest one), and says
what it is for and what public way it waits for. All of it is loaded by `import dagster` itself. What
belongs here: these names. What replaces `dg dev` is `dagster_project/dev.py`.
"""

# Which assets are stale, as the UI shows it: waits for a method of DagsterInstance.
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph as AssetGraph

# Runs of assets selected by hand: waits for a property of DagsterRun that says so.
from dagster._core.definitions.assets.job.asset_job import (
    IMPLICIT_ASSET_JOB_NAME as IMPLICIT_ASSET_JOB_NAME,
)

# Versions in events that no asset's function returns: waits for parameters of AssetMaterialization and
# AssetObservation, as MaterializeResult has them.
from dagster._core.definitions.data_version import CODE_VERSION_TAG as CODE_VERSION_TAG
from dagster._core.definitions.data_version import DATA_VERSION_TAG as DATA_VERSION_TAG

# With AssetGraph.
from dagster._core.definitions.data_version import (
    CachingStaleStatusResolver as CachingStaleStatusResolver,
)
from dagster._core.definitions.data_version import StaleCauseCategory as StaleCauseCategory
from dagster._core.definitions.data_version import StaleStatus as StaleStatus

# The origin of runs that our processes execute: waits for a parameter of execute_in_process.
from dagster._core.definitions.repository_definition import (
    SINGLETON_REPOSITORY_NAME as SINGLETON_REPOSITORY_NAME,
)

# The type of what `define_asset_job` returns: waits for a public name.
from dagster._core.definitions.unresolved_asset_job_definition import (
    UnresolvedAssetJobDefinition as UnresolvedAssetJobDefinition,
)

# A failed check has said itself why its step fails: waits for a public class of this error.
from dagster._core.errors import DagsterAssetCheckFailedError as DagsterAssetCheckFailedError

# Whether a run was interrupted: waits for a public name of the reason that a failed run has.
from dagster._core.events import RunFailureReason as RunFailureReason

# An executor that marks its run: waits for public types of what dg.Executor has as abstract.
from dagster._core.execution.context.system import (
    PlanOrchestrationContext as PlanOrchestrationContext,
)
from dagster._core.execution.plan.plan import ExecutionPlan as ExecutionPlan
from dagster._core.execution.retries import RetryMode as RetryMode
from dagster._core.execution.step_dependency_config import (
    StepDependencyConfig as StepDependencyConfig,
)

# Whether a run's process is there, for a launcher: waits for public names.
from dagster._core.launcher.base import CheckRunHealthResult as CheckRunHealthResult
from dagster._core.launcher.base import WorkerStatus as WorkerStatus

# With AssetGraph.
from dagster._core.loader import LoadingContext as LoadingContext

# Like SINGLETON_REPOSITORY_NAME.
from dagster._core.remote_origin import RegisteredCodeLocationOrigin as RegisteredCodeLocationOrigin
from dagster._core.remote_origin import RemoteRepositoryOrigin as RemoteRepositoryOrigin

# How often a run may be launched again, and whether it will be: waits for parameters of jobs, and for a
# property of DagsterRun.
from dagster._core.storage.tags import MAX_RETRIES_TAG as MAX_RETRIES_TAG

# Runs by parent, root or partition: waits for such fields of RunsFilter.
from dagster._core.storage.tags import PARENT_RUN_ID_TAG as PARENT_RUN_ID_TAG
from dagster._core.storage.tags import PARTITION_NAME_TAG as PARTITION_NAME_TAG
from dagster._core.storage.tags import ROOT_RUN_ID_TAG as ROOT_RUN_ID_TAG
from dagster._core.storage.tags import WILL_RETRY_TAG as WILL_RETRY_TAG

# The type of the error of a DagsterEvent: waits for a public name.
from dagster._utils.error import SerializableErrorInfo as SerializableErrorInfo
