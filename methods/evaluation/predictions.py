"""Predictions that a model made elsewhere: reads a file of them and matches it to a release."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from methods.errors import UserError
from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item
from methods.evaluation.published import PublishedError
from methods.evaluation.published_tables import shortened_id
from methods.ids import content_id
from methods.model_text import MOST_CHARACTERS, without_reasoning
from methods.naming import nearest

COLUMNS = ("prediction", "predict", "pred", "output")
"""Names of the column with the predictions: the first of these that a file has."""
OUTPUT = "output"
"""The column that has the right answers in published files."""

Unplaced = Literal["unknown", "other_choices", "unknown_pass", "ambiguous"]
"""Why a row belongs to no pass: the release has no such question; the question has other choices; it
has no such pass; the index names two questions."""
REASONS: Mapping[str, str] = {
    "unknown": "of a question that the release does not have",
    "other_choices": "with other choices than the question has",
    "unknown_pass": "of a pass that the question does not have",
    "ambiguous": "whose index names two questions (a column item_id tells them apart)",
    "repeated": "said again",
    "contradicting": "with another prediction for the same pass, none of which counts",
    "empty": "without a prediction",
    "reasoning_only": "with reasoning and no answer, which get the lowest score",
}
"""The meaning of each count in `Predictions.counts`, in words after a number of rows."""


class PredictionError(UserError):
    """A file of predictions cannot be taken; the message names the record, or says what to do."""


class PredictionKey(NamedTuple):
    """The key of a prediction: item, pass and turn; the turn is 1 if only one turn is asked."""

    item_id: str
    trial: str
    turn: int = 1


def place_of(item: Item, trial: str, turn: int) -> PredictionKey:
    """Return the key of an asked turn's prediction. Reference turns have none.

    Args:
        item: The item.
        trial: The variant.
        turn: The turn, from 1.

    Returns:
        The key; its turn is 1 if the model is asked a single turn.
    """
    n_asked = sum(each.given is None for each in item.turns)
    return PredictionKey(item.item_id, trial, turn if n_asked > 1 else 1)


class PredictionFormats(Protocol):
    """The attribute `predictions` of a benchmark: a module or an object with this function."""

    def places(
        self, items: Sequence[Item], rows: Sequence[FileRow]
    ) -> list[PredictionKey | Unplaced]:
        """Match each row to its pass.

        Args:
            items: The items of the release.
            rows: The rows of the file.

        Returns:
            For each row the key of its prediction, or the reason why there is none.

        Raises:
            PublishedError: An index is not an integer.
        """
        ...


@dataclass(frozen=True)
class Predictions:
    """The predictions of a file on a release: a text per pass, empty if it has none.

    `counts` are rows by outcome (`REASONS`), `n_items` the number of items with a non-empty prediction.
    """

    texts: Mapping[PredictionKey, str]
    counts: Mapping[str, int]
    n_rows: int
    n_items: int

    @property
    def content_hash(self) -> str:
        """A hash of the predictions, independent of the file and the order."""
        return content_id(sorted([*place, text] for place, text in self.texts.items()))


def predictions_of(
    forms: PredictionFormats, items: Sequence[Item], rows: Sequence[FileRow]
) -> Predictions:
    """Read the predictions of a file's rows.

    A pass with several different predictions has none, as it is unknown which one is meant.

    Args:
        forms: The benchmark's formats of prediction files.
        items: The items of the release.
        rows: The rows.

    Returns:
        The predictions, and the numbers of rows by outcome.

    Raises:
        PredictionError: No row belongs to a pass of the release or has a prediction, an index is not a
        whole number, or a prediction is too long.
    """
    column = _column(rows)
    texts: dict[PredictionKey, str] = {}
    contradicting: Counter[PredictionKey] = Counter()
    counts: Counter[str] = Counter()
    try:
        places = forms.places(items, rows)
    except PublishedError as error:
        raise PredictionError(f"{error}: correct the row.") from None
    for row, place in zip(rows, places, strict=True):
        text = row.cells.get(column, "")
        if len(text) > MOST_CHARACTERS:
            raise PredictionError(
                f"{row.where} has a prediction of more than {MOST_CHARACTERS:,} characters."
            )
        if isinstance(place, str):
            counts[place] += 1
        elif place not in texts:
            texts[place] = text
        elif texts[place] == text:
            counts["repeated"] += 1
        else:
            contradicting[place] += 1
    if not texts:
        first = f" ({rows[0].where} names none)" if rows else ""
        raise PredictionError(
            f"None of its {len(rows)} records is of a question of the release{first}: say the release "
            "that it was made on."
        )
    if column == OUTPUT:
        _require_no_key(items, texts)
    for place, n_more in contradicting.items():
        del texts[place]
        counts["contradicting"] += 1 + n_more
    counts["empty"] = sum(not text.strip() for text in texts.values())
    counts["reasoning_only"] = sum(without_reasoning(t).reasoning_only for t in texts.values())
    n_items = len({place.item_id for place, text in texts.items() if text.strip()})
    if not n_items:
        raise PredictionError(
            f"None of its {len(rows)} records has a prediction that counts: all are empty, or "
            "contradict each other."
        )
    return Predictions(texts, +counts, len(rows), n_items)


def _column(rows: Sequence[FileRow]) -> str:
    """The column with the predictions. Raises PredictionError if it is missing."""
    named = {name for row in rows for name in row.cells}
    column = next((name for name in COLUMNS if name in named), None)
    if column is None:
        there_are = nearest(COLUMNS[0], map(shortened_id, named))
        raise PredictionError(
            f"It has no column {COLUMNS[0]}; {there_are}." if named else "It has no records."
        )
    return column


def _require_no_key(items: Sequence[Item], texts: Mapping[PredictionKey, str]) -> None:
    """Raise PredictionError if all texts are the right answers, as in published files."""
    keys = {item.item_id: item.turns[0].references.get("key") for item in items}
    keyed = [(text, key) for place, text in texts.items() if (key := keys[place.item_id])]
    if keyed and all(text.strip() == key for text, key in keyed):
        raise PredictionError(
            f"Its column {OUTPUT} has the right answers, as the benchmark's own file has them: call "
            f"the column of the predictions {COLUMNS[0]}."
        )
