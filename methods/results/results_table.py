"""The results of a release by judge: scores of models, and differences between models.

Reports, exports and figures are made from it. Scores are rows of `evaluate.results`, differences are
rows of `evaluate.comparisons`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

Row = Mapping[str, Any]
Pair = tuple[str, str]
FLOOR, JUDGED, COMMON, ALL_ITEMS = "floor", "judged", "common", "all_items"
"""The forms of a score, which differ in how they count a model's missing answers."""
COUNTS_BELOW = 0.05
"""Significance level: a difference is significant if its Holm-adjusted p value is below this."""
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
"""The order of ordinal words, such as "easy" and "hard", from the least."""
GROUP_ANALYSES = ["model_groups", "task_clusters"]
"""Analyses of model groups and task clusters, whose findings are shown with the results."""
_NUMBER = re.compile(r"^(?:over )?(\d{1,300})|\((\d{1,300})[-)]")
_DIGITS = re.compile(r"(\d{1,300})")
"""Digits of a label that are read as one number: Python refuses to convert thousands."""


class MetricKey(NamedTuple):
    """The key of a metric within a benchmark: its name and aggregation."""

    name: str
    aggregation: str


@dataclass(frozen=True, kw_only=True)
class JudgeResults:
    """The results of one judge and one version of its judging.

    Attributes:
        scores: Rows of `evaluate.results`, by metric, the best model first.
        differences: Rows of `evaluate.comparisons`.
        by_ability: Differences on the items of one ability, rows of `evaluate.ability_comparisons`.
        groups: Findings of `GROUP_ANALYSES`.
        training: Rows of `evaluate.training_effects`.
        label_metrics: The metric for subsets of a label, for labels that do not use the first metric.
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
        """The id of the release."""
        return str(self.scores[0]["release_id"])

    @cached_property
    def whole(self) -> dict[tuple[str, str, str, str], Row]:
        """The scores on the whole release, by model, metric, aggregation and form."""
        return {
            (row["model"], row["metric"], row["aggregation"], row["form"]): row
            for row in self.scores
            if not row["subset_label"]
        }

    @cached_property
    def labels(self) -> dict[str, str]:
        """The display name of each model: its name, with settings of the run if they differ."""
        return {row["model"]: row["label"] for row in self.scores}

    def label(self, model: str) -> str:
        """Return the display name of a model, or its name if it has no scores."""
        return self.labels.get(model, model)

    @cached_property
    def leading(self) -> MetricKey:
        """The metric by which models are ranked."""
        return key_of(min(self.scores, key=lambda row: row["place"]))

    @property
    def models(self) -> list[Row]:
        """The leaderboard: each model's score on the whole release by the ranking metric."""
        return [row for row in self.metrics if key_of(row) == self.leading]

    @property
    def metrics(self) -> list[Row]:
        """The scores on the whole release by every metric, in the form `floor`."""
        return [row for (*_, form), row in self.whole.items() if form == FLOOR]

    @property
    def slices(self) -> list[Row]:
        """The scores on subsets by the first metric, or by the metric of their label."""
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
        """The largest number of clusters behind an interval; 0 for rows of an earlier version."""
        rows = (*self.models, *self.pairs(self.leading).values())
        return most_clusters(rows)

    def row(self, model: str, metric: MetricKey, form: str = FLOOR) -> Row | None:
        """Return the row of a model's score on all items.

        Args:
            model: The model.
            metric: The metric.
            form: The form.

        Returns:
            The row, or None.
        """
        return self.whole.get((model, *metric, form))

    def pairs(self, metric: MetricKey) -> dict[Pair, Row]:
        """Return the differences by a metric, by the names of both models."""
        return {
            (row["first"], row["second"]): row for row in self.differences if key_of(row) == metric
        }


def most_clusters(rows: Iterable[Row]) -> int:
    """Return the largest number of clusters behind an interval; 0 if the rows do not have it."""
    return max((row["n_clusters"] or 0 for row in rows), default=0)


def key_of(row: Row) -> MetricKey:
    """Return the metric key of a row."""
    return MetricKey(row["metric"], row["aggregation"])


def by_judge(
    scores: Iterable[Row],
    label_metrics: Mapping[tuple[str, ...], str] | None = None,
    decimals: Mapping[str, int] | None = None,
    **others: Iterable[Row],
) -> list[JudgeResults]:
    """Group rows into the results of each judge and version that has scores, in the order of the rows.

    Args:
        scores: Rows of `sql/evaluate/results_of.sql`.
        label_metrics: The `label_metrics` of the benchmark.
        decimals: The number of decimals in tables by metric; 1 for other metrics.
        **others: Rows of the other fields of `JudgeResults`, such as `differences`.
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
        The row, and 1 if its difference is `model` minus `other`, or -1 for the reverse; None if there
        is no row.
    """
    if (model, other) in pairs:
        return pairs[model, other], 1
    if (other, model) in pairs:
        return pairs[other, model], -1
    return None


def is_significant(row: Row) -> bool:
    """Check that the difference of a row is significant (Holm-adjusted p below `COUNTS_BELOW`)."""
    return row["p_holm"] is not None and row["p_holm"] < COUNTS_BELOW


def label_order(text: str) -> tuple[bool, int, list[tuple[int, str]]]:
    """Return a key that sorts values of a label.

    Numbers and ranges, such as `3-5`, `few (2-5)` and `over 10`, come first, in numerical order. Words
    of a scale, such as easy, medium and hard, come next, then other texts.
    """
    number = _NUMBER.search(text)
    scale = _SCALE.get(re.sub(r"[_\s-]+", " ", text.strip().casefold()))
    words = [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(text)]
    if number is None:
        return True, len(_SCALE) if scale is None else scale, words
    return False, int(number[1] or number[2]) + text.startswith("over "), words


def in_name(text: str) -> str:
    """Convert a text to a part of a file name: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "other"
