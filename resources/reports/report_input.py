"""The input of a release's report as plain data."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from methods.choice.letter_shares import LetterShares
from methods.choice.passes import PassCounts
from methods.release_statistics import CategoryCounts, Distribution
from methods.results.methods_paragraph import EvaluationCalls

Row = Mapping[str, Any]
Rows = Sequence[Row]
Terms = Mapping[str, Any]
"""What rows of `evaluate.error_attribution` name, in words and in order: `turns` (turn, what it is
judged for, the label of its task), `trials`, `rates` (metric, what it is of, trial), `changes` (the
columns that tell rows apart, labels, `is_later_turn`), and `causes` by change."""
Cause = tuple[str, str, str]
"""What a change shows the cause of, when errors go, and which errors these are, in words."""


class ReportBenchmark(TypedDict):
    """The data of the benchmark."""

    name: str
    by_rule: bool
    grades: tuple[float, float]
    """The lowest and the highest grade of a judge."""
    overall: str
    """What a judge's grade is of."""
    abilities: Sequence[str]
    """Labels, the coarsest first."""
    label_metrics: Mapping[tuple[str, ...], str]
    """The metric that scores are split by for a label, or for a pair of labels."""
    metrics: Rows
    """`name`, `aggregation`, the ends `low` and `high` of the shown scale, None where there is none,
    `higher_is_better`, `inverse`, `refusals_are_right`."""


class LeaderboardInput(TypedDict):
    """The data of the leaderboard and of the index."""

    release: Row
    """The row of `release.releases`, and `is_current`."""
    benchmark: ReportBenchmark | None
    generated: str
    """When the page is made."""
    judges: Sequence[str]
    """Those of the profile, in order."""
    families: Mapping[str, str]
    """Model -> family."""
    scores: Rows
    """Those of `evaluate.results`, which have the ranks."""
    constant_judges: Rows
    """Judges that give nearly all answers the same score."""
    comparisons: Rows
    ability_comparisons: Rows
    groups: Rows
    """Findings of the analyses `GROUP_ANALYSES`."""
    training: Rows
    """Those of `evaluate.training_effects`."""
    above: Mapping[str, str]
    """Finest ability -> the one that it is part of."""
    missing: Rows
    not_made: Rows
    unscored: Sequence[str]
    """Models of the profile without scores."""
    unjudgeable: Sequence[str]
    """Candidates that answered where the release has no reference."""
    n_without_picture: int
    """Items that no score rests on, since models could not be asked for want of their picture."""


class MultipleChoiceInput(TypedDict):
    """Letters and passes of multiple choice."""

    letters: Sequence[str]
    keys: Mapping[str, int]
    """How often each letter is right, where that is known."""
    n_held_out: int
    shares: Mapping[str, LetterShares]
    """Those of the first pass."""
    circular_shares: Mapping[str, LetterShares]
    """Those of all circular passes; empty where there are none."""
    passes: Mapping[str, PassCounts]


class Pairwise(TypedDict):
    """Answers that were compared: rows of `evaluate.pair_*`; none where none were."""

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
    """Items with their content, pictures, flags and decision."""
    subsets: Rows


class Report(LeaderboardInput):
    """The data of a release's page."""

    calls: EvaluationCalls
    """The calls behind the scores."""
    version: str | None
    """The version of vlm-loom, if it is known."""
    choice: MultipleChoiceInput | None
    findings: Mapping[str, Rows]
    """Rows of `evaluate.findings` by analysis, also where another release is compared with this one."""
    languages: Mapping[str, str]
    """Those of the releases that are compared."""
    error_attribution: Rows
    attribution_terms: Terms | None
    answer_lengths: Rows
    """Rows of `methods/evaluation/answer_lengths.py`; none without references."""
    pairwise: Pairwise
    widest_groups: Rows
    """Wordings of the groups whose ratings differ most, with `text`, `styles`, `value` and calls."""
    judge_bias_tests: Rows
    failures: Rows
    of_extras: Mapping[str, Rows]
    """Rows of tables that extras have, by table."""
    distributions: Sequence[Distribution]
    shares: Sequence[CategoryCounts]
    page_categories: Rows
    item_analysis: ItemAnalysisInput | None
    examples: Rows
    """Items with pictures, choices, turns, references, answers and judgments."""
