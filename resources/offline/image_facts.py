"""Facts measured in an image's pixels.

What belongs here: everything that the offline server knows of an image. The facts are measured with
numpy and scipy on a copy of at most 96 pixels a side. They stand in for what a model would see; no
model is called.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps
from scipy import ndimage

from resources.offline import colours

SIDE = 96
THUMB = 48
"""Pixels of the sides of the small square copy that pictures are compared by."""
_EIGHT_WAYS = np.ones((3, 3), dtype=int)


@dataclass(frozen=True)
class Facts:
    """The facts of one picture; every word is a value of `vocabulary.py`."""

    width: int
    height: int
    orientation: str
    colours: tuple[tuple[str, float], ...]
    background: str
    luminance: float
    light: str
    vividness: str
    shape: str
    place: str
    count: str
    # Neither shown nor compared: choices are drawn by what is shown of a picture.
    thumbnail: NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros((THUMB, THUMB, 3), np.uint8), repr=False, compare=False
    )

    @property
    def colour_names(self) -> tuple[str, ...]:
        """The dominant colours, the largest share first."""
        return tuple(name for name, _ in self.colours)


def prepare(image: Image.Image) -> Image.Image:
    """Return a small upright RGB copy, transparent parts on white."""
    image.draft("RGB", (SIDE * 2, SIDE * 2))
    small = ImageOps.exif_transpose(image)
    if small.mode.startswith("I;16"):
        small = small.point(lambda level: level * (1 / 256)).convert("L")
    small.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    if small.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in small.info:
        sheet = Image.new("RGBA", small.size, "white")
        small = Image.alpha_composite(sheet, small.convert("RGBA"))
    return small.convert("RGB")


def analyse(image: Image.Image) -> Facts:
    """Return the facts of a decoded or lazily opened picture."""
    width, height = _upright_size(image)
    pixels = np.asarray(prepare(image))
    indices = colours.name_indices(pixels)
    background, background_rgb = _background(pixels, indices)
    luminance = float((pixels @ np.array([0.299, 0.587, 0.114])).mean() / 255.0)
    labels, sizes = _parts(pixels, background_rgb)
    shape, place = _subject(labels, sizes)
    return Facts(
        width=width,
        height=height,
        orientation=_orientation(width, height),
        colours=_dominant(colours.shares(indices)),
        background=background,
        luminance=round(luminance, 3),
        light="dark" if luminance < 0.25 else "dim" if luminance < 0.5 else "bright",
        vividness=_vividness(pixels),
        shape=shape,
        place=place,
        count=_count(sizes),
        thumbnail=np.asarray(Image.fromarray(pixels).resize((THUMB, THUMB), Image.Resampling.BOX)),
    )


def _upright_size(image: Image.Image) -> tuple[int, int]:
    width, height = image.size
    turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
    return (height, width) if turned else (width, height)


def _orientation(width: int, height: int) -> str:
    ratio = width / height
    return "landscape" if ratio > 1.05 else "portrait" if ratio < 0.95 else "square"


def _dominant(found: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Keep up to three colours; a thin drawing's one other colour counts however small."""
    kept = [pair for pair in found if pair[1] >= 0.03][:3]
    if len(kept) == 1 and len(found) > 1 and found[1][1] >= 0.003:
        kept.append(found[1])
    return tuple(kept)


def _background(
    pixels: NDArray[np.uint8], indices: NDArray[np.intp]
) -> tuple[str, NDArray[np.float64]]:
    """Return the name and the mean colour of the commonest colour along the border."""
    depth = max(1, min(pixels.shape[:2]) // 16)
    border = np.zeros(indices.shape, dtype=bool)
    border[:depth] = border[-depth:] = True
    border[:, :depth] = border[:, -depth:] = True
    name = colours.shares(indices[border])[0][0]
    chosen = border & (indices == colours.NAMES.index(name))
    return name, pixels[chosen].astype(np.float64).mean(axis=0)


def _parts(
    pixels: NDArray[np.uint8], background: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Label the connected parts that stand out from the background; return labels and sizes."""
    distance = np.sqrt(((pixels - background) ** 2).sum(axis=-1))
    threshold = max(40.0, 0.35 * float(np.percentile(distance, 99)))
    labels, number = ndimage.label(distance > threshold, structure=_EIGHT_WAYS)
    sizes = np.bincount(labels.ravel(), minlength=number + 1)[1:].astype(np.float64)
    return labels, sizes


def _count(sizes: NDArray[np.float64]) -> str:
    """Count the parts that are not specks beside the largest one."""
    if sizes.size == 0:
        return "single"
    number = int((sizes >= max(3.0, 0.012 * float(sizes.max()))).sum())
    return "single" if number <= 1 else "few" if number <= 5 else "many"


def _subject(labels: NDArray[np.int32], sizes: NDArray[np.float64]) -> tuple[str, str]:
    """Return the shape and the place of the largest part."""
    if sizes.size == 0:
        return "boxy", "centre"
    number = int(sizes.argmax()) + 1
    rows, columns = ndimage.find_objects(labels)[number - 1]
    body = ndimage.binary_fill_holes(labels[rows, columns] == number)
    middle = columns.start + float(np.nonzero(body)[1].mean()) + 0.5
    across = middle / labels.shape[1]
    place = "left" if across < 0.4 else "right" if across > 0.6 else "centre"
    return _shape(body), place


def _shape(body: NDArray[np.bool_]) -> str:
    """Name an outline by the share of its bounding box that it fills; triangles also by their taper."""
    height, width = body.shape
    fill = float(body.mean())
    aspect = width / height
    if min(height, width) < 3:
        return "boxy" if fill > 0.88 else "irregular"
    if fill > 0.88:
        return "boxy"
    if 0.38 <= fill <= 0.64 and _tapers(body):
        return "triangular"
    if 0.68 <= fill <= 0.86 and 0.5 <= aspect <= 2.0 and not _tapers(body):
        return "round"
    return "irregular"


def _tapers(body: NDArray[np.bool_]) -> bool:
    """Return whether one half of the body, cut either way, is far smaller than the other."""
    total = float(body.sum())
    for profile in (body.sum(axis=1), body.sum(axis=0)):
        half = float(profile[: len(profile) // 2].sum()) / total
        if min(half, 1.0 - half) < 0.36:
            return True
    return False


def _vividness(pixels: NDArray[np.uint8]) -> str:
    """Judge colourfulness by the opponent-colour measure of Hasler and Suesstrunk."""
    red, green, blue = (pixels[..., band].astype(np.float64) for band in range(3))
    first, second = red - green, 0.5 * (red + green) - blue
    spread = np.hypot(first.std(), second.std())
    mean = np.hypot(first.mean(), second.mean())
    return "vivid" if spread + 0.3 * mean > 33.0 else "muted"
