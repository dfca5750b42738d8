"""Radars and quadrants as they are drawn: sizes, points, intervals, and names that are no formulas."""

import io
import math
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from methods.results.shapes import Plane, Point, Radar
from resources.reports import figures
from resources.reports.print_figures import WIDTHS, plane_figures, radar_figures
from tests.methods.results.test_tables import HOSTILE

RADAR = Radar(
    "radar-x",
    "Score by x",
    ("one", "two", "three"),
    (0.0, 100.0),
    [
        (HOSTILE, (10.0, 20.0, 30.0)),
        ("gap", (50.0, None, 70.0)),
        ("大 \U0001f989", (1.0, 2.0, 3.0)),
    ],
)
PLANE = Plane(
    "quadrants-x-y",
    ("x", "y"),
    ((0.0, 10.0), (0.0, None)),
    [
        (HOSTILE, Point(4.0, 3.0, 5.5), Point(2.0, 1.0, 4.0)),
        ("steady", Point(6.0, 6.0, 6.0), Point(math.inf, 3.0, math.inf)),
    ],
    (5.0, 3.0),
    (("worse", "better"), ("less", "more")),
    1,
)


@pytest.mark.parametrize("drawn", [radar_figures(RADAR), plane_figures(PLANE)])
def test_pictures_have_the_widths_of_columns(drawn) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, figure in drawn:
            width = next(width for size, width in WIDTHS.items() if name.endswith(size))
            svg = ElementTree.fromstring(figures.svg(figure))
            assert float(svg.attrib["width"].removesuffix("pt")) == pytest.approx(72 * width)
            image = Image.open(io.BytesIO(figures.png(figure)))
            assert image.width == round(figures.PRINT_DPI * width)
            sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text()]
            assert min(sizes) >= figures.PRINT_SMALL


def test_a_line_of_a_radar_has_the_scores_and_a_gap_where_there_is_none() -> None:
    (_, figure), _ = radar_figures(RADAR)
    first, gap, _ = figure.axes[0].get_lines()
    assert list(first.get_ydata()) == [10.0, 20.0, 30.0, 10.0], "it ends where it begins"
    assert np.isnan(gap.get_ydata()[1]) and gap.get_ydata()[2] == 70.0
    assert figure.axes[0].get_ylim() == (0.0, 100.0)


def test_intervals_reach_to_their_ends_and_what_is_infinite_stands_above_the_axis() -> None:
    (_, figure), _ = plane_figures(PLANE)
    (axes,) = figure.axes
    ends = [bars.get_segments()[0].tolist() for bars in axes.collections]
    assert ends[:2] == [[[3.0, 2.0], [5.5, 2.0]], [[4.0, 1.0], [4.0, 4.0]]]
    (infinite,) = [tick for tick in axes.get_yticks() if tick > 4.0 and tick == ends[3][1][1]]
    assert ends[3] == [[6.0, 3.0], [6.0, infinite]]
    assert axes.get_yticklabels()[-1].get_text() == "∞"
    assert "1 without y" in figure.legends[0].get_title().get_text().replace("\n", " ")


def test_more_models_than_colours_are_said() -> None:
    many = [(f"model-{number}", (1.0, 2.0, 3.0)) for number in range(20)]
    (_, figure), _ = radar_figures(RADAR._replace(lines=many))
    told = figure.legends[0].get_title().get_text().replace("\n", " ")
    assert len(figure.axes[0].get_lines()) == 12 and "the best 12 of 20 models" in told
