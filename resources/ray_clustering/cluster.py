"""Which Ray cluster jobs are sent to.

What belongs here: its address. Nothing is opened before a step runs there.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class RayCluster:
    """A cluster by the HTTP address of its dashboard, for example http://127.0.0.1:8265."""

    address: str | None
