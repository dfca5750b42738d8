"""What tests of definitions, jobs and commands share."""

from collections.abc import Iterator

import pytest

from dagster_project.interrupts import handlers_kept


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """A run in process leaves the handlers of signals as they were, however a test starts it."""
    with handlers_kept():
        yield
