"""The section of a report on comparisons of answers: ratings, who won against whom, what judges prefer.

What belongs here: cells of its tables, from rows of `evaluate.pair_designs`, `evaluate.pair_ratings`,
`evaluate.pair_biases`, counts of comparisons and shares of wins. The figures are `methods/pairwise`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from resources.reports.estimate import Estimate, Scale
from resources.reports.report_scores import Row

FLOOR, JUDGED, FIRST_PLACE = "floor", "judged", "first_place"
_POINTS = Scale(None, None)
_SHARE = Scale(0.0, 1.0)
_NO_VERDICT = "not_judged"
_IN_WORDS = {
    "words": "length in words",
    "headers": "headers",
    "lists": "items of lists",
    "bold": "bold passages",
}


class Rated(NamedTuple):
    """One model: the rating that ranks, those of what was judged and at equal style, its rank."""

    model: str
    rating: str
    interval: str
    rank: str
    judged: str
    controlled: str
    controlled_interval: str
    win_share: str
    tie_share: str
    n: int
    part: int
    reason: str


class Bias(NamedTuple):
    """What a judge is drawn by, with its interval; `reason` says why there is no value."""

    name: str
    value: str
    interval: str
    reason: str


class Pairwise(NamedTuple):
    """What one judge's comparisons say; `wins` has a line a model, None where two never met."""

    judge: str
    version: str
    design: Row
    counts: Mapping[str, int]
    lines: list[Rated]
    wins: list[list[Estimate | None]]
    place: Bias
    styles: list[Bias]
    smoothed: bool
    n_parts: int

    @property
    def share_of_all(self) -> str:
        """Calls that were made, of those that all pairs on all turns would have taken."""
        return f"{self.design['n_calls'] / max(1, self.design['n_calls_of_all']):.0%}"

    @property
    def n_lost(self) -> int:
        """Comparisons without a verdict."""
        return self.counts.get(_NO_VERDICT, 0)

    @property
    def n_unanswered(self) -> int:
        """Comparisons of which one of the two, or both, gave no answer."""
        return sum(n for status, n in self.counts.items() if status.startswith("no_answer"))


def pairwise_of(data: Mapping[str, Any]) -> list[Pairwise]:
    """One for each judge and version of comparing, in their order; none where nothing was compared."""
    return [_judge(data["pairwise"], design) for design in data["pairwise"]["designs"]]


def _judge(of: Mapping[str, Sequence[Row]], design: Row) -> Pairwise:
    def own(name: str) -> Iterator[Row]:
        keys = ("judge", "judge_version")
        return (row for row in of[name] if all(row[key] == design[key] for key in keys))

    ratings = list(own("ratings"))
    judged = {row["model"]: row for row in ratings if row["form"] == JUDGED}
    ranked = sorted(
        (row for row in ratings if row["form"] == FLOOR),
        key=lambda row: (row["part"], row["rank"] is None, row["rank"] or 0, row["model"]),
    )
    met = {(row["model"], row["opponent"]): row["share"] for row in own("shares")}
    models = [row["model"] for row in ranked]
    biases = [_bias(row) for row in own("biases")]
    return Pairwise(
        judge=design["judge"],
        version=design["judge_version"],
        design=design,
        counts={row["status"]: row["n"] for row in own("counts")},
        lines=[_line(row, judged[row["model"]]) for row in ranked],
        wins=[
            [
                Estimate(met[model, other], scale=_SHARE) if (model, other) in met else None
                for other in models
            ]
            for model in models
        ],
        place=next(each for each in biases if each.name == FIRST_PLACE),
        styles=[
            each._replace(name=_IN_WORDS[each.name]) for each in biases if each.name != FIRST_PLACE
        ],
        smoothed=any(row["smoothed"] for row in ranked),
        n_parts=len({row["part"] for row in ranked if row["n"]}),
    )


def _line(row: Row, judged: Row) -> Rated:
    return Rated(
        row["model"],
        _whole(row["rating"]),
        _interval(row, "", _whole),
        "–" if row["rank"] is None else _rank(row),
        _whole(judged["rating"]),
        _whole(judged["controlled_rating"]),
        _interval(judged, "controlled_", _whole),
        _SHARE.shown(row["win_share"]),
        _SHARE.shown(row["tie_share"]),
        row["n"],
        row["part"],
        row["reason"] or "",
    )


def _rank(row: Row) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return f"{row['rank']}" if low == high else f"{row['rank']} ({low} to {high})"


def _bias(row: Row) -> Bias:
    return Bias(
        row["bias"],
        _POINTS.shown(row["value"]),
        _interval(row, "", _POINTS.shown),
        row["reason"] or "",
    )


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}".replace("-", "−")


def _interval(row: Row, prefix: str, shown: Any) -> str:
    low, high = row[f"{prefix}ci_low"], row[f"{prefix}ci_high"]
    return "" if low is None else f"{shown(low)} to {shown(high)}"
