"""Typed dictionaries with the input data of a release's report."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from methods.choice.letter_shares import LetterShares
from methods.choice.passes import PassCounts
from methods.release_statistics import CategoryCounts, Distribution
from methods.results.methods_paragraph import EvaluationCalls

Row = Mapping[str, Any]
Rows = Sequence[Row]
Terms = Mapping[str, Any]
"""The display names for rows of `evaluate.error_attribution`, in display order. `turns` has (turn,
dimension that is judged, label of its task), `trials` the name of each trial, `rates` (metric,
dimension, trial). `changes` has `key` (see `report_attribution.Change`), `labels` and `is_later_turn`;
`causes` are the changes that show a single cause."""


class ReportBenchmark(TypedDict):
    """The data of the benchmark."""

    name: str
    by_rule: bool
    grades: tuple[float, float]
    """The lowest and the highest grade of a judge."""
    overall: str
    """The name of the overall metric that a judge grades."""
    abilities: Sequence[str]
    """Labels, the coarsest first."""
    label_metrics: Mapping[tuple[str, ...], str]
    """Label, or pair of labels -> the metric of its slices."""
    metrics: Rows
    """The metrics, with the columns of `report_scores.DisplayedMetric`. `low` and `high` are the ends
    of the shown scale; None for an open end."""


class LeaderboardInput(TypedDict):
    """The data of the leaderboard and of the index."""

    release: Row
    """The row of `release.releases`, and `is_current`."""
    benchmark: ReportBenchmark | None
    generated: str
    """The time at which the page is generated."""
    judges: Sequence[str]
    """The judges of the profile, in order."""
    families: Mapping[str, str]
    """Model -> family."""
    scores: Rows
    """Rows of `evaluate.results`, with ranks."""
    constant_judges: Rows
    """Judges that give nearly all answers the same score."""
    comparisons: Rows
    ability_comparisons: Rows
    groups: Rows
    """Rows of `evaluate.findings` of the analyses in `GROUP_ANALYSES`."""
    training: Rows
    """Rows of `evaluate.training_effects`."""
    above: Mapping[str, str]
    """Finest ability -> the coarser ability that it is part of."""
    missing: Rows
    not_made: Rows
    unscored: Sequence[str]
    """Models of the profile without scores."""
    unjudgeable: Sequence[str]
    """Candidates whose answers cannot be judged, since the release has no references."""
    n_without_picture: int
    """Number of items that no model could be asked, because an image is missing."""


class MultipleChoiceInput(TypedDict):
    """Chosen letters and circular passes of a multiple-choice benchmark."""

    letters: Sequence[str]
    keys: Mapping[str, int]
    """Letter -> number of questions whose correct choice it is, over questions with a known key."""
    n_held_out: int
    shares: Mapping[str, LetterShares]
    """Model -> letters that it chose in the first pass."""
    circular_shares: Mapping[str, LetterShares]
    """Model -> letters that it chose in all circular passes; empty without circular passes."""
    passes: Mapping[str, PassCounts]


class Pairwise(TypedDict):
    """Rows of `evaluate.pair_*` on pairwise comparisons of answers; empty without comparisons."""

    designs: Rows
    ratings: Rows
    biases: Rows
    counts: Rows
    shares: Rows


class ItemAnalysisInput(TypedDict):
    """The results of the item analyses."""

    filters: Rows
    statistics: Rows
    flagged: Rows
    """Items with their content, images, flags and decision."""
    subsets: Rows


class Report(LeaderboardInput):
    """The data of a release's page."""

    calls: EvaluationCalls
    """The model calls on which the scores are based."""
    version: str | None
    """The version of vlm-loom, if it is known."""
    choice: MultipleChoiceInput | None
    findings: Mapping[str, Rows]
    """Analysis -> rows of `evaluate.findings`, including comparisons made for another release."""
    languages: Mapping[str, str]
    """Release id -> language, for the releases that are compared."""
    error_attribution: Rows
    attribution_terms: Terms | None
    answer_lengths: Rows
    """Rows of `methods/evaluation/answer_lengths.py`; empty without references."""
    pairwise: Pairwise
    widest_groups: Rows
    """Wordings of the questions whose ratings differ most, with `text`, `styles`, `value` and calls."""
    judge_bias_tests: Rows
    failures: Rows
    of_extras: Mapping[str, Rows]
    """Table of an extra -> its rows of the release."""
    distributions: Sequence[Distribution]
    shares: Sequence[CategoryCounts]
    page_categories: Rows
    answers_held_out: bool
    """Whether the page has neither references nor answers of models, which tell them."""
    item_analysis: ItemAnalysisInput | None
    examples: Rows
    """Items with images, choices, turns, references, answers and judgments."""
