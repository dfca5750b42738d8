"""Human ratings from a file, matched to a release's answers."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from methods.errors import UserError
from methods.evaluation.candidates import FILE
from methods.evaluation.cells import FileRow
from methods.evaluation.indexes import known_id, whole_id
from methods.evaluation.items import Item
from methods.evaluation.published import PublishedError
from methods.evaluation.published_tables import shortened_id
from methods.ids import content_id
from methods.naming import nearest

ITEM = ("item", "item_id", "question_id")
"""Columns that name the item: the first of these that a file has."""
MODEL, SCORE, TURN, DIMENSION, RATER = "model", "score", "turn", "dimension", "rater"
REASON = "reason"
"""The column with the rater's reason: a critic is trained on it, agreement does not need it."""
COLUMNS = (*ITEM, MODEL, SCORE, TURN, DIMENSION, RATER, REASON)

Reason = Literal[
    "unknown_item",
    "unknown_model",
    "unknown_turn",
    "turn_missing",
    "unknown_dimension",
    "empty",
    "no_number",
    "off_the_scale",
    "repeated",
    "contradicting",
]
REASONS: Mapping[Reason, str] = {
    "unknown_item": "of an item that the release does not have",
    "unknown_model": "of a model that has no answers on the release",
    "unknown_turn": "of a turn that the item does not have, or that the release gives",
    "turn_missing": "without a turn, of an item that has several",
    "unknown_dimension": "of a dimension that the benchmark does not have",
    "empty": "without a score",
    "no_number": "with a score that is not a number",
    "off_the_scale": "with a score outside the benchmark's scale",
    "repeated": "said again",
    "contradicting": "with another score by the same rater, none of which counts",
}
"""The reason why a record is not a score, in words after a number of records."""


class HumanScoresError(UserError):
    """A file of scores cannot be imported; the message says what to do."""


class HumanScoreKey(NamedTuple):
    """The key of a score: rater, answer and dimension. `rater` is empty if it is not named."""

    item_id: str
    model: str
    turn: int
    dimension: str
    rater: str


@dataclass(frozen=True)
class RatingScope:
    """The valid items, models, dimensions (the overall one last) and the scale of scores."""

    items: Sequence[Item]
    models: Collection[str]
    dimensions: Sequence[str]
    lowest: float
    highest: float


@dataclass(frozen=True)
class HumanScores:
    """The scores in a file for a release; `counts` has the numbers of its other records by reason.

    `reasons` are the raters' explanations.
    """

    scores: Mapping[HumanScoreKey, float]
    counts: Mapping[Reason, int]
    n_rows: int
    reasons: Mapping[HumanScoreKey, str] = field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        """A hash of the scores and reasons, independent of the file and the order."""
        reasons = {scored: [reason] for scored, reason in self.reasons.items()}
        return content_id(
            sorted(
                [*scored, score, *reasons.get(scored, [])] for scored, score in self.scores.items()
            )
        )


def human_scores_of(rated: RatingScope, rows: Sequence[FileRow]) -> HumanScores:
    """Read people's scores from the records of a file.

    A record without a turn belongs to the only turn that models are asked, a record without a dimension
    to the overall one. A rater's different scores of one answer are all dropped; of several reasons for
    one score the alphabetically first is kept.

    Args:
        rated: The items, models and dimensions that can be scored.
        rows: The records.

    Returns:
        The scores, and the numbers of records that were left out.

    Raises:
        HumanScoresError: There is no score, or an item or a turn is not a whole number.
    """
    item = _item_column(rows)
    turns = {
        item.item_id: [turn.turn for turn in item.turns if turn.given is None]
        for item in rated.items
    }
    scores: dict[HumanScoreKey, float] = {}
    reasons: dict[HumanScoreKey, str] = {}
    contradicting: Counter[HumanScoreKey] = Counter()
    counts: Counter[Reason] = Counter()
    for row in rows:
        cells = {MODEL: "", SCORE: ""} | {name: cell.strip() for name, cell in row.cells.items()}
        try:
            item_id = known_id(FileRow(row.where, cells), item, turns)
            cells[TURN] = whole_id(row.where, TURN, cells.get(TURN, ""))
        except PublishedError as error:
            raise HumanScoresError(f"{error}: correct the row.") from None
        outcome = _read(rated, turns, item_id, cells)
        if isinstance(outcome, str):
            counts[outcome] += 1
            continue
        scored, score = outcome
        if reason := cells.get(REASON):
            reasons[scored] = min(reason, reasons.get(scored, reason))
        if scored not in scores:
            scores[scored] = score
        elif scores[scored] == score:
            counts["repeated"] += 1
        else:
            contradicting[scored] += 1
    for scored, n_more in contradicting.items():
        del scores[scored]
        reasons.pop(scored, None)
        counts["contradicting"] += 1 + n_more
    if not scores:
        why = "; ".join(f"{n} are {REASONS[reason]}" for reason, n in sorted(counts.items()))
        is_of_another = counts["unknown_item"] or counts["unknown_model"]
        to_do = "say the release that was scored" if is_of_another else "correct these records"
        raise HumanScoresError(
            f"None of its {len(rows)} records is a score of an answer on the release ({why}): {to_do}."
        )
    return HumanScores(scores, counts, len(rows), reasons)


def _read(
    rated: RatingScope, turns: Mapping[str, Sequence[int]], item_id: str, cells: Mapping[str, str]
) -> tuple[HumanScoreKey, float] | Reason:
    """Read the key and the score of a record, or the reason why it is not a score."""
    if item_id not in turns:
        return "unknown_item"
    named = cells[MODEL]
    model = next((name for name in (named, f"{FILE}:{named}") if name in rated.models), None)
    if model is None:
        return "unknown_model"
    turn = _turn(turns[item_id], cells.get(TURN, ""))
    if isinstance(turn, str):
        return turn
    dimension = cells.get(DIMENSION) or rated.dimensions[-1]
    if dimension not in rated.dimensions:
        return "unknown_dimension"
    if not cells[SCORE]:
        return "empty"
    if "_" in cells[SCORE]:  # `float` reads "1_0" as 10.
        return "no_number"
    try:
        score = float(cells[SCORE])
    except ValueError:
        return "no_number"
    if math.isnan(score):
        return "no_number"
    if not rated.lowest <= score <= rated.highest:
        return "off_the_scale"
    return HumanScoreKey(item_id, model, turn, dimension, cells.get(RATER, "")), score


def _turn(turns: Sequence[int], cell: str) -> int | Literal["unknown_turn", "turn_missing"]:
    if not cell:
        return turns[0] if len(turns) == 1 else "turn_missing"
    return next((turn for turn in turns if str(turn) == cell), "unknown_turn")


def _item_column(rows: Sequence[FileRow]) -> str:
    """The column that names the item. Raises HumanScoresError if a column is missing."""
    named = {name for row in rows for name in row.cells}
    item = next((name for name in ITEM if name in named), None)
    lacking = [] if item else [f"{ITEM[0]} or {ITEM[-1]}"]
    lacking += [name for name in (MODEL, SCORE) if name not in named]
    if item is None or lacking:
        there_are = nearest(lacking[0].split()[0], map(shortened_id, named))
        raise HumanScoresError(f"It has no column {', '.join(lacking)}; {there_are}.")
    return item
