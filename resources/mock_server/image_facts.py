"""Facts of an image, measured on a copy of at most 96 pixels a side and cached by the hash of its
URL.
"""

import base64
import binascii
import hashlib
import io
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError
from scipy import ndimage

KEEP = 4096
"""The most images whose facts are cached."""
SIDE = 96
THUMB = 48
"""The side in pixels of the small square copy by which images are compared."""
_EIGHT_WAYS = np.ones((3, 3), dtype=int)

COLOUR_NAMES = (
    *("red", "orange", "yellow", "green", "turquoise", "blue"),
    *("purple", "pink", "brown", "grey", "black", "white"),
)
_HUES = (
    (15, "red"),
    (42, "orange"),
    (68, "yellow"),
    (158, "green"),
    (195, "turquoise"),
    (258, "blue"),
    (296, "purple"),
    (341, "pink"),
    (361, "red"),
)
"""The upper end of each band of hues, in degrees."""
_INDEX = {name: index for index, name in enumerate(COLOUR_NAMES)}


@dataclass(frozen=True)
class Facts:
    """The facts of one image; every word is a value of `vocabulary.py`."""

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
    # Left out of repr and comparison: seeded choices depend on the repr of the facts.
    thumbnail: NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros((THUMB, THUMB, 3), np.uint8), repr=False, compare=False
    )

    @property
    def colour_names(self) -> tuple[str, ...]:
        """The dominant colours, the largest share first."""
        return tuple(name for name, _ in self.colours)


_seen: OrderedDict[str, Facts] = OrderedDict()
_lock = threading.Lock()


def picture_facts(url: str) -> tuple[str, Facts]:
    """Return the hash and the facts of the image in a `data:` URL.

    The facts of recent images are cached. Raises ValueError with a sentence if the image cannot be
    read.
    """
    key = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    with _lock:
        if key in _seen:
            _seen.move_to_end(key)
            return key, _seen[key]
    facts = _measure(_decoded(url))
    with _lock:
        _seen[key] = facts
        while len(_seen) > KEEP:
            _seen.popitem(last=False)
    return key, facts


def _decoded(url: str) -> bytes:
    head, comma, payload = url.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise ValueError(
            "image_url must be a base64 data:image URL; this mock server fetches nothing."
        )
    try:
        return base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("The base64 of an image_url cannot be decoded.") from None


def _measure(data: bytes) -> Facts:
    try:
        with Image.open(io.BytesIO(data)) as image:
            return analyse(image)
    except (UnidentifiedImageError, Image.DecompressionBombError):
        raise ValueError("The image data is not a picture that can be read.") from None
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise ValueError(f"The image data is damaged: {error}.") from None


