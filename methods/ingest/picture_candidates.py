"""Which pictures may be copies of each other: the nearest by coarse brightness, also cropped, mirrored
and on a side.

The code is the low frequencies of the grey picture, a unit vector. Codes of the middle of each picture
stand in the index as well, so that a crop finds the picture it was cut from. A mirrored picture has the
code with the odd horizontal frequencies negated; one on its side has horizontal and vertical ones
exchanged, too. Each picture is paired with its few nearest, so the number of pairs is linear in that of
pictures, however many are alike. How a pair is compared depends on its two pictures alone.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.ingest.picture_thumbnail import MINIATURE_SIDE, TURNS, Miniature, Turn

Codes = NDArray[np.float32]
"""Codes of the windows of pictures, shape (pictures, windows, 63)."""

CROPS = (0.0, 0.05, 0.1)
"""Share of each side that the windows of a picture leave out."""
NEAREST = 3
"""Other pictures that a picture is paired with, at most, for each way of looking at it."""
MIN_SIMILARITY, MIN_SIMILARITY_TURNED = 0.65, 0.85
"""Least cosine of the codes of a pair, and of one whose pictures are turned."""
EXACT_UP_TO = 2_000
"""More pictures are searched by cells (FAISS's inverted file)."""

_FREQUENCIES = 8
_SAMPLES = 32
_LEAST_NORM = 1.0
_PROBES, _ROUNDS, _TRAINED_BY = 8, 5, 50
"""Cells that a search looks into, rounds of k-means, and vectors a cell that it is trained by."""
_AT_ONCE = 1024
_DECIMALS = 4
"""Decimals of similarities that are compared: with more, rounding would choose among equal ways."""

Rows = tuple[int, int]
"""The rows of two pictures, the smaller first."""
_SearchResult = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Similarities and rows of the nearest windows, each of shape (queries, k)."""
_Search = Callable[[NDArray[np.float32]], _SearchResult]


class CopyCandidate(NamedTuple):
    """Rows of two pictures: `part`, turned, looks like the middle of `whole`."""

    whole: int
    part: int
    scale: float
    """Share of each side of `whole` that `part` shows."""
    turn: Turn
    """What `part` was turned by: "none", "mirrored" or quarters of a turn."""


def codes(of_pictures: Sequence[Miniature]) -> Codes:
    """The codes of pictures' windows, shape (pictures, windows, 63); zeros for a uniform picture."""
    picture_codes = np.empty((len(of_pictures), len(CROPS), _FREQUENCIES**2 - 1), dtype=np.float32)
    for start in range(0, len(of_pictures), _AT_ONCE):
        grey = np.array(of_pictures[start : start + _AT_ONCE], dtype=np.float32)
        for window, basis in enumerate(_bases()):
            frequencies = basis @ grey @ basis.T
            picture_codes[start : start + len(grey), window] = frequencies.reshape(len(grey), -1)[
                :, 1:
            ]
    norms = np.linalg.norm(picture_codes, axis=2, keepdims=True)
    return np.where(norms > _LEAST_NORM, picture_codes / np.maximum(norms, _LEAST_NORM), 0)


def candidates(of_pictures: Codes) -> list[Rows]:
    """Each pair of pictures that may be copies once, by rows."""
    if len(of_pictures) < 2:
        return []
    return _near([(of_pictures, 0, of_pictures, 0)])


def candidates_between(first: Codes, second: Codes) -> list[Rows]:
    """Find the pairs that may be copies, one image of each of two lists.

    However many images of its own list an image looks like, its nearest images of the other are found.

    Args:
        first: The codes of the first list.
        second: The codes of the second list.

    Returns:
        The pairs of rows; rows of the second list follow those of the first.
    """
    if not len(first) or not len(second):
        return []
    return _near([(first, 0, second, len(first)), (second, len(first), first, 0)])


def nearest_ways(of_pictures: Codes, pairs: Sequence[Rows]) -> list[CopyCandidate]:
    """Find the geometry in which the two images of each pair are nearest: whole, window and turn.

    Of equally near geometries the first one counts: the first image whole, not turned, most of it. A
    pair that is near in none gets this one, too.

    Args:
        of_pictures: The codes of all images.
        pairs: The pairs of rows.

    Returns:
        A candidate for each pair.
    """
    candidates = []
    for start in range(0, len(pairs), _AT_ONCE):
        rows = np.array(pairs[start : start + _AT_ONCE])
        tried = []
        for whole in (0, 1):
            for turn in TURNS:
                parts = turned_codes(of_pictures[rows[:, 1 - whole], 0], turn)
                similar = np.einsum("nwf,nf->nw", of_pictures[rows[:, whole]], parts)
                tried.append(np.where(similar >= _least(turn), similar, 0))
        similarities = np.stack(tried, axis=1).round(_DECIMALS).reshape(len(rows), -1)
        shape = 2, len(TURNS), len(CROPS)
        ways = zip(*np.unravel_index(similarities.argmax(axis=1), shape), strict=True)
        for pair, (whole, number, window) in zip(rows.tolist(), ways, strict=True):
            scale = 1 - 2 * CROPS[window]
            candidates.append(CopyCandidate(pair[whole], pair[1 - whole], scale, TURNS[number]))
    return candidates


def _least(turn: Turn) -> float:
    """The least similarity of two pictures of which one is turned so."""
    return MIN_SIMILARITY if turn == "none" else MIN_SIMILARITY_TURNED


def _near(searches: Sequence[tuple[Codes, int, Codes, int]]) -> list[Rows]:
    """Each pair found once, by rows.

    A search is the codes of pictures that are looked for and of those that are looked among, each with
    its first row.
    """
    rows = []
    for parts, first_part, wholes, first_whole in searches:
        search = _search(wholes.reshape(-1, wholes.shape[-1]), len(wholes))
        for turn in TURNS:
            for start in range(0, len(parts), _AT_ONCE):
                similarity, nearest = search(turned_codes(parts[start : start + _AT_ONCE, 0], turn))
                row, column = np.nonzero((similarity >= _least(turn)) & (nearest >= 0))
                whole = nearest[row, column] // len(CROPS) + first_whole
                part = row + start + first_part
                rows.append(np.stack([whole, part], axis=1)[whole != part])
    pairs = np.unique(np.sort(np.concatenate(rows), axis=1), axis=0)
    return [(int(first), int(second)) for first, second in pairs.tolist()]


def turned_codes(windows: NDArray[np.float32], turn: Turn) -> NDArray[np.float32]:
    """The codes that pictures have if `picture_thumbnail.turned` turns them, shape (n, 63)."""
    exchanged, signs = _TURNED[turn]
    return np.ascontiguousarray(windows[:, exchanged] * signs)


def _turned(
    sideways: bool, down: bool, right: bool
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Which frequency stands where in a code, and its sign, with rows or columns in reverse order."""
    row, column = np.divmod(np.arange(_FREQUENCIES**2), _FREQUENCIES)
    exchanged = column * _FREQUENCIES + row if sideways else np.arange(_FREQUENCIES**2)
    odd = row % 2 * down + column % 2 * right
    return exchanged[1:] - 1, np.where(odd % 2, -1, 1)[1:].astype(np.float32)


_TURNED: Mapping[Turn, tuple[NDArray[np.intp], NDArray[np.float32]]] = {
    "none": _turned(False, False, False),
    "mirrored": _turned(False, False, True),
    "quarter": _turned(True, True, False),
    "half": _turned(False, True, True),
    "three quarters": _turned(True, False, True),
}


def _basis(crop: float) -> NDArray[np.float32]:
    """Means of samples of the window, then their cosine transform: shape (frequencies, side)."""
    from scipy.fft import dct

    side = MINIATURE_SIDE
    edges = np.linspace(crop * side, (1 - crop) * side, _SAMPLES + 1)
    pixels = np.arange(side)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    means = np.maximum(covered, 0) / np.diff(edges)[:, None]
    return dct(means, axis=0, norm="ortho")[:_FREQUENCIES].astype(np.float32)


@cache
def _bases() -> list[NDArray[np.float32]]:
    return [_basis(crop) for crop in CROPS]


def _search(index: NDArray[np.float32], n: int) -> _Search:
    """A search of the nearest windows of n pictures, exact for few, by cells for many."""
    # The windows of the picture itself are among the nearest, and several of another one may be.
    k = min(len(index), (NEAREST + 1) * len(CROPS))
    if n <= EXACT_UP_TO:

        def exact(queries: NDArray[np.float32]) -> _SearchResult:
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

    def by_cells(queries: NDArray[np.float32]) -> _SearchResult:
        neighbours: _SearchResult = inverted.search(queries, k)
        return neighbours

    return by_cells
