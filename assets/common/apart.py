"""Steps that fail by themselves: what could not be made is a row with its reason, and the others go on.

What belongs here: keeping the trouble of one release from the others, and that of a step from those
that follow it. That it is seen is the check `made` (`dagster_project/checks.py`); reports have the
reasons.
"""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa

from methods.errors import UserError
from methods.markdown import code
from methods.prompts.template import TemplateError
from resources.exhausted import exhausted
from resources.home import REPO_ROOT
from resources.llm.model_calls import BatchPending, WaitingForBatch
from resources.llm.trial import PromptGivenUp
from resources.migrations import StoreAway
from resources.prompts import PromptError
from resources.stores_of_home import is_refused_home, refused_by_system
from resources.warehouse import Warehouse, arrow_schema

NOT_MADE = "evaluate.not_made"
STAGES = frozenset({"evaluate"})
"""Stages whose steps do not stop what follows them: it is made of what there is."""
LOST = "not made"
"""Metadata of a materialization: what the step could not make, and why."""
WHOLE = ""
"""In the place of a release: the step made nothing, and its table keeps its earlier rows."""
NO_FAILURE = (BatchPending, WaitingForBatch)
"""What ends a step that has not failed, but goes on when its batches have ended."""
OF_A_PROMPT = (PromptError, TemplateError, PromptGivenUp)


class Apart:
    """What a step could not make, by release, with the reason.

    A step makes the results of each release in a block `with apart.release(release_id)`: what raises
    there is left out, and the others are made.
    """

    def __init__(self, table: str):
        self.lost: dict[str, str] = {}
        self._table = table
        self._tracebacks: list[str] = []

    @contextmanager
    def release(self, release_id: str, *, asking: bool = False) -> Iterator[None]:
        """Keep what the block raises to this release; the first reason stands.

        Where the block is `asking` models, what ends the calls of all releases is raised: a refused
        key, a spent budget, a ledger that cannot be written, a server that is down. A prompt is its
        benchmark's, and so are replies to it that cannot be read. A home that cannot be written, a disk
        that is full and a store that is away are those of all releases.
        """
        try:
            yield
        except NO_FAILURE:
            raise
        except Exception as error:
            if asking and isinstance(error, UserError) and not isinstance(error, OF_A_PROMPT):
                raise
            if isinstance(error, StoreAway) or is_refused_home(error) or exhausted(error):
                raise
            self.lose(release_id, error)

    def lose(self, release_id: str, error: Exception) -> None:
        """There is nothing of this release, or of the WHOLE, for this reason."""
        if release_id not in self.lost:
            self.lost[release_id] = _reason(error)
            if not isinstance(error, UserError | dg.Failure):
                self._tracebacks += traceback.format_exception(error)

    def write(self, warehouse: Warehouse) -> None:
        """Put the reasons in the place of those of the step's last run."""
        rows = [
            {"step": self._table, "release_id": release_id, "reason": reason}
            for release_id, reason in self.lost.items()
        ]
        if rows or warehouse.count(NOT_MADE, {"step": self._table}):
            table = pa.Table.from_pylist(rows, schema=arrow_schema(NOT_MADE))
            warehouse.replace(NOT_MADE, table, {"step": self._table})

    def metadata(self) -> dict[str, Any]:
        """The reasons as metadata of the step's materialization; none where nothing was lost."""
        if not self.lost:
            return {}
        lines = [
            f"- {code(release_id) if release_id else 'the table'}: {code(reason)}"
            for release_id, reason in self.lost.items()
        ]
        told: dict[str, Any] = {LOST: dg.MetadataValue.md("\n".join(lines))}
        if self._tracebacks:
            told["traceback"] = dg.MetadataValue.text("".join(self._tracebacks))
        return told


def not_made(warehouse: Warehouse) -> dict[str, list[str]]:
    """Table of each step that made not all in its last run -> why, each reason once."""
    by_step: dict[str, list[str]] = {}
    for row in warehouse.select("evaluate.not_made", order="step, release_id").to_pylist():
        reasons = by_step.setdefault(row["step"], [])
        reason = f"{row['release_id']}: {row['reason']}" if row["release_id"] else row["reason"]
        if reason not in reasons:
            reasons.append(reason)
    return by_step


def _reason(error: Exception) -> str:
    """The sentence of an error; of one that has none, where it was raised and what to do about it."""
    if isinstance(error, dg.Failure):
        return error.description or "It failed without a reason."
    if ran_out := exhausted(error):
        return str(ran_out)
    if isinstance(error, OSError) and is_refused_home(error):
        return str(refused_by_system(error))
    if isinstance(error, UserError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    # A benchmark of one's own stands beside the project's code; a library is asked by one of them.
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
