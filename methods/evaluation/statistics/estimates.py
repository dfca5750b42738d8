"""An estimate: a mean with its interval; and the two ways to take a mean over clusters."""

from dataclasses import dataclass
from typing import Literal

Aggregation = Literal["micro", "macro"]
"""Over values alike, or over the means of clusters."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % percentile interval; None for each where there is none."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
