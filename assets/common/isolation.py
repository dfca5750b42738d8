"""Isolation of failures: an error with one release does not stop the other releases, and a failed step
does not stop downstream steps.

The reason is a row of `evaluate.not_made`. The check `made` (`dagster_project/checks.py`) and the
reports show it.
"""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.common.failures import is_transient
from methods.errors import PromptUnusable, UnfinishedStep, UserError
from methods.ids import content_id
from methods.markdown import code
from resources.files.home import REPO_ROOT
from resources.files.system_errors import ResourceExhausted, is_refused_home
from resources.migrations import StoreUnavailable
from resources.user_errors import user_error
from resources.warehouse import Warehouse, arrow_schema

NOT_MADE = "evaluate.not_made"
ISOLATED_STAGES = frozenset({"evaluate"})
"""Stages with isolated steps: a failed step keeps its rows, and downstream steps use them."""
LOST = "not made"
"""Metadata of a materialization: the releases that failed, with reasons."""
WHOLE = ""
"""In place of a release id: the whole step failed, and its table keeps its earlier rows."""
_OF_THE_MACHINE = (StoreUnavailable, ResourceExhausted)
"""Errors that affect all releases."""


class Isolation:
    """Isolates failures by release: a failed release does not stop the others.

    A step computes each release in a block `with isolation.release(release_id)`. If the block raises,
    the reason is stored and the step continues.

    Args:
        table: The table of the step (`stage.name`).
    """

    def __init__(self, table: str):
        self.lost: dict[str, str] = {}
        self._table = table
        self._tracebacks: list[str] = []

    @contextmanager
    def release(self, release_id: str, *, asking: bool = False) -> Iterator[None]:
        """Record an error of the block as a failure of its release; only the first error counts.

        Args:
            release_id: The release that the block computes.
            asking: Whether the block calls models. If so, errors that affect all releases are raised: a
                refused key, a spent budget, a ledger that cannot be written, a server that is down. An
                unusable prompt only affects its benchmark, so it is recorded.

        Raises:
            Exception: An error that affects all releases, such as a full disk.
        """
        try:
            yield
        except UnfinishedStep:
            raise
        except Exception as error:
            if asking and isinstance(error, UserError) and not isinstance(error, PromptUnusable):
                raise
            if isinstance(user_error(error), _OF_THE_MACHINE) or is_refused_home(error):
                raise
            self.lose(release_id, error)

    @contextmanager
    def step(self, *, retried: bool) -> Iterator[None]:
        """Record an error of the block as a failure of the whole step.

        Args:
            retried: Whether Dagster retries the step after a transient failure. If so, transient
                failures are raised.

        Raises:
            StoreError: A store's server is away, or a disk is full: downstream steps could do nothing,
                either.
        """
        try:
            yield
        except UnfinishedStep:
            raise
        except Exception as error:
            affects_all = isinstance(user_error(error), _OF_THE_MACHINE)
            if affects_all or (retried and is_transient(error)):
                raise
            self.lose(WHOLE, error)

    def lose(self, release_id: str, error: Exception) -> None:
        """Record that a release, or the WHOLE step, failed.

        Args:
            release_id: The release, or WHOLE.
            error: The error, whose message is the reason.
        """
        if release_id not in self.lost:
            self.lost[release_id] = _reason(error)
            if not isinstance(error, UserError | dg.Failure):
                self._tracebacks += traceback.format_exception(error)

    def finish(self, warehouse: Warehouse, result: dg.MaterializeResult) -> dg.MaterializeResult:
        """Replace the failures of the step's last run, and add those of this run to its result.

        Args:
            warehouse: The warehouse with `evaluate.not_made`.
            result: The result of the step.

        Returns:
            The result. Failures are in its metadata and in its data version, so that downstream assets
            see them as a change.
        """
        rows = [
            {"step": self._table, "release_id": release_id, "reason": reason}
            for release_id, reason in self.lost.items()
        ]
        if rows or warehouse.count(NOT_MADE, {"step": self._table}):
            table = pa.Table.from_pylist(rows, schema=arrow_schema(NOT_MADE))
            warehouse.replace(NOT_MADE, table, {"step": self._table})
        if not rows:
            return result
        version = content_id(warehouse.fingerprint(self._table), sorted(self.lost.items()))
        return dg.MaterializeResult(
            metadata={**(result.metadata or {}), **self._metadata()},
            data_version=dg.DataVersion(version),
        )

    def _metadata(self) -> dict[str, Any]:
        """Return the reasons as metadata, with the tracebacks of unexpected errors."""
        lines = [
            f"- {code(release_id) if release_id else 'the table'}: {code(reason)}"
            for release_id, reason in self.lost.items()
        ]
        shown: dict[str, Any] = {LOST: dg.MetadataValue.md("\n".join(lines))}
        if self._tracebacks:
            shown["traceback"] = dg.MetadataValue.text("".join(self._tracebacks))
        return shown


def incomplete_steps(warehouse: Warehouse) -> dict[str, list[str]]:
    """Return the distinct failure reasons of each step that was incomplete in its last run, by
    table.
    """
    by_step: dict[str, list[str]] = {}
    for row in warehouse.select("evaluate.not_made", order="step, release_id").to_pylist():
        reasons = by_step.setdefault(row["step"], [])
        reason = f"{row['release_id']}: {row['reason']}" if row["release_id"] else row["reason"]
        if reason not in reasons:
            reasons.append(reason)
    return by_step


def _reason(error: Exception) -> str:
    """Return the message of an error; for an unexpected error its type, its line and what to do."""
    if isinstance(error, dg.Failure):
        return error.description or "It failed without a reason."
    explained = user_error(error)
    if isinstance(explained, UserError):
        return str(explained)
    frames = traceback.extract_tb(error.__traceback__)
    # The innermost frame of the project's or a benchmark's own code, rather than a library's.
    own = [frame for frame in frames if _is_own(Path(frame.filename))]
    frame = (own or frames)[-1]
    path = Path(frame.filename)
    file = path.relative_to(REPO_ROOT) if _is_own(path) else path
    message = " ".join(str(error).split())[:500]
    return (
        f"{type(error).__name__}{f' ({message})' if message else ''} in {file}, line {frame.lineno}: "
        "correct that code, or report it with the traceback on the asset's page, and materialize it "
        "again."
    )


def _is_own(path: Path) -> bool:
    return path.is_relative_to(REPO_ROOT) and "site-packages" not in path.parts
