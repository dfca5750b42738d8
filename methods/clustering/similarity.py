"""Cosine similarities between entries and centres, and whether entries have neighbours within tau.

A cosine that is shown or compared with tau is the float64 product of two float32 vectors, and 1 for
equal vectors, as in `neighbours.py`.
"""

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import FLOAT64_MARGIN, Vectors, block_pairs, blocks, prepare

Rows = NDArray[np.intp]
"""Row indexes, shape (k,)."""

MAX_PRODUCTS = 2**24
"""Limit of products at once: 64 MB, for any number of entries and centres."""
PAIRS_AT_ONCE = 4096
"""Limit of pairs that are multiplied at once in float64."""
TIE = 1e-6
"""Float32 products that differ by less than this count as equal."""


def paired_cosines(
    left: Vectors, rows: Rows, right: Vectors, right_rows: Rows
) -> NDArray[np.float64]:
    """Compute the cosines of `left[rows]` and `right[right_rows]`, pair by pair.

    Args:
        left: Unit vectors, shape (n, d).
        rows: Rows of `left`, shape (k,).
        right: Unit vectors, shape (m, d).
        right_rows: Rows of `right`, shape (k,).

    Returns:
        The cosines, at most 1, shape (k,).
    """
    cosines = np.empty(len(rows))
    for start in range(0, len(rows), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        left_part, right_part = left[rows[part]], right[right_rows[part]]
        products = np.einsum(
            "kd,kd->k", left_part.astype(np.float64), right_part.astype(np.float64)
        )
        cosines[part] = np.where(
            (left_part == right_part).all(axis=1), 1.0, np.minimum(products, 1.0)
        )
    return cosines


def nearest_centre(
    vectors: Vectors, rows: Rows, centres: Vectors
) -> tuple[Rows, NDArray[np.float64]]:
    """Find the nearest centre of each row. Ties go to the first centre.

    Args:
        vectors: Unit vectors, shape (n, d).
        rows: The rows of `vectors` to look at.
        centres: Unit vectors, shape (m, d), at least one.

    Returns:
        The index of the nearest centre and its cosine, for each of `rows`.
    """
    index = np.empty(len(rows), dtype=np.intp)
    height = max(1, MAX_PRODUCTS // len(centres))
    for start in range(0, len(rows), height):
        part = slice(start, start + height)
        products = vectors[rows[part]] @ centres.T
        best = products.max(axis=1, keepdims=True)
        index[part] = (products >= best - TIE).argmax(axis=1)
    return index, paired_cosines(vectors, rows, centres, index)


def first_centre(vectors: Vectors, rows: Rows, centres: Vectors, tau: float) -> Rows:
    """Find the first centre at cosine >= `tau` of each row.

    Args:
        vectors: Unit vectors, shape (n, d).
        rows: The rows of `vectors` to look at.
        centres: Unit vectors, shape (m, d), at least one.
        tau: The least cosine.

    Returns:
        The index of the centre for each of `rows`; -1 if none is near enough.
    """
    index = np.empty(len(rows), dtype=np.intp)
    height = max(1, MAX_PRODUCTS // len(centres))
    every = np.arange(len(centres))
    for start in range(0, len(rows), height):
        part = slice(start, start + height)
        near = _within(vectors, rows[part], centres, every, tau)
        index[part] = np.where(near.any(axis=1), near.argmax(axis=1), -1)
    return index


def have_neighbours(
    vectors: Vectors, rows: Rows, others: Rows, tau: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find out which rows have a neighbour.

    Args:
        vectors: The unit vectors, shape (n, d).
        rows: The rows, shape (k,).
        others: Other rows; none of them is in `rows`.
        tau: The smallest cosine of neighbours.

    Returns:
        Whether each of `rows` has a neighbour in `rows`, and whether it has one in `others`: two arrays
        of shape (k,).
    """
    if len(rows) * (len(rows) + len(others)) > MAX_PRODUCTS:
        return _have_neighbours_by_blocks(vectors, rows, others, tau)
    in_rows = _within(vectors, rows, vectors, rows, tau)
    in_others = _within(vectors, rows, vectors, others, tau)
    np.fill_diagonal(in_rows, False)
    return np.any(in_rows, axis=1), np.any(in_others, axis=1)


def _within(
    left: Vectors, rows: Rows, right: Vectors, columns: Rows, tau: float
) -> NDArray[np.bool_]:
    """Tell which pairs of `left[rows]` and `right[columns]` are within tau, shape (rows, columns)."""
    products = left[rows] @ right[columns].T
    near = products >= tau
    near_rows, near_columns = np.nonzero(np.abs(products - tau) < FLOAT64_MARGIN)
    near[near_rows, near_columns] = (
        paired_cosines(left, rows[near_rows], right, columns[near_columns]) >= tau
    )
    return near


def _have_neighbours_by_blocks(
    vectors: Vectors, rows: Rows, others: Rows, tau: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """`have_neighbours` for many rows, by the pair filter of `neighbours.py`."""
    prepared = prepare(vectors[np.concatenate([rows, others])], tau)
    # Count the `rows` and the `others` that each distinct vector equals. Those of `rows` come first.
    n_distinct = len(prepared.vectors)
    n_rows = np.bincount(prepared.distinct_of[: len(rows)], minlength=n_distinct)
    n_others = np.bincount(prepared.distinct_of[len(rows) :], minlength=n_distinct)
    in_rows, in_others = n_rows > 1, n_others > 0
    for start, stop in blocks(prepared):
        if not n_rows[start:stop].any():
            break
        pairs = block_pairs(prepared, start, stop)
        for ends, neighbours in ((pairs.low, pairs.high), (pairs.high, pairs.low)):
            in_rows[ends[n_rows[neighbours] > 0]] = True
            in_others[ends[n_others[neighbours] > 0]] = True
    distinct = prepared.distinct_of[: len(rows)]
    return in_rows[distinct], in_others[distinct]
