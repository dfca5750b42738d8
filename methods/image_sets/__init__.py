"""Image sets drawn from clusters (MMDU 2.2, 3.2, Table 1, Figure 4).

`wishes.py` says what is wanted, `sizes.py` how many sets of which size, `stock.py` which entries of a
cluster form one set, `drawing.py` all sets of a kind, `counts.py` why some could not be made.
"""

from methods.image_sets.drawing import Drawing, draw_sets
from methods.image_sets.wishes import (
    MAX_IMAGES,
    MIN_IMAGES,
    Cluster,
    ImageSet,
    Kind,
    Member,
    SetSizeError,
    Wish,
    size_weights,
)

__all__ = [
    "MAX_IMAGES",
    "MIN_IMAGES",
    "Cluster",
    "Drawing",
    "ImageSet",
    "Kind",
    "Member",
    "SetSizeError",
    "Wish",
    "draw_sets",
    "size_weights",
]
