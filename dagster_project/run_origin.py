"""The code location of runs that a process of ours executes, stored with the run.

What belongs here: that a run made without the webserver has the origin that the UI asks for. The UI's
timeline leaves out runs without one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import dagster as dg

from assets.common.dagster_internals import (
    SINGLETON_REPOSITORY_NAME,
    RegisteredCodeLocationOrigin,
    RemoteRepositoryOrigin,
)
from dagster_project.run_tags import LOCATION

REPOSITORY = RemoteRepositoryOrigin(
    RegisteredCodeLocationOrigin(LOCATION), SINGLETON_REPOSITORY_NAME
)
"""The project's definitions as the UI names them: `__repository__@vlm-loom`.

The location is given by its name only, by which Dagster finds it. What else the origin of a run of the
UI has is the socket of the UI's code server, another one after each start.
"""


@contextmanager
def in_location(instance: dg.DagsterInstance, job: str) -> Iterator[None]:
    """Runs of `job` that `instance` makes in the block belong to the project's code location.

    Dagster's `execute_in_process` makes its run without an origin and has no parameter for one.
    `DagsterInstance.create_run_for_job`, which it calls, has one; so it is replaced for the block.
    """
    create = instance.create_run_for_job
    given = partial(create, remote_job_origin=REPOSITORY.get_job_origin(job))
    instance.create_run_for_job = given  # type: ignore[method-assign]
    try:
        yield
    finally:
        instance.create_run_for_job = create  # type: ignore[method-assign]
