"""Answer multiple-choice questions about several images from their pixels, with a rule for each kind of
choices (image order, rotation, tiles, differences ...).
"""

import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from methods.json_text import from_json
from resources.mock_server.image_facts import THUMB, Facts

Pixels = NDArray[np.float64]
Scores = dict[str, float]

_CANNOT = re.compile(r"\bcannot be answered\b", re.IGNORECASE)
IMAGE = re.compile(r"image (\d+)\.?", re.IGNORECASE)
_ORDER = re.compile(r"\d+(?:\s*,\s*\d+)+")
_TURNS: Mapping[str, Callable[[Pixels], Pixels]] = {
    "rotated by 90 degrees clockwise": lambda pixels: np.rot90(pixels, -1),
    "rotated by 90 degrees counter-clockwise": lambda pixels: np.rot90(pixels),
    "rotated by 180 degrees": lambda pixels: np.rot90(pixels, 2),
    "mirrored left to right": lambda pixels: pixels[:, ::-1],
    "mirrored top to bottom": lambda pixels: pixels[::-1],
}
_PLACES = ("to the left of", "to the right of", "above", "below")
_ALIKE = -14.0
"""Two images with an agreement (negative mean pixel difference, 0 to -255)
below this do not show the same."""
_EDGES_MEET = -45.0
_SAME_KIND = -60.0


def best_of_several(
    stem: str, offered: Mapping[str, str], pictures: Mapping[int, Facts]
) -> str | None:
    """Select the choice that agrees best with the images.

    Args:
        stem: The question.
        offered: The texts of the choices by letter.
        pictures: The facts of the images.

    Returns:
        The letter; None if no rule understands the choices.
    """
    cannot = next((letter for letter, text in offered.items() if _CANNOT.search(text)), None)
    texts = {letter: text.strip() for letter, text in offered.items() if letter != cannot}
    pixels = {number: facts.thumbnail.astype(float) for number, facts in pictures.items()}
    scored = _scored(stem, texts, pixels, pictures)
    if scored is None:
        return None
    scores, least = scored
    letter = max(scores, key=lambda letter: (scores[letter], letter))
    return cannot if cannot and scores[letter] < least else letter


def _scored(
    stem: str, texts: Mapping[str, str], pixels: Mapping[int, Pixels], pictures: Mapping[int, Facts]
) -> tuple[Scores, float] | None:
    """Compute the agreement of each choice, and the least agreement of a right one."""
    values = list(texts.values())
    if all(IMAGE.fullmatch(text) for text in values):
        named = {letter: int(text.strip(".").split()[1]) for letter, text in texts.items()}
        if not set(named.values()) <= set(pixels):
            return None
        return _candidates(stem, named, pixels)
    if all(_ORDER.fullmatch(text) for text in values) and len(pixels) == 4:
        orders = {letter: [int(n) for n in text.split(",")] for letter, text in texts.items()}
        if any(sorted(order) != [1, 2, 3, 4] for order in orders.values()):
            return None
        shapes = {(facts.width, facts.height) for facts in pictures.values()}
        least = _EDGES_MEET if len(shapes) == 1 else np.inf
        return {key: _meet([pixels[n] for n in order]) for key, order in orders.items()}, least
    if len(pixels) != 2:
        return None
    first, second = (pixels[number] for number in sorted(pixels))
    if all(text in _TURNS for text in values):
        return {key: _agree(_TURNS[text](first), second) for key, text in texts.items()}, _ALIKE
    if all(text.startswith("[[") for text in values):
        size = next((facts.width, facts.height) for facts in pictures.values())
        return {
            key: _warped_agree(first, second, text, size) for key, text in texts.items()
        }, _ALIKE
    if all(text.isdigit() for text in values) and "differences" in stem:
        counted = _differences(first, second)
        return {key: -abs(int(text) - counted) for key, text in texts.items()}, -np.inf
    if {text.casefold() for text in values} == {"yes", "no"} and "versions" in stem:
        same = max(_agree(version, second) for version in _versions(first)) > 2 * _ALIKE
        return {key: float((text.casefold() == "yes") == same) for key, text in texts.items()}, 0.0
    return None


def _agree(picture: Pixels, other: Pixels) -> float:
    return -float(np.abs(picture - other).mean())


def _meet(tiles: list[Pixels]) -> float:
    """Return how well four tiles, row by row, match at their inner edges."""
    first, second, third, fourth = tiles
    seams = (
        (first[:, -1], second[:, 0]),
        (third[:, -1], fourth[:, 0]),
        (first[-1], third[0]),
        (second[-1], fourth[0]),
    )
    return float(np.mean([_agree(*seam) for seam in seams]))


