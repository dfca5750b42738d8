"""Figures as they are drawn, bars and plots of a report: sizes, points, intervals, numbers, names."""

import io
import math
import warnings
from functools import partial
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image, ImageColor

from methods.release_statistics import CategoryCounts, Distribution
from methods.results.shapes import RadarData, ScorePlane, ScorePoint
from resources.reports import figures
from resources.reports.charts import (
    WIDTHS,
    differences_figure,
    in_widths,
    paper_figures,
    plane_figure,
    radar_figure,
    scores_figure,
)
from resources.reports.estimate import ReportEstimate, Scale
from resources.reports.item_charts import ItemsDot, difficulty_figure
from resources.reports.report_plots import quadrants
from resources.reports.report_scores import CandidateLabel, DisplayedMetric, ScoresByJudge
from resources.reports.report_shape import histogram_chart, share_chart
from tests.methods.results.test_tables import HOSTILE, model, pair, results
from tests.resources.reports.report_rows import tables_of

LINES = [
    (HOSTILE, (10.0, 20.0, 30.0)),
    ("gap", (50.0, None, 70.0)),
    ("大 \U0001f989", (1.0, 2.0, 3.0)),
]
RADAR = RadarData("radar-x", "Score by x", ("one", "two", "three"), (0.0, 100.0), LINES)
PLANE = ScorePlane(
    "quadrants-x-y",
    ("x", "y"),
    ((0.0, 10.0), (0.0, None)),
    [
        (HOSTILE, ScorePoint(4.0, 3.0, 5.5), ScorePoint(2.0, 1.0, 4.0)),
        ("steady", ScorePoint(6.0, 6.0, 6.0), ScorePoint(math.inf, 3.0, math.inf)),
    ],
    (5.0, 3.0),
    (("worse", "better"), ("less", "more")),
    1,
)


def on_paper(shape: RadarData | ScorePlane) -> list[tuple[str, Any]]:
    is_radar = isinstance(shape, RadarData)
    n, draw = (len(shape.lines), radar_figure) if is_radar else (len(shape.points), plane_figure)
    return list(paper_figures(shape.name, n, partial(draw, shape)))


@pytest.mark.parametrize("shape", [RADAR, PLANE])
def test_figures_for_papers_have_the_widths_of_columns(shape: RadarData | ScorePlane) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, figure in on_paper(shape):
            width = next(width for size, width in WIDTHS.items() if name.endswith(size))
            svg = ElementTree.fromstring(figures.svg(figure))
            assert float(svg.attrib["width"].removesuffix("pt")) == pytest.approx(72 * width)
            image = Image.open(io.BytesIO(figures.png(figure)))
            assert image.width == round(figures.PRINT_DPI * width)
            sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text()]
            assert min(sizes) >= figures.PRINT_SMALL


def test_a_line_of_a_radar_has_the_scores_and_a_gap_where_there_is_none() -> None:
    lines = {line.get_label(): line for line in radar_figure(RADAR, 3, 3, "below").axes[0].lines}
    first = np.transpose(lines[figures.printable(figures.cut(HOSTILE, 28))].get_data())
    # The first axis points up, the others follow clockwise.
    third = math.sin(2 * math.pi / 3), math.cos(2 * math.pi / 3)
    expected = [(0, 0.1), (0.2 * third[0], 0.2 * third[1]), (-0.3 * third[0], 0.3 * third[1])]
    assert first[:3] == pytest.approx(np.array(expected)) and first[3] == pytest.approx(first[0])
    gap = lines["gap"].get_ydata()
    assert np.isnan(gap[1]) and gap[0] == pytest.approx(0.5)
    # More models than colours are said.
    many = [(f"model-{number}", (1.0, 2.0, 3.0)) for number in range(20)]
    (legend,) = radar_figure(RADAR._replace(lines=many), 3, 3, "below").legends
    assert "the best 12 of 20 models" in legend.get_title().get_text().replace("\n", " ")
    assert len(legend.get_texts()) == 12


