"""Plots of scores: quadrants, infinite scores, models that lack a score."""

from resources.reports.estimate import Scale
from resources.reports.report_plots import quadrants_of
from resources.reports.report_scores import CandidateLabel, DisplayedMetric, ScoresByJudge

RATING = DisplayedMetric("Rating", "micro", 0, Scale(1, 10), True, False)
ALIGNMENT = DisplayedMetric("Alignment score", "micro", 3, Scale(None, None), True, True)


def judged(**scores):
    """A model for each name: (rating, alignment with its interval)."""
    rows = []
    for name, (rating, alignment, low, high) in scores.items():
        rows += [
            row(name, RATING, rating, rating, rating),
            row(name, ALIGNMENT, alignment, low, high),
        ]
    return shown([RATING, ALIGNMENT], rows), [CandidateLabel(name, (), name) for name in scores]


def shown(metrics, rows):
    return ScoresByJudge(judge="j", version="v", scores=rows, shown_metrics=metrics, candidates=())


def row(model, metric, value, low, high):
    of = {"model": model, "label": model, "settings": None, "form": "floor", "subset_label": ""}
    of |= {"metric": metric.name, "aggregation": metric.aggregation, "place": metric.place}
    return {**of, "value": value, "ci_low": low, "ci_high": high, "n_units": 4}


def test_models_stand_beside_the_medians_of_both_scores():
    plot = quadrants_of(*judged(a=(10, 4, 3, 4), b=(1, 1, 1, 1), c=(5.5, 2, 1, 3)))
    assert plot.plane.middle == (5.5, 2)
    assert plot.plane.points[0] == ("a", (10, 10, 10), (4, 3, 4))
    assert plot.plane.ends[0] == (1, 10)
    assert [line.quadrant for line in plot.lines] == [
        "better, steadier",
        "worse, less steady",
        "as good as the median, as steady as the median",
    ]


def test_without_the_inverse_of_a_spread_there_is_no_plot():
    both, who = judged(a=(5, 2, 2, 2))
    assert quadrants_of(shown([RATING], both.scores), who) is None
