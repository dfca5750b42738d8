"""Results of asset checks: a failed check names the problem, the rows and the remedy."""

from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.common.failures import plain_errors
from assets.common.previews import preview

N_SHOWN = 20
"""Rows that a result shows; its sentence names fewer (`methods/naming.py`)."""


def asset_check(**spec: Any) -> Callable[[Callable[..., Any]], dg.AssetChecksDefinition]:
    """Dagster's decorator `asset_check`, of a check whose errors are shown as one sentence."""
    return lambda function: dg.asset_check(**spec)(plain_errors()(function))


def result(
    wrong: str | None,
    metadata: Mapping[str, Any],
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
) -> dg.AssetCheckResult:
    """Make the result of an asset check.

    Args:
        wrong: What is wrong: a sentence that names rows and says what to do. None if all is well.
        metadata: What the UI shows with the result.
        severity: How serious a failure is.

    Returns:
        The result, which fails if something is wrong.
    """
    return dg.AssetCheckResult(
        passed=wrong is None, description=wrong, severity=severity, metadata=metadata
    )


def rows_preview(rows: pa.Table) -> dg.MarkdownMetadataValue:
    """The first rows as a Markdown table, their texts escaped."""
    return dg.MetadataValue.md(preview(rows, n_rows=N_SHOWN) if rows.num_rows else "none")
