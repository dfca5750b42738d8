"""The results of a release: one table of scores, and the differences of its models, by judge.

Reports, exports and figures are made of it. A row of scores is one of `evaluate.results`, a
row of differences one of `evaluate.comparisons`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

Row = Mapping[str, Any]
Pair = tuple[str, str]
FLOOR, JUDGED, COMMON, ALL_ITEMS = "floor", "judged", "common", "all_items"
"""The forms of a score: what becomes of answers that the model failed."""
COUNTS_BELOW = 0.05
"""A difference counts where p after Holm's adjustment is below this."""
_SCALE = {
    word: place
    for place, words in enumerate(
        (
            ("none", "never"),
            ("very low", "very easy", "very small", "very short", "few", "rarely"),
            ("low", "easy", "small", "short", "simple", "some", "sometimes"),
            ("medium", "moderate", "normal", "average", "intermediate"),
            ("high", "hard", "difficult", "large", "long", "complex", "many", "often"),
            ("very high", "very hard", "very difficult", "very large", "very long", "always"),
        )
    )
    for word in words
}
"""Words that stand for more or less of something, from the least."""
GROUP_ANALYSES = ["model_groups", "task_clusters"]
"""Analyses of groups of models and of tasks, whose findings are results."""
_NUMBER = re.compile(r"^(?:over )?(\d+)|\((\d+)[-)]")


class MetricKey(NamedTuple):
    """The key of a metric within a benchmark: its name and aggregation."""

    name: str
    aggregation: str


