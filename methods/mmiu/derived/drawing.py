"""Image transforms: crop, rotate, warp, blur, add noise, join. All are deterministic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from methods.ids import content_id
from methods.mmiu.converting import UnusableSampleError


@dataclass(frozen=True)
class SampledEntry:
    """An entry (an image with its Wikipedia page) that was sampled into an image set."""

    entry_id: str
    set_id: str
    cluster_id: str
    image_id: str
    title: str
    caption: str
    page_url: str
    categories: tuple[str, ...]
    language: str


class EditableImages(Protocol):
    """An image store that opens images and stores changed ones."""

    def open(self, image_id: str) -> Image.Image:
        """Open an image, upright and RGB."""

    def keep(self, picture: Image.Image, made_from: Sequence[str], change: str) -> str:
        """Store an image that was made from other images.

        Args:
            picture: The image.
            made_from: The ids of its source images.
            change: A description of the change.
        """


def others(
    subject: SampledEntry,
    subjects: Sequence[SampledEntry],
    n_subjects: int,
    fits: Callable[[SampledEntry], bool],
    *seed: object,
) -> list[SampledEntry]:
    """Sample other entries with other images.

    Args:
        subject: The entry.
        subjects: The entries to choose from.
        n_subjects: The number of entries to choose.
        fits: Returns whether an entry is acceptable.
        *seed: The seed of the order.

    Raises:
        UnusableSampleError: There are fewer than `n_subjects` such entries.
    """
    draw = partial(content_id, *seed, subject.entry_id)
    image_ids = {subject.image_id}
    chosen: list[SampledEntry] = []
    for other in sorted(subjects, key=lambda other: draw(other.entry_id)):
        if len(chosen) < n_subjects and other.image_id not in image_ids and fits(other):
            image_ids.add(other.image_id)
            chosen.append(other)
    if len(chosen) < n_subjects:
        raise UnusableSampleError(
            "too_few_entries", f"There are {len(chosen)} other entries instead of {n_subjects}."
        )
    return chosen


def seeded_index(seed: int, subject: SampledEntry, task: str, n_values: int) -> int:
    """Choose a number by seed, entry and task.

    Args:
        seed: The seed.
        subject: The entry.
        task: The task.
        n_values: The number of values.

    Returns:
        A number from 0 to n_values - 1.
    """
    return int(content_id("drawn", seed, task, subject.entry_id), 16) % n_values


SIDE = 360
"""Longer side, in pixels, of changed images."""
Matrix = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]

_OP = Image.Transpose
TURNS: Mapping[str, Image.Transpose] = {
    "rotated by 90 degrees clockwise": _OP.ROTATE_270,
    "rotated by 90 degrees counter-clockwise": _OP.ROTATE_90,
    "rotated by 180 degrees": _OP.ROTATE_180,
    "mirrored left to right": _OP.FLIP_LEFT_RIGHT,
    "mirrored top to bottom": _OP.FLIP_TOP_BOTTOM,
}
"""Rotations and reflections: the description in choices, and Pillow's constant."""


def fitted(picture: Image.Image) -> Image.Image:
    """Shrink an image to a longer side of at most `SIDE`, and crop both sides to even numbers."""
    copy = picture.copy()
    copy.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return copy.crop((0, 0, max(2, copy.width // 2 * 2), max(2, copy.height // 2 * 2)))


def framed(picture: Image.Image, width: int, height: int) -> Image.Image:
    """Cut out the middle of an image with the aspect ratio of `width` and `height`, and resize it.

    Args:
        picture: The image.
        width: The width of the result in pixels.
        height: The height of the result in pixels.
    """
    wide = min(picture.width, picture.height * (width / height))
    high = min(picture.height, picture.width / (width / height))
    left, top = (picture.width - wide) / 2, (picture.height - high) / 2
    middle = picture.crop((round(left), round(top), round(left + wide), round(top + high)))
    return middle.resize((width, height), Image.Resampling.LANCZOS)


def quarters(picture: Image.Image) -> list[Image.Image]:
    """Cut an image with even sides into four quarters, row by row from the top left."""
    wide, high = picture.width // 2, picture.height // 2
    return [picture.crop((x, y, x + wide, y + high)) for y in (0, high) for x in (0, wide)]


def difference(picture: Image.Image, other: Image.Image) -> float:
    """Compute the mean absolute difference of two images' pixels after bringing them to one size.

    Args:
        picture: The first image.
        other: The second image.

    Returns:
        The difference, 0 to 255.
    """
    small = [
        np.asarray(image.resize((48, 48), Image.Resampling.BOX), float)
        for image in (picture, other)
    ]
    return float(np.abs(small[0] - small[1]).mean())


def detail(picture: Image.Image) -> float:
    """Measure sharpness: the mean squared difference of neighbouring grey pixels.

    Differences are squared, because blurring does not change their sum along an edge.
    """
    grey = np.asarray(picture.convert("L"), float)
    return float((np.diff(grey, axis=0) ** 2).mean() + (np.diff(grey, axis=1) ** 2).mean())


def noisy(picture: Image.Image, deviation: float, seed: int) -> Image.Image:
    """Add Gaussian noise to an image.

    Args:
        picture: The image.
        deviation: The standard deviation in levels of 255.
        seed: The seed of the noise.
    """
    noise = np.random.default_rng(seed).normal(0.0, deviation, (picture.height, picture.width, 3))
    pixels = np.asarray(picture, float) + noise
    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))


def cropped(picture: Image.Image, share: float) -> Image.Image:
    """Cut out the middle of an image.

    Args:
        picture: The image.
        share: The share of width and height to keep.
    """
    left, top = picture.width * (1 - share) / 2, picture.height * (1 - share) / 2
    return picture.crop(
        (round(left), round(top), round(picture.width - left), round(picture.height - top))
    )


def altered(picture: Image.Image, cells: Sequence[int]) -> Image.Image:
    """Put patches of other colours into an image.

    Args:
        picture: The image.
        cells: The cells of a grid of 4 x 3 whose middle gets a patch.
    """
    pixels = np.array(picture)
    wide, high = picture.width / 4, picture.height / 3
    for cell in cells:
        x, y = (cell % 4 + 0.5) * wide, (cell // 4 + 0.5) * high
        patch = pixels[
            round(y - high / 5) : round(y + high / 5), round(x - wide / 5) : round(x + wide / 5)
        ]
        # Adding half the range (modulo 256) makes every patch visible.
        patch += 128
    return Image.fromarray(pixels)


def joined(picture: Image.Image, other: Image.Image, *, side_by_side: bool) -> Image.Image:
    """Join two images of one size.

    Args:
        picture: The left or upper image.
        other: The right or lower image.
        side_by_side: Whether they are side by side; otherwise one is above the other.
    """
    wide, high = picture.size
    sheet = Image.new("RGB", (2 * wide, high) if side_by_side else (wide, 2 * high))
    sheet.paste(picture, (0, 0))
    sheet.paste(other, (wide, 0) if side_by_side else (0, high))
    return sheet


def warped(picture: Image.Image, matrix: Matrix) -> Image.Image:
    """Apply a homography to an image. Pixels from outside the image are black.

    Args:
        picture: The image.
        matrix: The homography, which maps points of the old image to points of the new one, in pixels.
    """
    inverse: NDArray[np.float64] = np.linalg.inv(np.array(matrix))
    values = (inverse / inverse[2, 2]).ravel()[:8]
    return picture.transform(
        picture.size,
        Image.Transform.PERSPECTIVE,
        tuple(map(float, values)),
        Image.Resampling.BILINEAR,
    )