def _prepare(image: Image.Image) -> Image.Image:
    """Return a small upright RGB copy, with transparent parts on white."""
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
    """Measure the facts of a decoded or lazily opened image."""
    width, height = _upright_size(image)
    pixels = np.asarray(_prepare(image))
    indices = _colour_indices(pixels)
    background, background_rgb = _background(pixels, indices)
    luminance = float((pixels @ np.array([0.299, 0.587, 0.114])).mean() / 255.0)
    labels, sizes = _parts(pixels, background_rgb)
    shape, place = _subject(labels, sizes)
    return Facts(
        width=width,
        height=height,
        orientation=_orientation(width, height),
        colours=_dominant(_colour_shares(indices)),
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


def _dominant(colours: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Select up to three colours with a share of at least 3%. If only one has this share, a second one
    needs 0.3%, for thin drawings.
    """
    largest = [pair for pair in colours if pair[1] >= 0.03][:3]
    if len(largest) == 1 and len(colours) > 1 and colours[1][1] >= 0.003:
        largest.append(colours[1])
    return tuple(largest)


def _background(
    pixels: NDArray[np.uint8], indices: NDArray[np.intp]
) -> tuple[str, NDArray[np.float64]]:
    """Return the name and the mean RGB value of the most frequent colour along the border."""
    depth = max(1, min(pixels.shape[:2]) // 16)
    border = np.zeros(indices.shape, dtype=bool)
    border[:depth] = border[-depth:] = True
    border[:, :depth] = border[:, -depth:] = True
    name = _colour_shares(indices[border])[0][0]
    chosen = border & (indices == COLOUR_NAMES.index(name))
    return name, pixels[chosen].astype(np.float64).mean(axis=0)


def _parts(
    pixels: NDArray[np.uint8], background: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Label the connected parts that differ from the background. Returns labels and pixel counts."""
    distance = np.sqrt(((pixels - background) ** 2).sum(axis=-1))
    threshold = max(40.0, 0.35 * float(np.percentile(distance, 99)))
    labels, number = ndimage.label(distance > threshold, structure=_EIGHT_WAYS)
    sizes = np.bincount(labels.ravel(), minlength=number + 1)[1:].astype(np.float64)
    return labels, sizes


def _count(sizes: NDArray[np.float64]) -> str:
    """Count the parts that are not tiny compared with the largest one: `single`, `few` or `many`."""
    if sizes.size == 0:
        return "single"
    number = int((sizes >= max(3.0, 0.012 * float(sizes.max()))).sum())
    return "single" if number <= 1 else "few" if number <= 5 else "many"


def _subject(labels: NDArray[np.int32], sizes: NDArray[np.float64]) -> tuple[str, str]:
    """Return the shape and the horizontal position of the largest part."""
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
    """Name an outline by the share of its bounding box that it fills, and whether it tapers."""
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
    """Tell whether the upper and lower half, or the left and right half, have very different areas."""
    total = float(body.sum())
    for profile in (body.sum(axis=1), body.sum(axis=0)):
        half = float(profile[: len(profile) // 2].sum()) / total
        if min(half, 1.0 - half) < 0.36:
            return True
    return False


def _vividness(pixels: NDArray[np.uint8]) -> str:
    """Classify colourfulness by the opponent-colour measure of Hasler and Suesstrunk (2003)."""
    red, green, blue = (pixels[..., band].astype(np.float64) for band in range(3))
    first, second = red - green, 0.5 * (red + green) - blue
    spread = np.hypot(first.std(), second.std())
    mean = np.hypot(first.mean(), second.mean())
    return "vivid" if spread + 0.3 * mean > 33.0 else "muted"


def _hue(
    rgb: NDArray[np.float64], top: NDArray[np.float64], span: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the hue of each pixel in degrees; 0 for grey."""
    safe = np.where(span > 0, span, 1.0)
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    hue = np.where(
        top == red,
        ((green - blue) / safe) % 6,
        np.where(top == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    return np.where(span > 0, hue * 60.0, 0.0)


def _colour_indices(pixels: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return, for every pixel of an (..., 3) array, the index of its colour in COLOUR_NAMES."""
    rgb = pixels.astype(np.float64) / 255.0
    top = rgb.max(axis=-1)
    span = top - rgb.min(axis=-1)
    strength = np.where(top > 0, span / np.where(top > 0, top, 1.0), 0.0)
    hue = _hue(rgb, top, span)

    names = np.zeros(top.shape, dtype=np.intp)
    lower = 0
    for upper, name in _HUES:
        names[(hue >= lower) & (hue < upper)] = _INDEX[name]
        lower = upper
    reddish = (hue < 15) | (hue >= 341)
    earthy = (hue >= 15) & (hue < 50)
    names[earthy & (top < 0.68)] = _INDEX["brown"]
    names[(hue >= 8) & (hue < 50) & (strength < 0.5) & (top < 0.82)] = _INDEX["brown"]
    names[reddish & (top < 0.38) & (strength < 0.75)] = _INDEX["brown"]
    names[reddish & (strength < 0.5) & (top > 0.7)] = _INDEX["pink"]
    names[(strength < 0.14) | (span < 0.06)] = _INDEX["grey"]
    names[(strength < 0.12) & (top > 0.88)] = _INDEX["white"]
    names[(top < 0.17) | ((top < 0.24) & (span < 0.10))] = _INDEX["black"]
    return names


def _colour_shares(indices: NDArray[np.intp]) -> list[tuple[str, float]]:
    """Return (name, share) of all colours that occur, the largest share first."""
    counts = np.bincount(indices.ravel(), minlength=len(COLOUR_NAMES))
    total = max(1, int(counts.sum()))
    order = sorted(range(len(COLOUR_NAMES)), key=lambda index: (-int(counts[index]), index))
    return [
        (COLOUR_NAMES[index], round(int(counts[index]) / total, 3))
        for index in order
        if counts[index]
    ]
