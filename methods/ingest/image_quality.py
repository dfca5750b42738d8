"""Measurements of an image, from one decoding: hashes, size, blur, entropy, brightness, contrast.

What belongs here: computing them from an image's bytes and pixels. What does not: checking that the
bytes are an image (`image_check.py`, called first), limits (`image_filters.py`), orientation and pixel
formats (`picture.py`), texts in the file (`image_rights.py`).
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from methods.ingest.image_check import MAX_BYTES, MAX_PIXELS, open_checked, truncated_on_error
from methods.ingest.image_rights import rights_of
from methods.ingest.picture import on_white, opacity, size_as_shown, upright_transpose

WORKING_SIDE = 256
"""Longer side in pixels of the copy that is measured; a smaller image is measured in its own size."""

_HASH_SIDE = 32


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """Measurements of one image. Grey is ITU-R 601 luma, 0 (black) to 255, transparency on white.

    Blur, entropy, brightness and contrast are measured on the working copy: the grey image reduced to a
    longer side of WORKING_SIDE by area averaging, so that images of different sizes can be compared.
    """

    image_id: str
    """SHA-256 of the bytes, hex."""
    md5: str
    """MD5 of the bytes, hex: the name under which other data sets list their images."""
    mime_type: str
    mode: str
    """Pillow's name for the pixels as they are stored, such as RGB, P or CMYK."""
    animated: bool
    """Whether there is a second frame. All other measurements are of the first frame."""
    rotated: bool
    """Whether an orientation tag requires turning or mirroring before display."""
    width: int
    """In pixels as displayed, after turning; so is height."""
    height: int
    n_bytes: int
    aspect: float
    """Width over height, as shown."""
    blur: float
    """Variance of the Laplacian in squared grey levels, 0 to 1 040 400; low is blurred."""
    entropy: float
    """Shannon entropy of the grey levels, 0 (one level alone) to 8 bits (all equally often)."""
    brightness: float
    """Mean grey level, 0 to 255."""
    contrast: int
    """Highest less lowest grey level, 0 to 255."""
    visible: float
    """Mean opacity, 0 (every pixel is transparent) to 1."""
    phash: str
    """64-bit perceptual hash of the upright picture, 16 hex digits."""
    rights: str | None = None
    """What the file itself says of rights; None if nothing."""


def measure_image(
    data: bytes, max_bytes: int = MAX_BYTES, max_pixels: int = MAX_PIXELS
) -> ImageFacts:
    """Measure an image.

    It is stricter than `check` in one point: an image that decodes but cannot be converted (a broken
    palette) counts as truncated.

    Args:
        data: The bytes of the file.
        max_bytes: The most bytes.
        max_pixels: The most pixels.

    Returns:
        All measurements.

    Raises:
        ImageRejected: The reasons of `image_check.check`.
    """
    header, image = open_checked(data, max_bytes, max_pixels)
    mode = image.mode
    with truncated_on_error(header.mime):
        # A JPEG holds its luma by itself. Asked for that alone, the decoder still reads the file to
        # its end but spares the arithmetic of the colours, a third of its time.
        image.draft("L", None)
        grey = _averaged(on_white(image, "L"))
        visible = opacity(image)
    turn = upright_transpose(image)
    if turn is not None:
        grey = grey.transpose(turn)
    working_copy = _working_copy(grey)
    width, height = size_as_shown(image)
    levels = np.asarray(working_copy.histogram())
    present = np.flatnonzero(levels)
    return ImageFacts(
        image_id=hashlib.sha256(data).hexdigest(),
        md5=hashlib.md5(data, usedforsecurity=False).hexdigest(),
        mime_type=header.mime,
        mode=mode,
        animated=_is_animated(image),
        rotated=turn is not None,
        width=width,
        height=height,
        n_bytes=len(data),
        aspect=width / height,
        blur=laplacian_variance(np.asarray(working_copy)),
        entropy=_entropy(levels),
        brightness=float(levels @ np.arange(256) / levels.sum()),
        contrast=int(present[-1] - present[0]),
        visible=visible,
        phash=_perceptual_hash(grey),
        rights=rights_of(image),
    )


def laplacian_variance(grey: NDArray[np.uint8]) -> float:
    """Variance of the Laplacian of a grey image, shape (height, width): low if nothing is sharp.

    The Laplacian is the sum of the four neighbours minus four times the pixel, at inner pixels; the
    variance is that of the population, exact. 0 if there is no inner pixel. Source: Pech-Pacheco et
    al., "Diatom autofocusing in brightfield microscopy", ICPR 2000.
    """
    if min(grey.shape) < 3:
        return 0.0
    pixels = grey.astype(np.int16)
    laplacian = pixels[1:-1, 1:-1] * np.int16(-4)
    for neighbours in (pixels[:-2, 1:-1], pixels[2:, 1:-1], pixels[1:-1, :-2], pixels[1:-1, 2:]):
        laplacian += neighbours
    # Integers below 2^53 are exact in float64. No dot product: NumPy computes that in a pool of
    # threads, which takes milliseconds while other processes are busy.
    values = laplacian.astype(np.float64)
    n, total, squares = values.size, int(values.sum()), int(np.square(values).sum())
    return (n * squares - total * total) / n**2


def _averaged(grey: Image.Image) -> Image.Image:
    """The grey image, reduced by a whole factor to less than twice the working size."""
    return grey.reduce(max(1, max(grey.size) // WORKING_SIDE))


def _working_copy(averaged: Image.Image) -> Image.Image:
    longer = max(averaged.size)
    if longer <= WORKING_SIDE:
        return averaged
    width, height = (max(1, round(side * WORKING_SIDE / longer)) for side in averaged.size)
    # Area averaging again: a smoother filter would blur an image of 300 pixels, but not one of 256.
    return averaged.resize((width, height), Image.Resampling.BOX)


def _entropy(levels: NDArray[np.int_]) -> float:
    """H = -sum p log2 p over the levels that occur, in bits (Shannon 1948)."""
    shares = levels[levels > 0] / levels.sum()
    # Adding zero turns the -0.0 of a single level into 0.0.
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _perceptual_hash(averaged: Image.Image) -> str:
    # Imported here, because it imports SciPy.
    import imagehash

    # imagehash's own size and filter, only faster. Not from the working copy: its uneven areas would
    # change some bits between two sizes of one image.
    side = (_HASH_SIDE, _HASH_SIDE)
    return str(imagehash.phash(averaged.resize(side, Image.Resampling.LANCZOS, reducing_gap=2.0)))


def _is_animated(image: Image.Image) -> bool:
    # Some cameras add a second image to a JPEG (format MPO): that is no animation.
    if image.format == "MPO":
        return False
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:  # a GIF that ends inside the header of its second frame has only one
        return False
