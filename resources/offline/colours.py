"""Colour names of pixels.

What belongs here: mapping RGB values to one of twelve everyday colour names, by plain arithmetic.
Part of the offline stand-in; no model is called.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NAMES = (
    "red",
    "orange",
    "yellow",
    "green",
    "turquoise",
    "blue",
    "purple",
    "pink",
    "brown",
    "grey",
    "black",
    "white",
)
_INDEX = {name: index for index, name in enumerate(NAMES)}

# Upper end of each hue band in degrees; red also takes what lies above the last band.
_BANDS = (
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


def _hue(
    rgb: NDArray[np.float64], top: NDArray[np.float64], span: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the hue in degrees, 0 where there is none."""
    safe = np.where(span > 0, span, 1.0)
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    hue = np.where(
        top == red,
        ((green - blue) / safe) % 6,
        np.where(top == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    return np.where(span > 0, hue * 60.0, 0.0)


def name_indices(pixels: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return, for every pixel of an (..., 3) array, the index of its colour in NAMES."""
    rgb = pixels.astype(np.float64) / 255.0
    top = rgb.max(axis=-1)
    span = top - rgb.min(axis=-1)
    strength = np.where(top > 0, span / np.where(top > 0, top, 1.0), 0.0)
    hue = _hue(rgb, top, span)

    names = np.zeros(top.shape, dtype=np.intp)
    lower = 0
    for upper, name in _BANDS:
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


def shares(indices: NDArray[np.intp]) -> list[tuple[str, float]]:
    """Return (name, share) of the colours present, the largest share first."""
    counts = np.bincount(indices.ravel(), minlength=len(NAMES))
    total = max(1, int(counts.sum()))
    order = sorted(range(len(NAMES)), key=lambda index: (-int(counts[index]), index))
    return [
        (NAMES[index], round(int(counts[index]) / total, 3)) for index in order if counts[index]
    ]
