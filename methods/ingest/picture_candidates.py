"""Candidate pairs for image deduplication: nearest neighbours by a perceptual code. The code also finds
crops, mirrored and rotated copies.

The code of an image is a unit vector of the low frequencies of its grey levels (a discrete cosine
transform). The index also has the codes of the middle of each image, so that a crop finds the image it
was cut from. The code of a mirrored image has the odd horizontal frequencies negated. A rotation by a
quarter also exchanges horizontal and vertical frequencies. Each image is paired with only a few nearest
images, so the number of pairs grows linearly, even if many images are alike. The geometry in which a
pair is compared depends only on its two images.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.ingest.picture_thumbnail import MINIATURE_SIDE, TURNS, Miniature, Turn

Codes = NDArray[np.float32]
"""Codes of the windows of images (whole image and middle parts), shape (images, windows, 63)."""

CROPS = (0.0, 0.05, 0.1)
"""The windows of an image, by the share of width or height that is cut off at each side."""
NEAREST = 3
"""The most images that an image is paired with, for each turn of it."""
MIN_SIMILARITY, MIN_SIMILARITY_TURNED = 0.65, 0.85
"""Least cosine similarity of the codes of a pair, and of a pair of which one image is turned."""
EXACT_UP_TO = 2_000
"""The most images that are searched exactly. More are searched by a FAISS inverted file."""

_FREQUENCIES = 8
_SAMPLES = 32
_LEAST_NORM = 1.0
_PROBES, _ROUNDS, _TRAINED_BY = 8, 5, 50
"""Settings of FAISS: cells that a query searches, rounds of k-means, and training vectors per cell."""
_AT_ONCE = 1024
_DECIMALS = 4
"""Similarities are rounded to this precision, so that rounding errors do not decide between equal
geometries."""

Rows = tuple[int, int]
"""The row numbers of two images, the smaller first."""
_SearchResult = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Similarities and rows of the nearest windows, each of shape (queries, k)."""
_Search = Callable[[NDArray[np.float32]], _SearchResult]


class CopyCandidate(NamedTuple):
    """Row numbers of two images: `part`, turned by `turn`, looks like the middle of `whole`."""

    whole: int
    part: int
    scale: float
    """The share of the width and height of `whole` that `part` shows."""
    turn: Turn
    """How `part` is turned to match `whole`: "none", "mirrored" or a number of quarter turns."""


def codes(of_pictures: Sequence[Miniature]) -> Codes:
    """Compute the codes of images, shape (images, windows, 63); zeros for a uniform image."""
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
    """Find the pairs of images that may be copies of each other, each pair once."""
    if len(of_pictures) < 2:
        return []
    return _near([(of_pictures, 0, of_pictures, 0)])


def candidates_between(first: Codes, second: Codes) -> list[Rows]:
    """Find the pairs of one image of each of two lists that may be copies.

    The nearest images in the other list are found even if an image is similar to many in its own list.

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
    """Find the geometry in which the two images of each pair are most similar: whole, window and turn.

    The default geometry has the first image as the whole, the other image unturned and the largest
    window. It is preferred among equally similar geometries, and taken if no geometry reaches the least
    similarity.

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
    """The least similarity of two images of which one is turned by `turn`."""
    return MIN_SIMILARITY if turn == "none" else MIN_SIMILARITY_TURNED


def _near(searches: Sequence[tuple[Codes, int, Codes, int]]) -> list[Rows]:
    """Search pairs of similar images; each pair is returned once.

    A search consists of the codes of the query images, the row number of the first one, the codes of
    the indexed images, and the row number of the first one.
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
    """Compute the codes of turned images from the codes of the upright images, shape (n, 63).

    The result is that of `picture_thumbnail.turned` followed by `codes`.
    """
    exchanged, signs = _TURNED[turn]
    return np.ascontiguousarray(windows[:, exchanged] * signs)


def _turned(
    sideways: bool, down: bool, right: bool
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The permutation and signs that turn a code: `sideways` exchanges rows and columns, `down` and
    `right` reverse their order.
    """
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
    """The matrix that averages a window to samples and transforms them by a discrete cosine transform.

    Shape (frequencies, side).
    """
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
    """Make a nearest-neighbour search over the windows of n images: exact for few, FAISS for many."""
    # Up to len(CROPS) windows of the query image itself, and of each other image, may be the nearest.
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
