"""The Ray cluster that receives jobs. No connection is opened before a job is submitted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RayCluster:
    """A cluster, by the HTTP address of its dashboard, for example http://127.0.0.1:8265."""

    address: str | None
