"""The report's plots: every number has its place, the same numbers give the same picture."""

import base64
import re
import warnings
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from resources.reports import figures, score_plots
from resources.reports.estimate import Estimate
from resources.reports.figures import PALETTE
from resources.reports.score_plots import bin_edges, counts_plot, scores_plot, summary

DIMENSIONS = ["Overall", "Creativity"]
UNITS = [("turns", "dialogues")]
HOSTILE = "</svg><script>alert(1)</script>--> $\\frac{$ 王"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were drawn, as matplotlib has them."""
    kept: list[Figure] = []
    write = score_plots.svg_source

    def keep(figure: Figure) -> str:
        kept.append(figure)
        return write(figure)

    monkeypatch.setattr(score_plots, "svg_source", keep)
    return kept


def svg(source: str | None) -> str:
    assert source is not None
    head, _, content = source.partition(",")
    assert head == "data:image/svg+xml;base64"
    return base64.b64decode(content).decode()


def test_each_model_has_its_means_and_intervals_in_its_colour(drawn) -> None:
    scores_plot(
        {
            "strong": [Estimate(80.0, 70.0, 85.0), Estimate(60.0, 60.0, 60.0)],
            "weak": [Estimate(20.0, 10.0, 40.0), Estimate()],
        },
        DIMENSIONS,
    )
    (axes,) = drawn[0].axes
    strong, weak = axes.containers
    assert list(strong.lines[0].get_xdata()) == [80.0, 60.0]
    assert list(weak.lines[0].get_xdata()) == [20.0], "what has no mean has no dot"
    (bars,) = strong.lines[2]
    assert [sorted(segment[:, 0]) for segment in bars.get_segments()] == [[70, 85], [60, 60]]
    assert [strong.lines[0].get_color(), weak.lines[0].get_color()] == list(PALETTE[:2])
    assert [label.get_text() for label in axes.get_yticklabels()] == DIMENSIONS
    # Below each other inside the band of a dimension, the first on top.
    places = [line.lines[0].get_ydata()[0] for line in (strong, weak)]
    assert -0.5 < places[0] < places[1] < 0.5


def test_an_interval_from_zero_is_drawn_from_zero(drawn) -> None:
    scores_plot({"m": [Estimate(5.0, 0.0, 9.0)]}, DIMENSIONS[:1])
    (bars,) = drawn[0].axes[0].containers[0].lines[2]
    assert [list(segment[:, 0]) for segment in bars.get_segments()] == [[0.0, 9.0]]


def test_more_models_than_colours_differ_in_their_marks(drawn) -> None:
    many = {f"m{number}": [Estimate(50.0, 40.0, 60.0)] for number in range(len(PALETTE) + 1)}
    scores_plot(many, DIMENSIONS[:1])
    first, *_, last = [container.lines[0] for container in drawn[0].axes[0].containers]
    assert first.get_color() == last.get_color() and first.get_marker() != last.get_marker()


def test_without_a_score_or_a_value_there_is_no_plot() -> None:
    assert scores_plot({}, DIMENSIONS) is None
    assert scores_plot({"m": [Estimate(), Estimate()]}, DIMENSIONS) is None
    assert counts_plot({"Turns": []}, UNITS) is None


def test_any_name_is_drawn_and_ends_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = svg(scores_plot({HOSTILE: [Estimate(5.0, 1.0, 9.0)]}, DIMENSIONS[:1]))
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawn).iter()}
    assert "script" not in tags and "text" not in tags, "letters are outlines"
    assert not re.search(r"(?:href|src)=\"(?!#)|@import", drawn)


def test_the_same_numbers_give_the_same_bytes() -> None:
    scores = {"m": [Estimate(5.0, 1.0, 9.0), Estimate(7.0, 6.0, 8.0)]}
    assert scores_plot(scores, DIMENSIONS) == scores_plot(scores, DIMENSIONS)
    counted = {"Turns per dialogue": [1, 2, 2]}
    assert counts_plot(counted, UNITS) == counts_plot(counted, UNITS)


@pytest.mark.parametrize(
    "values",
    [[5], [0], [1, 1, 2], [3, 4, 5, 13], list(range(40, 260, 7)), [0, 10**6], [99, 100], [7, 18]],
)
def test_a_histogram_counts_every_value_once(drawn, values) -> None:
    edges = bin_edges(values)
    assert 7 <= len(edges) <= 13
    assert len({round(b - a, 6) for a, b in zip(edges, edges[1:], strict=False)}) == 1
    counts_plot({"Turns": values}, UNITS)
    (axes,) = drawn[0].axes
    assert sum(bar.get_height() for bar in axes.patches) == len(values)
    assert (axes.get_xlabel(), axes.get_ylabel()) == UNITS[0]


def test_edges_of_bins_stand_between_whole_numbers() -> None:
    assert bin_edges([5, 12]) == [4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5]
    # Four numbers are made six: one to the left, one to the right.
    assert bin_edges([5, 8]) == [3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]
    # 70 to 179 in steps of ten.
    assert bin_edges([77, 172])[0] == 69.5 and bin_edges([77, 172])[-1] == 179.5


def test_the_values_in_words() -> None:
    assert summary([1, 2, 2, 9]) == "n = 4, median 2, range 1–9"
    assert summary([1, 2]) == "n = 2, median 1.5, range 1–2"
    assert summary([]) == "nothing to show"


def test_an_estimate_as_the_table_shows_it() -> None:
    assert (Estimate().shown, Estimate(41.236).shown) == ("–", "41.2")
    assert (Estimate(50.0).interval, Estimate(50.0, 40.04, 60.0).interval) == ("", "40.0–60.0")
    assert [Estimate(value).shade for value in (None, -3.0, 41.2, 104.0)] == [0, 0, 0.412, 1]


def test_a_name_is_cut_to_so_many_characters() -> None:
    assert figures.cut("abcdef", 6) == "abcdef" and figures.cut("abcdefg", 6) == "abcde…"
