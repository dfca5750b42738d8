"""Failures and retries of steps: one sentence in the log and in the UI, and whether Dagster retries."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from methods.errors import UnfinishedStep, UserError
from resources.migrations import StoreUnavailable
from resources.user_errors import user_error

WAITS = "waits for batches"
"""Metadata of a failure that only means that the step waits for a batch of model calls (batch API)."""
MAX_RETRIES, RETRY_SECONDS = 2, 60
"""After a transient failure, a step is retried after one minute, then after two."""
unattended = threading.Event()
"""Set in processes that execute launched runs. Only there steps are retried: a command in a terminal
shows the failure at once.
"""


class StoreAway(dg.Failure):
    """A store's server does not answer. Dagster's events have the name of this class."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a UserError or an error of the machine (`user_error`) into a `dg.Failure` with one sentence.

    Raises:
        dg.Failure: With `allow_retries` if the error is transient.
    """
    try:
        yield
    except UnfinishedStep as error:
        if not isinstance(error, UserError):
            raise
        raise dg.Failure(str(error), metadata={WAITS: True}, allow_retries=False) from None
    except Exception as error:
        message = user_error(error)
        if not isinstance(message, UserError):
            raise
        kind = StoreAway if isinstance(message, StoreUnavailable) else dg.Failure
        raise kind(description=str(message), allow_retries=message.passing) from None


@contextmanager
def retry_transient_failures(context: dg.AssetExecutionContext) -> Iterator[None]:
    """Let Dagster retry a step after a transient failure, except in a command in a terminal.

    Assets have no retry policy, because Dagster would also retry a step after Ctrl-C or Terminate
    (docs/decisions/0078).

    Raises:
        dg.RetryRequested: The failure is transient, and retries are left.
        dg.Failure: The failure is permanent, or no retries are left.
    """
    try:
        yield
    except dg.Failure as failure:
        if not (failure.allow_retries and retries_left(context)):
            raise
        seconds = RETRY_SECONDS * (context.op_execution_context.retry_number + 1)
        raise dg.RetryRequested(MAX_RETRIES, seconds) from failure


def is_transient(error: Exception) -> bool:
    """Tell whether a step that failed with this error may succeed some minutes later."""
    if isinstance(error, dg.Failure):
        return error.allow_retries
    explained = user_error(error)
    return isinstance(explained, UserError) and explained.passing


def retries_left(context: dg.AssetExecutionContext) -> bool:
    """Tell whether Dagster will retry the step after a transient failure."""
    attempts = context.op_execution_context.retry_number
    return unattended.is_set() and attempts < MAX_RETRIES
