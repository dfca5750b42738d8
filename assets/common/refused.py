"""Metadata about rows, images or calls that a materialization rejected."""

from collections.abc import Mapping
from typing import Any

import dagster as dg


def reasons(counts: Mapping[str, int]) -> dict[str, Any]:
    """Metadata with a table of counts by reason, most frequent first; empty if there are none."""
    if not counts:
        return {}
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = "\n".join(f"| {reason} | {count} |" for reason, count in ordered)
    return {"reasons": dg.MetadataValue.md(f"| reason | count |\n| --- | --- |\n{lines}")}
