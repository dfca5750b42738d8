"""Image sets sampled from clusters (MMDU 2.2, 3.2, Table 1, Figure 4).

`spec.py` has the sampling specification and the types, and apportions set sizes; `pool.py` chooses the
entries of a set in one cluster, `sampling.py` samples all sets of a kind and explains missing ones,
`split.py` divides the corpus between the kinds before anything is sampled.
"""

from methods.image_sets.sampling import SampledSets, sample_sets
from methods.image_sets.spec import (
    MAX_IMAGES,
    MIN_IMAGES,
    Cluster,
    Kind,
    Member,
    SamplingSpec,
    SetSizeError,
    size_weights,
)

__all__ = [
    "MAX_IMAGES",
    "MIN_IMAGES",
    "Cluster",
    "Kind",
    "Member",
    "SampledSets",
    "SamplingSpec",
    "SetSizeError",
    "sample_sets",
    "size_weights",
]
