"""Results of an evaluation stage: writes rows and failures separately for each model.

The rows of a model on a release are only replaced if few enough of its turns failed; otherwise the
earlier rows stay.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.common.drops import exceeds_drop_limit, in_words, is_retry_worthwhile, reasons
from assets.common.settings import AssetConfig
from assets.common.table_rows import ArrowRows
from assets.common.tables import report, rows_to_arrow
from assets.evaluate.released import EvaluatedRelease, Row
from methods.markdown import code
from resources.llm.usage import Usage
from resources.warehouse import TableWrite, Warehouse


class EvaluationSettings(AssetConfig):
    """Shared setting of answers and judgments: the share of a model's turns that may fail."""

    max_failed_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="If a larger share of a model's turns is lost, its earlier rows stay.",
    )


class ModelResults:
    """The rows and failures of a stage for one model on one release, with one judge or none.

    Attributes:
        slice: The columns benchmark, release and model.
        responder: The judge, or the model if there is none.
        failed: Rows of `evaluate.failed`.
        n_turns: The number of turns.
        n_lost: The number of failed turns.
    """

    def __init__(self, release: EvaluatedRelease, model: str, judge: str | None):
        self.slice = {**release.columns, "model": model}
        self.responder = judge or model
        self._judge = judge
        self._rows: dict[str, ArrowRows] = {}
        self.failed: list[Row] = []
        self.n_turns = 0
        self.n_lost = 0

    @property
    def owned(self) -> dict[str, Any]:
        """The slice of the stage's tables that these rows replace."""
        return self.slice if self._judge is None else {**self.slice, "judge": self._judge}

    @property
    def owned_losses(self) -> dict[str, Any]:
        """The slice of `evaluate.failed` that these failures replace, without the column `stage`."""
        return self.slice if self._judge is None else {**self.slice, "asked": self._judge}

    def add(self, table: str, row: Row) -> None:
        """Add a row.

        Args:
            table: The table.
            row: The row.
        """
        if table not in self._rows:
            self._rows[table] = ArrowRows(table)
        self._rows[table].add({**self.owned, **row})

    def rows(self, table: str) -> pa.Table:
        """Return the rows that were added for a table."""
        return self._rows.get(table, ArrowRows(table)).arrow()

    def fail(self, row: Row) -> None:
        """Add a row of `evaluate.failed`."""
        self.failed.append({**self.slice, "asked": self.responder, **row})


class ResultSet:
    """The results of one run of a stage, which writes `table` and the tables `beside`."""

    def __init__(self, table: str, *beside: str):
        self.table = table
        self.tables = (table, *beside)
        self.stage = table.split(".")[1]
        self.of_models: dict[tuple[str, str, str | None], ModelResults] = {}

    def results_for(
        self, release: EvaluatedRelease, model: str, judge: str | None = None
    ) -> ModelResults:
        """Return the results of one model on one release.

        Args:
            release: The release.
            model: The model.
            judge: The judge; None for answers.
        """
        key = (release.release_id, model, judge)
        return self.of_models.setdefault(key, ModelResults(release, model, judge))


def write_results(
    warehouse: Warehouse,
    results: ResultSet,
    max_failed_share: float,
    usage: Usage,
    details: Mapping[str, Any] | None = None,
    *,
    only_these: bool = False,
) -> dg.MaterializeResult:
    """Replace the rows of every model with few enough failed turns, and report.

    If more turns of a model failed, it keeps its earlier rows, and `evaluate.missing` names it with the
    reason. Earlier rows of `evaluate.missing` for this stage and these releases are removed.

    Args:
        warehouse: The tables.
        results: The results by model.
        max_failed_share: The largest share of a model's turns that may fail, 0 to 1.
        usage: The model calls and their cost.
        details: More metadata for the UI.
        only_these: Whether the run was limited to some models; rows of other models stay in
            `evaluate.missing`.

    Returns:
        The result of the asset.

    Raises:
        dg.Failure: Too many turns of all models failed. Nothing is changed.
    """
    missing: list[Row] = []
    accepted: list[ModelResults] = []
    for of_model in results.of_models.values():
        if exceeds_drop_limit(of_model.n_lost, of_model.n_turns, max_failed_share):
            why = _why(of_model.failed)
            counts = {"n_lost": of_model.n_lost, "n_turns": of_model.n_turns, "why": why}
            missing.append(
                {**of_model.slice, "stage": results.stage, "asked": of_model.responder, **counts}
            )
        else:
            accepted.append(of_model)
    if missing and not accepted:
        sentence = (
            f"{results.table} keeps its earlier rows: {_sentence(missing[0], max_failed_share)}"
        )
        raise dg.Failure(
            " ".join(filter(None, (sentence, usage.advice))),
            allow_retries=all(
                is_retry_worthwhile(
                    Counter(row["reason"] for row in of_model.failed),
                    of_model.n_turns,
                    max_failed_share,
                )
                for of_model in results.of_models.values()
            ),
        )
    writes = [write for of_model in accepted for write in _writes(results, of_model)]
    named = {
        "stage": results.stage,
        "release_id": sorted({release_id for release_id, *_ in results.of_models}),
        **({"model": sorted({model for _, model, _ in results.of_models})} if only_these else {}),
    }
    writes.append(TableWrite("evaluate.missing", rows_to_arrow("evaluate.missing", missing), named))
    warehouse.replace_all(writes)
    lost = Counter(row["reason"] for of_model in accepted for row in of_model.failed)
    # Turns that need a reference which the release lacks are not counted as failures.
    without = lost["no_reference"]
    counted: dict[str, Any] = {
        **(details or {}),
        "failed": lost.total() - without,
        **({"without a reference": without} if without else {}),
        **reasons(lost),
        "models": len({of_model.slice["model"] for of_model in results.of_models.values()}),
    }
    if missing:
        counted["missing"] = dg.MetadataValue.md(
            "\n".join(f"- {code(_sentence(row, max_failed_share))}" for row in missing)
        )
    arrow_tables = [of_model.rows(results.table) for of_model in accepted]
    table = pa.concat_tables([ArrowRows(results.table).arrow(), *arrow_tables])
    return report(table, counted, usage=usage)


def _writes(results: ResultSet, of_model: ModelResults) -> Iterator[TableWrite]:
    for table in results.tables:
        yield TableWrite(table, of_model.rows(table), of_model.owned)
    losses = [{**row, "stage": results.stage} for row in of_model.failed]
    yield TableWrite(
        "evaluate.failed",
        rows_to_arrow("evaluate.failed", losses),
        {**of_model.owned_losses, "stage": results.stage},
    )


_FOLLOWING = ("given_up", "not_asked")
"""Reasons of turns that were not asked because earlier turns had failed."""


def _why(failed: Sequence[Row]) -> str:
    """Return counts by reason, and the detail of the first failure with the most frequent reason."""
    counted = Counter(row["reason"] for row in failed)
    causes = [row for row in failed if row["reason"] not in _FOLLOWING] or list(failed)
    if not causes:
        return in_words(counted)
    reason = Counter(row["reason"] for row in causes).most_common(1)[0][0]
    first = next(row for row in causes if row["reason"] == reason)
    return f"{in_words(counted)}; {reason} of {first['item_id']}: {first['detail'].rstrip('.')}"


def _sentence(row: Row, limit: float) -> str:
    judged = "" if row["asked"] == row["model"] else f" with judge {row['asked']}"
    return (
        f"{row['model']} lost {row['n_lost']} of {row['n_turns']} turns on {row['release_id']}{judged} "
        f"({row['why']}), and at most {limit:.0%} may be lost."
    )
