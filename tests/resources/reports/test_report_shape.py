"""Bars of a report: heights by hand, the card, and numbers on the scale of a metric."""

import math

import pytest

from methods.release_statistics import CategoryCounts, Distribution
from resources.reports.estimate import ReportEstimate, Scale
from resources.reports.report_shape import category_chart, histogram_chart, share_chart


def test_bars_are_as_long_as_their_counts() -> None:
    chart = histogram_chart(Distribution("Turns", "turns", "dialogues", (1, 1, 2)))
    assert [(bar.label, bar.n, bar.length) for bar in chart.bars] == [("1", 2, 100.0), ("2", 1, 50)]
    assert chart.note == "n = 3, mean 1.3, median 1, range 1–2"
    binned = histogram_chart(Distribution("Words", "words", "answers", (77, 172)))
    assert (binned.bars[0].label, binned.bars[-1].label) == ("70–79", "170–179")


def test_shares_are_in_percent_and_many_values_are_added_up() -> None:
    counts = (("one image", 3), ("several images", 1))
    chart = share_chart(CategoryCounts("Question", "questions", counts))
    assert chart.note == "4 questions"
    shares = [(bar.label, bar.share) for bar in chart.bars]
    assert shares == [("one image", "75.0 %"), ("several images", "25.0 %")]
    many = share_chart(CategoryCounts("Task", "items", tuple((f"t{n}", 1) for n in range(15))))
    assert (len(many.bars), many.bars[-1].label, many.bars[-1].n) == (13, "3 others", 3)


def test_categories_are_shares_of_all_images() -> None:
    chart = category_chart([{"category": "Boats", "n": 4}, {"category": "Rivers", "n": 1}], 8)
    assert chart is not None
    assert [(bar.length, bar.share) for bar in chart.bars] == [(100.0, "50.0 %"), (25.0, "12.5 %")]
    assert category_chart([], 8) is None


def test_an_estimate_as_the_table_shows_it() -> None:
    assert (ReportEstimate().shown, ReportEstimate(41.236).shown) == ("–", "41.2")
    assert ReportEstimate(50.0).interval == ""
    assert ReportEstimate(50.0, 40.04, 60.0).interval == "40.0–60.0"
    assert ReportEstimate(-2.0, -5.0, 1.0).interval == "−5.0 to 1.0"
    assert [ReportEstimate(value).shade for value in (None, -3.0, 41.2, 104.0)] == [0, 0, 0.412, 1]


@pytest.mark.parametrize(
    ("scale", "value", "shown"),
    [
        (Scale(), 7.0, "7.0"),
        (Scale(1, 10), 7.0, "7.00"),
        (Scale(2, None), math.inf, "∞"),
        (Scale(None, None), -math.inf, "−∞"),
        (Scale(), -0.01, "0.0"),
        (Scale(), math.nan, "–"),
    ],
)
def test_a_number_as_its_scale_shows_it(scale: Scale, value: float, shown: str) -> None:
    assert scale.shown(value) == shown


def test_a_difference_has_its_sign() -> None:
    shown = [Scale().difference(each) for each in (2.0, -2.0, 0.0, 0.04, None)]
    assert shown == ["+2.0", "−2.0", "0.0", "0.0", "–"]


def test_places_on_a_scale() -> None:
    assert [Scale(10, 100).place(each) for each in (10, 55, 100, 5, math.inf)] == [0, 0.5, 1, 0, 1]
    assert Scale(None, None).place(3.0) == 0.0
    assert Scale(2, None).closed([3.0, math.inf, None, 8.0]) == Scale(2, 8.0)
    assert Scale(None, None).closed([]) == Scale(0.0, 1.0)
    assert Scale(0, 100).closed([3.0]) == Scale(0, 100)