def _candidates(
    stem: str, named: Mapping[str, int], pixels: Mapping[int, Pixels]
) -> tuple[Scores, float] | None:
    words = stem.lower()
    if "sharpest" in words:
        return {key: _detail(pixels[number]) for key, number in named.items()}, -np.inf
    if "least noise" in words:
        return {key: -_noise(pixels[number]) for key, number in named.items()}, -np.inf
    unnamed = [number for number in pixels if number not in named.values()]
    place = next((place for place in _PLACES if place in words), None)
    if place and len(unnamed) == 2:
        pair = [pixels[number] for number in unnamed]
        if place in ("to the right of", "below"):
            pair.reverse()
        across = place.startswith("to the")
        return {
            key: _halves_agree(pixels[number], pair, across=across) for key, number in named.items()
        }, _ALIKE
    if len(unnamed) == 1 and "same kind" in words:
        (query,) = unnamed
        return {
            key: -float(np.abs(_colours(pixels[query]) - _colours(pixels[number])).sum())
            for key, number in named.items()
        }, _SAME_KIND
    return None


def _detail(pixels: Pixels) -> float:
    return float((np.diff(pixels, axis=0) ** 2).mean() + (np.diff(pixels, axis=1) ** 2).mean())


def _noise(pixels: Pixels) -> float:
    """Estimate noise by the median difference of neighbouring pixels; edges hardly change it."""
    return float(np.median(np.abs(np.diff(pixels, axis=0))))


def _halves_agree(joined: Pixels, pair: list[Pixels], *, across: bool) -> float:
    """Return how well the two halves of an image (left/right or top/bottom) match two images."""
    half = THUMB // 2
    halves = (joined[:, :half], joined[:, half:]) if across else (joined[:half], joined[half:])
    whole = np.concatenate(halves, axis=1 if across else 0)
    shrunk = [
        picture.reshape(THUMB, half, 2, 3).mean(axis=2)
        if across
        else picture.reshape(half, 2, THUMB, 3).mean(axis=1)
        for picture in pair
    ]
    return _agree(whole, np.concatenate(shrunk, axis=1 if across else 0))


def _colours(pixels: Pixels) -> Pixels:
    """Return the histogram of 64 colours, in percent."""
    index = (pixels // 64).astype(int) @ np.array([16, 4, 1])
    return 100 * np.bincount(index.ravel(), minlength=64) / index.size


def _warped_agree(picture: Pixels, other: Pixels, text: str, size: tuple[int, int]) -> float:
    try:
        matrix = np.array(from_json(text), float)
    except (ValueError, TypeError):
        return -np.inf
    if matrix.shape != (3, 3) or abs(np.linalg.det(matrix)) < 1e-9:
        return -np.inf
    # The position of each pixel of the second image in the first one, in pixels of the original images.
    scale = np.array(size, float) / THUMB
    rows, columns = np.mgrid[0:THUMB, 0:THUMB]
    points = np.stack(
        [(columns + 0.5) * scale[0], (rows + 0.5) * scale[1], np.ones((THUMB, THUMB))]
    )
    before = np.tensordot(np.linalg.inv(matrix), points, axes=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = before[0] / before[2] / scale[0] - 0.5, before[1] / before[2] / scale[1] - 0.5
    places = np.nan_to_num(np.stack([y, x]), nan=-9.0, posinf=-9.0, neginf=-9.0)
    warped = np.stack(
        [
            ndimage.map_coordinates(picture[..., band], places, order=1, cval=0.0)
            for band in range(3)
        ],
        axis=-1,
    )
    return _agree(warped, other)


def _differences(picture: Pixels, other: Pixels) -> int:
    """Count the connected parts in which two images differ strongly."""
    parts, n_parts = ndimage.label(np.abs(picture - other).max(axis=-1) > 60)
    sizes = np.bincount(parts.ravel(), minlength=n_parts + 1)[1:]
    return int((sizes >= 4).sum())


def _versions(pixels: Pixels) -> list[Pixels]:
    """Return an image in four versions: unchanged, mirrored, brighter, and zoomed into its middle."""
    cut = round(THUMB * 0.075)
    middle = pixels[cut:-cut, cut:-cut]
    zoom = THUMB / middle.shape[0]
    grown = ndimage.zoom(middle, (zoom, zoom, 1), order=1)
    return [pixels, pixels[:, ::-1], np.minimum(255.0, pixels * 1.3), grown]
