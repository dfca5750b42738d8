"""The picture of agreement: every measure in its colour, whatever people are called."""

import io
from typing import Any

import pytest
from PIL import Image, ImageColor

from resources.reports.agreement_plot import MAX_LINES, agreement_png
from resources.reports.figures import PALETTE


def row(raters: str = "all", measure: str = "raw", **changed: Any) -> dict[str, Any]:
    made = {"kind": "rewrite", "dimension": "verdict", "raters": raters, "measure": measure}
    return made | {"value": 0.5, "low": 0.3, "high": 0.7, "reason": None} | changed


def opened(rows: list[dict[str, Any]]) -> Image.Image:
    png = agreement_png(rows)
    assert png is not None
    return Image.open(io.BytesIO(png)).convert("RGB")


def shows(image: Image.Image, colour: str) -> bool:
    """Whether a colour is there, as near as a palette of 256 comes to it."""
    wanted = ImageColor.getrgb(colour)
    found = image.getcolors(maxcolors=2**24)
    assert found is not None
    return any(
        max(abs(a - b) for a, b in zip(wanted, pixel, strict=True)) <= 2  # type: ignore[call-overload]
        for _, pixel in found
    )


def test_each_measure_with_a_value_has_its_colour() -> None:
    image = opened([row(), row(measure="fleiss_kappa", value=-0.5, low=-1.0, high=0.0)])
    assert shows(image, PALETTE[0])
    assert shows(image, PALETTE[1])
    nothing = row(measure="mae", value=None, low=None, high=None, reason="No item.")
    assert not shows(opened([row(), row(measure="cohen_kappa"), nothing]), PALETTE[2])


def test_without_any_value_there_is_no_picture() -> None:
    assert agreement_png([]) is None
    assert agreement_png([row(value=None, low=None, high=None, reason="No item.")]) is None


@pytest.mark.parametrize("name", ["$\\frac{$", "王小明", "<b>", "a" * 500])
def test_any_name_is_drawn(name: str) -> None:
    assert opened([row(f"{name}|z"), row(f"{name}|z", "mae", value=12.0, low=0.0, high=20.0)]).width


def test_beyond_what_can_be_read_pairs_are_left_out_and_all_together_is_not() -> None:
    pairs = [row(f"a{number:03}|b") for number in range(200)]
    image = opened([*pairs, row("z|z", "pearson"), row("all", "kendall")])
    assert image.height == opened(pairs[:MAX_LINES]).height
    # Measures have their colours in the order of the alphabet: kendall, pearson, raw.
    assert shows(image, PALETTE[0])
    assert shows(image, PALETTE[2])
    assert not shows(image, PALETTE[1])
