"""Which pictures may be copies of each other: the nearest by coarse brightness, also cropped and
mirrored.

What belongs here: a picture's code, and the pairs whose codes are near. What does not: whether a
pair is the same picture (`picture_match.py`).

The code is the low frequencies of the grey picture, a unit vector. Codes of the middle of each picture
stand in the index as well, so that a crop finds the picture it was cut from; a mirrored picture has the
code with the odd horizontal frequencies negated. Each picture is paired with its few nearest, so the
number of pairs is linear in that of pictures, however many are alike.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.ingest.picture_match import SIDE, Grey

Code = NDArray[np.float32]
"""Codes of the windows of a picture, shape (windows, 63)."""

CROPS = (0.0, 0.05, 0.1)
"""Share of each side that the windows of a picture leave out."""
NEAREST = 3
"""Other pictures that a picture is paired with, at most, for each way of looking at it."""
MIN_SIMILARITY = 0.65
"""Least cosine of the codes of a pair."""
EXACT_UP_TO = 10_000
"""More pictures are searched by cells (FAISS's inverted file)."""

_FREQUENCIES = 8
_SAMPLES = 32
_PROBES, _ROUNDS, _TRAINED_BY = 8, 5, 50
"""Cells that a search looks into, rounds of k-means, and vectors a cell that it is trained by."""
_QUERIES_AT_ONCE = 1024

_Found = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Similarities and rows of the nearest windows, each of shape (queries, k)."""
_Search = Callable[[NDArray[np.float32]], _Found]


class Candidate(NamedTuple):
    """Rows of two pictures: `part`, mirrored or not, looks like the middle of `whole`."""

    whole: int
    part: int
    scale: float
    """Share of each side of `whole` that `part` shows."""
    mirrored: bool


def code(grey: Grey) -> Code:
    """The codes of a picture's windows, shape (windows, 63); zeros for a uniform picture."""
    codes = np.array([_low_frequencies(grey, basis).ravel()[1:] for basis in _bases()])
    norms = np.linalg.norm(codes, axis=1, keepdims=True)
    return np.where(norms > 1.0, codes / np.maximum(norms, 1.0), 0).astype(np.float32)


def as_code(numbers: Sequence[float]) -> Code:
    """A code from its numbers in a row."""
    return np.array(numbers, dtype=np.float32).reshape(len(CROPS), -1)


def candidates(of_pictures: Sequence[Code]) -> list[Candidate]:
    """Each pair of pictures that may be copies once, by rows; the nearest way of looking at it."""
    if len(of_pictures) < 2:
        return []
    codes = np.array(of_pictures)
    return _nearest_ways([(codes, 0, codes, 0)])


def candidates_between(first: Sequence[Code], second: Sequence[Code]) -> list[Candidate]:
    """As `candidates`, of pairs of one of the first and one of the second; rows of the second count on.

    However many pictures of its own list a picture looks like, its nearest of the other are found.
    """
    if not first or not second:
        return []
    one, other = np.array(first), np.array(second)
    return _nearest_ways([(one, 0, other, len(one)), (other, len(one), one, 0)])


def _nearest_ways(
    searches: Sequence[tuple[NDArray[np.float32], int, NDArray[np.float32], int]],
) -> list[Candidate]:
    """The nearest way of looking at each pair found, by rows.

    A search is the codes of pictures that are looked for and of those that are looked among, of shape
    (pictures, windows, 63), each with its first row.
    """
    best: dict[tuple[int, int], tuple[float, Candidate]] = {}
    for parts, first_part, wholes, first_whole in searches:
        search = _search(wholes.reshape(-1, wholes.shape[-1]), len(wholes))
        for mirrored in (False, True):
            for start in range(0, len(parts), _QUERIES_AT_ONCE):
                queries = parts[start : start + _QUERIES_AT_ONCE, 0] * (
                    _MIRROR if mirrored else 1.0
                )
                similarity, found = search(np.ascontiguousarray(queries, dtype=np.float32))
                near = (similarity >= MIN_SIMILARITY) & (found >= 0)
                for row, column in zip(*np.nonzero(near), strict=True):
                    nearest, window = divmod(int(found[row, column]), len(CROPS))
                    whole, part = first_whole + nearest, first_part + start + int(row)
                    if whole == part:
                        continue
                    pair = (min(whole, part), max(whole, part))
                    cosine = float(similarity[row, column])
                    if cosine > best.get(pair, (-1.0,))[0]:
                        way = Candidate(whole, part, 1 - 2 * CROPS[window], mirrored)
                        best[pair] = (cosine, way)
    return [best[pair][1] for pair in sorted(best)]


def _basis(crop: float) -> NDArray[np.float32]:
    """Means of samples of the window, then their cosine transform: shape (frequencies, SIDE)."""
    from scipy.fft import dct

    edges = np.linspace(crop * SIDE, (1 - crop) * SIDE, _SAMPLES + 1)
    pixels = np.arange(SIDE)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    means = np.maximum(covered, 0) / np.diff(edges)[:, None]
    return dct(means, axis=0, norm="ortho")[:_FREQUENCIES].astype(np.float32)


def _low_frequencies(grey: Grey, basis: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(basis @ grey @ basis.T, dtype=np.float32)


@cache
def _bases() -> list[NDArray[np.float32]]:
    return [_basis(crop) for crop in CROPS]


_MIRROR = np.tile(np.where(np.arange(_FREQUENCIES) % 2, -1, 1), _FREQUENCIES)[1:].astype(np.float32)


def _search(index: NDArray[np.float32], n: int) -> _Search:
    """A search of the nearest windows of n pictures, exact for few, by cells for many."""
    # The windows of the picture itself are among the nearest, and several of another one may be.
    k = min(len(index), (NEAREST + 1) * len(CROPS))
    if n <= EXACT_UP_TO:

        def exact(queries: NDArray[np.float32]) -> _Found:
            products = queries @ index.T
            top = np.argpartition(-products, k - 1, axis=1)[:, :k]
            return np.take_along_axis(products, top, axis=1), top

        return exact
    import faiss

    n_cells = int(4 * np.sqrt(len(index)))
    inverted = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(index.shape[1]), index.shape[1], n_cells, faiss.METRIC_INNER_PRODUCT
    )
    inverted.cp.niter = _ROUNDS
    inverted.train(index[:: max(1, len(index) // (_TRAINED_BY * n_cells))])
    inverted.add(index)
    inverted.nprobe = _PROBES

    def by_cells(queries: NDArray[np.float32]) -> _Found:
        found: _Found = inverted.search(queries, k)
        return found

    return by_cells