@pytest.mark.parametrize("draw", [scores_figure, differences_figure])
def test_figures_of_scores_have_the_widths_of_columns_and_texts_inside(draw: Any) -> None:
    long = "Qwen2.5-VL-72B-Instruct-AWQ (T=0.7)"
    two = results([model(long, 60.0, 1), model("b", 40.0, 2)], [pair(long, "b", 20.0, 0.01)])
    for name, figure in in_widths("x", partial(draw, two)):
        assert figure.dpi == 300
        assert figure.get_figwidth() <= WIDTHS[name.removeprefix("x-")]
        texts = [text for axes in figure.axes for text in axes.findobj(Text) if text.get_text()]
        boxes = boxes_of(figure, texts)
        assert min(box.x0 for box in boxes) >= 0
        assert max(box.x1 for box in boxes) <= figure.bbox.width


def test_a_difference_has_the_other_sign_in_the_other_cell() -> None:
    two = results([model("a", 60.0, 1), model("b", 40.0, 2)], [pair("a", "b", 20.0, 0.01)])
    (image,) = differences_figure(two, 3).axes[0].images
    assert image.get_array().tolist() == [[None, 20], [-20, None]]


def boxes_of(figure: Any, texts: list[Text]) -> list[Any]:
    """Where texts stand in a figure that is drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return [text.get_window_extent(canvas.get_renderer()) for text in texts]


def test_intervals_reach_to_their_ends_and_what_is_infinite_stands_above_the_axis() -> None:
    figure = plane_figure(PLANE, 3, 3, "below")
    (axes,) = figure.axes
    ends = [bars.get_segments()[0].tolist() for bars in axes.collections]
    assert ends[:2] == [[[3.0, 2.0], [5.5, 2.0]], [[4.0, 1.0], [4.0, 4.0]]]
    (infinite,) = [tick for tick in axes.get_yticks() if tick > 4.0 and tick == ends[3][1][1]]
    assert ends[3] == [[6.0, 3.0], [6.0, infinite]]
    assert axes.get_yticklabels()[-1].get_text() == "∞"
    assert "1 without y" in figure.legends[0].get_title().get_text().replace("\n", " ")


def test_items_that_tell_models_apart_the_wrong_way_round_are_red() -> None:
    dots = [ItemsDot(0.5, 0.25, 4, ""), ItemsDot(0.5, -0.25, 1, "")]
    (marks,) = difficulty_figure(dots, 3).axes[0].collections
    assert marks.get_offsets().tolist() == [[50.0, 0.25], [50.0, -0.25]]
    colours = marks.get_facecolors()[:, :3].tolist()
    assert colours[1] == pytest.approx(np.array(ImageColor.getrgb(figures.BAD)) / 255)
    assert colours[0] != colours[1] and marks.get_sizes()[0] == 4 * marks.get_sizes()[1]


def drawn(figure: Any, label: str = "x") -> ElementTree.Element:
    return ElementTree.fromstring(figures.inline_svg(figure, label))


def test_a_page_shows_the_words_of_each_mark_and_the_label() -> None:
    words = [f"{HOSTILE}: 1", "b: 2"]
    svg = drawn(plane_figure(PLANE, 3, 3, "none", words), f'"{HOSTILE}')
    assert svg.get("aria-label") == f'"{HOSTILE}'
    assert [title.text for title in svg.iter("title")] == words
    # A corner of a radar without a score has none.
    gap = RADAR._replace(lines=[("gap", (None, 20.0, 70.0))])
    svg = drawn(radar_figure(gap, 2, 2, "none", ["b: 20", "c: 70"]))
    assert [title.text for title in svg.iter("title")] == ["b: 20", "c: 70"]


@pytest.mark.filterwarnings("ignore:Glyph .* missing")
def test_a_name_with_control_characters_is_drawn_without_them() -> None:
    figure = figures.new_figure(3, 3)
    figure.text(0.5, 0.5, "\x1b[31mred\uffff")
    assert [text.text for text in drawn(figure).iter("text")] == ["\ufffd[31mred\ufffd"]
    assert ElementTree.fromstring(figures.svg(figure)).tag.endswith("svg")


def test_two_figures_of_a_page_share_no_id_and_use_what_is_theirs() -> None:
    def ids(svg: ElementTree.Element) -> set[str]:
        return {each.attrib["id"] for each in svg.iter() if "id" in each.attrib}

    one, other = (drawn(plane_figure(PLANE, width, 3, "none")) for width in (3, 4))
    assert ids(one) and not ids(one) & ids(other)
    assert {use.attrib["href"].removeprefix("#") for use in one.iter("use")} <= ids(one)


RATING = DisplayedMetric("Rating", "micro", 0, Scale(1, 10), True, False)
ALIGNMENT = DisplayedMetric("Alignment score", "micro", 3, Scale(None, None), True, True)


def blocks_of(metrics: list[DisplayedMetric], **scores: tuple[float, ...]) -> list[Any]:
    """The plot and table of a model for each name: (rating, alignment with its interval)."""
    rows = []
    for name, (rating, alignment, low, high) in scores.items():
        of = {"model": name, "label": name, "settings": None, "form": "floor", "subset_label": ""}
        for metric, *values in (
            (RATING, rating, rating, rating),
            (ALIGNMENT, alignment, low, high),
        ):
            of_metric = {"metric": metric.name, "aggregation": "micro", "place": metric.place}
            estimate = dict(zip(("value", "ci_low", "ci_high"), values, strict=True))
            rows.append({**of, **of_metric, **estimate, "n_units": 4})
    judge = ScoresByJudge(judge="j", version="v", scores=rows, shown_metrics=metrics, candidates=())
    return quadrants(judge, [CandidateLabel(name, (), name) for name in scores])


def test_models_stand_beside_the_medians_of_both_scores():
    blocks = blocks_of([RATING, ALIGNMENT], a=(10, 4, 3, 4), b=(1, 1, 1, 1), c=(5.5, 2, 1, 3))
    (table,) = tables_of(blocks).values()
    assert [[cell.text for cell in line[2:4]] for line in table.lines] == [
        *(["10.00", "4.00"], ["1.00", "1.00"], ["5.50", "2.00"])
    ]
    assert [line[-1].text for line in table.lines] == [
        "better, steadier",
        "worse, less steady",
        "as good as the median, as steady as the median",
    ]
    assert blocks_of([RATING], a=(5, 2, 2, 2)) == [], "without the inverse of a spread"


def test_bars_begin_at_the_smallest_value_and_many_values_are_added_up() -> None:
    binned = histogram_chart(Distribution("Words", "words", "answers", (77, 172)))
    assert (binned.bars[0].label, binned.bars[-1].label) == ("70–79", "170–179")
    many = share_chart(CategoryCounts("Task", "items", tuple((f"t{n}", 1) for n in range(15))))
    assert (len(many.bars), many.bars[-1].label, many.bars[-1].n) == (13, "3 others", 3)


def test_an_estimate_a_number_and_a_difference_are_shown_and_placed_as_their_scale_says() -> None:
    assert (ReportEstimate().shown, ReportEstimate(41.236).shown) == ("–", "41.2")
    assert ReportEstimate(50.0).interval == ""
    assert ReportEstimate(50.0, 40.04, 60.0).interval == "40.0–60.0"
    assert ReportEstimate(-2.0, -5.0, 1.0).interval == "−5.0 to 1.0"
    assert [ReportEstimate(value).shade for value in (None, -3.0, 41.2, 104.0)] == [0, 0, 0.412, 1]
    shown = [Scale().shown(each) for each in (7.0, -0.01, math.nan)]
    assert shown == ["7.0", "0.0", "–"] and Scale(1, 10).shown(7.0) == "7.00"
    infinite = Scale(2, None).shown(math.inf), Scale(None, None).shown(-math.inf)
    assert infinite == ("∞", "−∞")
    shown = [Scale().difference(each) for each in (2.0, -2.0, 0.0, 0.04, None)]
    assert shown == ["+2.0", "−2.0", "0.0", "0.0", "–"]
    assert [Scale(10, 100).place(each) for each in (10, 55, 100, 5, math.inf)] == [0, 0.5, 1, 0, 1]
    assert Scale(None, None).place(3.0) == 0.0
    assert Scale(2, None).closed([3.0, math.inf, None, 8.0]) == Scale(2, 8.0)
    assert Scale(None, None).closed([]) == Scale(0.0, 1.0)
    assert Scale(0, 100).closed([3.0]) == Scale(0, 100)