@dataclass(frozen=True, kw_only=True)
class JudgeResults:
    """The results of one judge, under one version of its judging.

    `scores` are in the order of the query: by metric, and the best model first. `by_ability` are
    differences on the items of one ability, rows of `evaluate.ability_comparisons`, `groups` findings
    of `GROUP_ANALYSES`, `training` rows of `evaluate.training_effects`. `label_metrics` has the metric
    of each label that is not split by the first one.
    """

    judge: str
    version: str
    scores: Sequence[Row]
    differences: Sequence[Row] = ()
    by_ability: Sequence[Row] = ()
    groups: Sequence[Row] = ()
    training: Sequence[Row] = ()
    label_metrics: Mapping[str, str] = field(default_factory=dict)

    @property
    def release_id(self) -> str:
        """The release that the results are on."""
        return str(self.scores[0]["release_id"])

    @cached_property
    def whole(self) -> dict[tuple[str, str, str, str], Row]:
        """The scores of everything, by model, metric, aggregation and form."""
        return {
            (row["model"], row["metric"], row["aggregation"], row["form"]): row
            for row in self.scores
            if not row["subset_label"]
        }

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each model: its name, and how it was asked where that differs."""
        return {row["model"]: row["label"] for row in self.scores}

    def label(self, model: str) -> str:
        """The label of a model; its name if it has no scores."""
        return self.labels.get(model, model)

    @cached_property
    def leading(self) -> MetricKey:
        """The metric that ranks."""
        return key_of(min(self.scores, key=lambda row: row["place"]))

    @property
    def models(self) -> list[Row]:
        """The leaderboard: the score of everything of each model by the metric that ranks."""
        return [row for row in self.metrics if key_of(row) == self.leading]

    @property
    def metrics(self) -> list[Row]:
        """The scores of everything by every metric, failures at the floor."""
        return [row for (*_, form), row in self.whole.items() if form == FLOOR]

    @property
    def slices(self) -> list[Row]:
        """The scores of subsets by the ranking metric, or by another metric of their label."""
        parts = [row for row in self.scores if row["subset_label"] and row["form"] == FLOOR]
        first = min(parts, key=lambda row: row["place"], default=None)
        return [
            row
            for row in parts
            if first
            and row["aggregation"] == first["aggregation"]
            and row["metric"] == self.label_metrics.get(row["subset_label"], first["metric"])
        ]

    @property
    def n_clusters(self) -> int:
        """The number of clusters behind most intervals; rows of an earlier version have none."""
        rows = (*self.models, *self.pairs(self.leading).values())
        return most_clusters(rows)

    def row(self, model: str, metric: MetricKey, form: str = FLOOR) -> Row | None:
        """Return the row of a model's score on all items.

        Args:
            model: The model.
            metric: The metric.
            form: The form.

        Returns:
            The row; None if there is none.
        """
        return self.whole.get((model, *metric, form))

    def pairs(self, metric: MetricKey) -> dict[Pair, Row]:
        """The differences by a metric, by the names of both models."""
        return {
            (row["first"], row["second"]): row for row in self.differences if key_of(row) == metric
        }


def most_clusters(rows: Iterable[Row]) -> int:
    """The most clusters that an interval of the rows is over; 0 if no row says how many."""
    return max((row["n_clusters"] or 0 for row in rows), default=0)


def key_of(row: Row) -> MetricKey:
    """The metric of a row."""
    return MetricKey(row["metric"], row["aggregation"])


def by_judge(
    scores: Iterable[Row],
    label_metrics: Mapping[tuple[str, ...], str] | None = None,
    decimals: Mapping[str, int] | None = None,
    **others: Iterable[Row],
) -> list[JudgeResults]:
    """The results of each judge and version that has scores, in the order of the rows.

    Args:
        scores: Rows of `sql/evaluate/results_of.sql`.
        label_metrics: Those of the benchmark.
        decimals: How many decimals numbers of a metric have in tables, where it is not one.
        **others: Rows of the other fields of `JudgeResults`, such as `differences`.

    Returns:
        The results by judge.
    """
    rows_by_judge: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for name, rows in {"scores": scores, **others}.items():
        for row in rows:
            of_judge = rows_by_judge.setdefault((row["judge"], row["judge_version"]), {})
            shown = {**row, "decimals": (decimals or {}).get(row["metric"], 1)}
            of_judge.setdefault(name, []).append(shown)
    named = {", ".join(labels): metric for labels, metric in (label_metrics or {}).items()}
    return [
        JudgeResults(judge=judge, version=version, label_metrics=named, **of_judge)
        for (judge, version), of_judge in rows_by_judge.items()
        if "scores" in of_judge
    ]


def descriptions(row: Row) -> list[str]:
    """Return the metadata of a row's model from models.yaml, as texts."""
    words = {
        "access": "{}",
        "parameters": "{:g}B",
        "backbone": "{}",
        "main_language": "{}",
        "trained_on": "trained on {}",
        "reference_rank": "reference rank {}",
    }
    return [text.format(row[name]) for name, text in words.items() if row.get(name)]


def pair_difference(pairs: Mapping[Pair, Row], model: str, other: str) -> tuple[Row, int] | None:
    """Find the row of two models in either order.

    Args:
        pairs: The rows by pair.
        model: A model.
        other: Another model.

    Returns:
        The row, and the sign of the first model minus the second in it; None if there is none.
    """
    if (model, other) in pairs:
        return pairs[model, other], 1
    if (other, model) in pairs:
        return pairs[other, model], -1
    return None


def is_significant(row: Row) -> bool:
    """Whether the difference of a row is more than chance."""
    return row["p_holm"] is not None and row["p_holm"] < COUNTS_BELOW


def label_order(text: str) -> tuple[bool, int, list[tuple[int, str]]]:
    """A key that sorts values of a label.

    Numbers and ranges, such as `3-5`, `few (2-5)` and `over 10`, stand first, and 10 comes after 9.
    Then come words of a scale, such as easy, medium and hard, then other texts.
    """
    number = _NUMBER.search(text)
    scale = _SCALE.get(re.sub(r"[_\s-]+", " ", text.strip().casefold()))
    words = [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)
    ]
    if number is None:
        return True, len(_SCALE) if scale is None else scale, words
    return False, int(number[1] or number[2]) + text.startswith("over "), words


def in_name(text: str) -> str:
    """A text as part of the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "other"
