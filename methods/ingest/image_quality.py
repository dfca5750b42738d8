"""Image quality measures, from one decoding: hashes, size, blur, entropy, brightness, contrast.

`image_check.py` first checks that the bytes are an image. The limits for the measures are in
`image_filters.py`, orientation and pixel formats in `picture.py`.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from methods.ingest.image_check import open_checked, truncated_on_error
from methods.ingest.image_rights import rights_of
from methods.ingest.picture import on_white, opacity, size_as_shown, upright_transpose

WORKING_SIDE = 256
"""Longer side, in pixels, of the reduced copy that is measured. Smaller images are not reduced."""

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
    """Pixels as displayed, after turning; so is `height`."""
    height: int
    n_bytes: int
    aspect: float
    """Width over height, as shown."""
    blur: float
    """Variance of the Laplacian in squared grey levels, 0 to 1 040 400; low is blurred."""
    entropy: float
    """Shannon entropy of the grey levels in bits: 0 (only one level) to 8 (all equally often)."""
    brightness: float
    """Mean grey level, 0 to 255."""
    contrast: int
    """Highest minus lowest grey level, 0 to 255."""
    visible: float
    """Mean opacity, 0 (every pixel is transparent) to 1."""
    phash: str
    """64-bit perceptual hash of the upright image, 16 hex digits."""
    rights: str | None = None
    """The rights statements in the file, one per line; None if there are none."""


def measure_image(data: bytes) -> ImageFacts:
    """Measure the bytes of an image file.

    Raises:
        ImageRejected: The reasons of `open_checked`; truncated also if the image cannot be decoded or
            converted (a broken palette).
    """
    header, image = open_checked(data)
    mode = image.mode
    with truncated_on_error(header.mime):
        # A JPEG stores luma separately. In mode "L" the decoder still reads the file to its end, but
        # skips the arithmetic of colours, a third of its time.
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
    """Compute the variance of the Laplacian of a grey image, shape (height, width), a blur measure.

    It is low if nothing is sharp. The Laplacian is the sum of the four neighbours minus four times the
    pixel, at inner pixels. The population variance is computed exactly; it is 0 if there is no inner
    pixel. Source: Pech-Pacheco et al., "Diatom autofocusing in brightfield microscopy", ICPR 2000.
    """
    if min(grey.shape) < 3:
        return 0.0
    pixels = grey.astype(np.int16)
    laplacian = pixels[1:-1, 1:-1] * np.int16(-4)
    for neighbours in (pixels[:-2, 1:-1], pixels[2:, 1:-1], pixels[1:-1, :-2], pixels[1:-1, 2:]):
        laplacian += neighbours
    # Integers below 2^53 are exact in float64. A dot product is avoided: NumPy computes it in a thread
    # pool, which takes milliseconds while other processes are busy.
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
    # Area averaging, as in `_averaged`: a smoother filter would blur an image of 300 pixels, but not
    # an image of 256, which is not resized.
    return averaged.resize((width, height), Image.Resampling.BOX)


def _entropy(levels: NDArray[np.int_]) -> float:
    """Shannon entropy in bits, -sum p log2 p, where p is the share of each level that occurs."""
    shares = levels[levels > 0] / levels.sum()
    # Adding zero turns the -0.0 of a single level into 0.0.
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _perceptual_hash(averaged: Image.Image) -> str:
    # Imported here, because it imports SciPy.
    import imagehash

    # The same size and filter as in imagehash, but faster. The working copy is not used: it is reduced
    # by a fraction, which would change some bits between two sizes of one image.
    side = (_HASH_SIDE, _HASH_SIDE)
    return str(imagehash.phash(averaged.resize(side, Image.Resampling.LANCZOS, reducing_gap=2.0)))


def _is_animated(image: Image.Image) -> bool:
    # The second image that some cameras add to a JPEG (format MPO) is no animation.
    if image.format == "MPO":
        return False
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:  # a GIF that ends inside the header of its second frame has only one
        return False
