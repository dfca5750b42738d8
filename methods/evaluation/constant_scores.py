"""Constant scores: judges that give nearly all answers the same score.

Such a judge does not read the answers, or all answers deserve the score. In both cases its scores do
not tell models apart. `evaluate.constant_judges` has the rule and its rows.
"""

from collections.abc import Mapping
from typing import Any

CONSTANT = "constant scores"
"""The mark of such a judge on a leaderboard."""


def constant_scores_sentence(row: Mapping[str, Any]) -> str:
    """Describe a judge that gives nearly all answers the same score: a sentence with
    the finding (a row of `evaluate.constant_judges`), and one with the advice.
    """
    share = int(100 * row["constant_share"])
    return (
        f"Judge {row['judge']} on {row['release_id']}: {share} % of its scores of {row['n_answers']} "
        f"different answers to {row['n_items']} items are {row['constant_score']:g}, so they do not "
        "tell the models apart. Read some of its judgments, or take another judge."
    )
