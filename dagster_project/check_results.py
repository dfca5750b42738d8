"""Shared code of asset checks: results of failed checks name the problem, the rows and the remedy."""

from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.common.failures import plain_errors
from assets.common.previews import preview

N_SHOWN = 20
"""Rows in the metadata of a result; its description names fewer (`methods/naming.py`)."""


def asset_check(**spec: Any) -> Callable[[Callable[..., Any]], dg.AssetChecksDefinition]:
    """Decorate a check like `dg.asset_check`, and show its errors as one sentence."""
    return lambda function: dg.asset_check(**spec)(plain_errors()(function))


def result(
    wrong: str | None,
    metadata: Mapping[str, Any],
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
) -> dg.AssetCheckResult:
    """Make the result of an asset check.

    Args:
        wrong: A description of the problem, with rows and what to do; None if the check passed.
        metadata: The metadata of the result.
        severity: The severity of a failure.
    """
    return dg.AssetCheckResult(
        passed=wrong is None, description=wrong, severity=severity, metadata=metadata
    )


def rows_preview(rows: pa.Table) -> dg.MarkdownMetadataValue:
    """Make a Markdown table of the first rows; "none" if there are none."""
    return dg.MetadataValue.md(preview(rows, n_rows=N_SHOWN) if rows.num_rows else "none")
