"""How near entries are to centres, and whether they are near each other, a block of products at a time.

A cosine that is shown or compared with tau is the float64 product of two float32 vectors, and 1 for
equal ones, as in `neighbours.py`. What belongs here: similarities between entries and centres. What
does not: what follows from them (`placement.py`).
"""

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import BORDER, Vectors, block_pairs, blocks, prepare

Rows = NDArray[np.intp]
"""Row numbers, shape (k,)."""

CELLS = 2**24
"""Products made at once: 64 MB, whatever the number of entries and centres."""
PAIRS = 4096
"""Pairs multiplied at once in float64."""
TIE = 1e-6
"""Products in float32 that differ by less are the same."""


def similarity(left: Vectors, rows: Rows, right: Vectors, of: Rows) -> NDArray[np.float64]:
    """Cosine of `left[rows]` and `right[of]`, pair by pair: shape (k,), at most 1."""
    cosines = np.empty(len(rows))
    for start in range(0, len(rows), PAIRS):
        part = slice(start, start + PAIRS)
        one, other = left[rows[part]], right[of[part]]
        products = np.einsum("kd,kd->k", one.astype(np.float64), other.astype(np.float64))
        cosines[part] = np.where((one == other).all(axis=1), 1.0, np.minimum(products, 1.0))
    return cosines


def nearest(vectors: Vectors, rows: Rows, centres: Vectors) -> tuple[Rows, NDArray[np.float64]]:
    """For each of `vectors[rows]` the nearest of the centres, shape (m, d), m > 0, and its cosine.

    Of centres that are equally near, the first.
    """
    place = np.empty(len(rows), dtype=np.intp)
    height = max(1, CELLS // len(centres))
    for start in range(0, len(rows), height):
        part = slice(start, start + height)
        products = vectors[rows[part]] @ centres.T
        best = products.max(axis=1, keepdims=True)
        place[part] = (products >= best - TIE).argmax(axis=1)
    return place, similarity(vectors, rows, centres, place)


def near_others(
    vectors: Vectors, rows: Rows, others: Rows, tau: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of `rows` are within tau of another one of them, and which of one of the `others`.

    `rows` and `others` have no row in common. Two arrays of shape (k,).
    """
    if len(rows) * (len(rows) + len(others)) > CELLS:
        return _near_by_screen(vectors, rows, others, tau)
    among, beyond = _within(vectors, rows, rows, tau), _within(vectors, rows, others, tau)
    np.fill_diagonal(among, False)
    return np.any(among, axis=1), np.any(beyond, axis=1)


def _within(vectors: Vectors, rows: Rows, columns: Rows, tau: float) -> NDArray[np.bool_]:
    """Which pairs are within tau, shape (rows, columns)."""
    products = vectors[rows] @ vectors[columns].T
    near = products >= tau
    one, other = np.nonzero(np.abs(products - tau) < BORDER)
    near[one, other] = similarity(vectors, rows[one], vectors, columns[other]) >= tau
    return near


def _near_by_screen(
    vectors: Vectors, rows: Rows, others: Rows, tau: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The same for many rows, most of whose pairs are told apart by a short product."""
    prepared = prepare(vectors[np.concatenate([rows, others])], tau)
    # Whose each distinct vector is; those of `rows` come first.
    n_distinct = len(prepared.vectors)
    n_rows = np.bincount(prepared.distinct_of[: len(rows)], minlength=n_distinct)
    n_others = np.bincount(prepared.distinct_of[len(rows) :], minlength=n_distinct)
    among, beyond = n_rows > 1, n_others > 0
    for start, stop in blocks(prepared):
        if not n_rows[start:stop].any():
            break
        pairs = block_pairs(prepared, start, stop)
        for one, other in ((pairs.low, pairs.high), (pairs.high, pairs.low)):
            among[one[n_rows[other] > 0]] = True
            beyond[one[n_others[other] > 0]] = True
    return among[prepared.distinct_of[: len(rows)]], beyond[prepared.distinct_of[: len(rows)]]
