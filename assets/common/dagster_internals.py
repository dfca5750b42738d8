"""Private APIs of Dagster that the project uses; ruff bans such imports elsewhere.

A new version of Dagster may break these imports (`make test-nightly` tries the newest version), so
there are at most seven names. A comment on each says what it is for, and which public API would
replace it.
The tags are part of Dagster's storage format, and have no public names.
"""

from types import ModuleType

# Finds stale assets, as the UI does. A public method of DagsterInstance would replace it.
from dagster._core.definitions.data_version import CachingStaleStatusResolver

# Raises a signal at once that Dagster stores until the next step. A Dagster that ends a run while it
# waits for a pool would replace this and the class below.
from dagster._core.errors import raise_execution_interrupts

# Waits for a pool between two steps. The same Dagster would replace it.
from dagster._core.execution.plan.active import ActiveExecution

# The resolver's cache of events. The same public method would replace it.
from dagster._core.loader import LoadingContext

__all__ = [
    "ActiveExecution",
    "CachingStaleStatusResolver",
    "LoadingContext",
    "raise_execution_interrupts",
]


def module_of_dagster_dev() -> ModuleType:
    """Import the module of the command `dagster dev`, which is slow."""
    # The command starts Dagster's own webserver. An option for another webserver would replace this.
    from dagster._cli import dev

    return dev


MANY_PARTITIONS = 100
"""From this number of partitions of a dependency on, Dagster does not find out that an asset is stale.

A test compares the number with Dagster's, which has no public name.
"""
CODE_VERSION_TAG = "dagster/code_version"
DATA_VERSION_TAG = "dagster/data_version"
INPUT_EVENT_TAG = "dagster/input_event_pointer/"
"""Prefix of tags of a materialization. With the key of a dependency, the tag has that dependency's
latest event at the time.
"""
IMPLICIT_ASSET_JOB_NAME = "__ASSET_JOB"
"""Dagster's job for runs of assets that a user selected in the UI."""
