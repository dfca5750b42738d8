"""What a materialization says of what it refused or lost."""

from collections.abc import Mapping
from typing import Any

import dagster as dg


def reasons(counts: Mapping[str, int]) -> dict[str, Any]:
    """Metadata with how many were lost for each reason, most first; nothing when none were."""
    if not counts:
        return {}
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = "\n".join(f"| {reason} | {count} |" for reason, count in ordered)
    return {"reasons": dg.MetadataValue.md(f"| reason | count |\n| --- | --- |\n{lines}")}
