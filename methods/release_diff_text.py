"""The diff of two releases in words: for the terminal, and parts of its page."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from methods.evaluation.common_items import CommonScore
from methods.release_diff import ReleaseDifference, Row


class RepeatedResults(NamedTuple):
    """How many results on the common items come from the same calls in both releases (the cache).

    Attributes:
        n_turns: The number of turns with scores on both releases.
        n_answers: The number of these turns whose answers are from the same call.
        n_judgments: The number of these turns whose answers and judgments are from the same calls.
    """

    n_turns: int
    n_answers: int
    n_judgments: int

    @property
    def is_all(self) -> bool:
        """Whether all answers and judgments are from the same calls, so that scores cannot differ."""
        return 0 < self.n_turns == self.n_judgments

    @property
    def in_words(self) -> str:
        """The share of repeated answers, in words."""
        if self.is_all:
            return "all the same calls"
        return f"{self.n_answers} of {self.n_turns} answers the same"


class CommonScores(NamedTuple):
    """The scores that one version of a judge gave one model on the common items, the ranking metric
    first.
    """

    model: str
    judge: str
    judge_version: str
    scores: Sequence[CommonScore]
    repeated: RepeatedResults


def difference_in_words(
    first_id: str, second_id: str, changes: ReleaseDifference, n_scores: int
) -> str:
    """Summarize the diff of two releases in a few lines.

    Args:
        first_id: The earlier release.
        second_id: The later release.
        changes: The difference of their contents.
        n_scores: The number of scores on common items, by model and judge.
    """
    lines = [
        f"From {first_id} to {second_id}",
        f"Items: {len(changes.added)} added, {len(changes.removed)} removed, "
        f"{len(changes.changed)} changed, {changes.n_same} the same.",
        f"Turns: {changes.turns['added']} added, {changes.turns['removed']} removed; "
        f"{changes.turns['questions']} questions and {changes.turns['references']} references changed.",
    ]
    if changes.kinds:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in changes.kinds.items())
        lines.append(f"What changed, by number of items: {kinds}.")
    names = ", ".join(name.replace("`", "") for name, *_ in changes.made_by)
    lines.append(f"Made by another: {names or 'nothing'}.")
    if n_scores:
        lines.append(f"Scores on the {len(changes.common)} items that both have: {n_scores}.")
    return "\n".join(lines) + "\n"


def why_nothing_common(difference: ReleaseDifference, first: Mapping[str, object]) -> str:
    """Say why there are no scores on common items.

    Args:
        difference: The difference of two releases.
        first: The card of one of them.
    """
    if first["kind"] != "benchmark":
        return "An instruction set has no scores."
    if not difference.common:
        return "No item is the same in both, so there is nothing to compare scores on."
    return (
        "No model was judged on both by the same judge under the same version of its prompt: give the "
        "other release to evaluate/answers (also_on) and run the job evaluate."
    )


def score(row: Row | None) -> str:
    """Format a score with its interval. A score of a single dialogue has no interval."""
    if row is None or row["value"] is None:
        return "–"
    if row["ci_low"] is None or row["ci_high"] is None:
        return f"{row['value']:.1f}"
    return f"{row['value']:.1f} ({row['ci_low']:.1f} - {row['ci_high']:.1f})"
