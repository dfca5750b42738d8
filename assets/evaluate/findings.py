"""Shared code of score analyses: each is an asset, and their rows are in the table `evaluate.findings`.

An analysis is a function in a module of its name, and has a view of its rows.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, NamedTuple

import dagster as dg

from assets.common.isolation import Isolation
from assets.common.tables import report, table_asset, write_rows
from methods.evaluation.findings import Finding
from methods.evaluation.statistics.estimates import PERCENTILES
from resources.warehouse import Warehouse

TABLE = "evaluate.findings"
Row = dict[str, Any]


class AnalysisResult(NamedTuple):
    """The rows of an analysis in reading order, and its metadata.

    `isolation` has the failures of single releases.
    """

    rows: list[Row]
    details: Row
    isolation: Isolation | None = None


def rows_of(
    findings: Iterable[Finding], columns: Mapping[str, str], seed: int | None = None
) -> list[Row]:
    """Convert findings to rows.

    Args:
        findings: The findings.
        columns: Columns with the benchmark, the release and the judge.
        seed: The seed of resampling, for findings with intervals.

    Returns:
        The rows.
    """
    return [
        {
            "judge_version": "",
            **vars(finding),
            "seed": seed if finding.method == PERCENTILES else None,
            **columns,
        }
        for finding in findings
    ]


def analysis(
    name: str, measures: Mapping[str, str], **spec: Any
) -> Callable[[Callable[..., AnalysisResult]], dg.AssetsDefinition]:
    """Decorate an analysis: `evaluate/<name>` is its asset and the view of its findings.

    Args:
        name: The name of the analysis.
        measures: What each measure means; the UI shows it below the docstring.
        **spec: Arguments of `table_asset`, such as `deps`.

    Returns:
        The decorator.
    """

    def decorate(function: Callable[..., AnalysisResult]) -> dg.AssetsDefinition:
        @wraps(function)
        def measured(**arguments: Any) -> dg.MaterializeResult:
            rows, details, isolation = function(**arguments)
            unknown = {row["measure"] for row in rows} - measures.keys()
            if unknown:
                raise ValueError(f"evaluate/{name} does not say what it measures: {unknown}")
            numbered = [{**row, "analysis": name, "place": n} for n, row in enumerate(rows)]
            warehouse: Warehouse = arguments["warehouse"]
            table = write_rows(warehouse, {TABLE: numbered}, {"analysis": name})
            result = report(table, details)
            return isolation.finish(warehouse, result) if isolation else result

        # Dagster reads the annotations of the function that `wraps` names.
        function.__annotations__["return"] = dg.MaterializeResult
        lines = [f"- `{measure}`: {meaning}" for measure, meaning in measures.items()]
        measured.__doc__ = "\n".join([inspect.getdoc(function) or "", "", *lines])
        return table_asset(f"evaluate.{name}", side_tables=[TABLE], **spec)(measured)

    return decorate
