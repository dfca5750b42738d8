"""Quality filter: removes question-answer pairs from dialogues, and renumbers their images and turns.

Pairs are removed if the quality checks drop them, or if a benchmark also has them (contamination).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from methods.mmdu.composing import place_images
from methods.prompts.messages import IMAGE_NAME
from methods.quality.outcome import DIALOGUES_LEFT_OUT, PAIRS_LEFT_OUT, PAIRS_WITH_DIALOGUES
from methods.release import RELEASE_TABLES, Rows, image_positions

Turn = Mapping[str, Any]
_REFERENCE = re.compile(IMAGE_NAME)
FEWEST_IMAGES = 2


class FilteredDialogue(NamedTuple):
    """The rest of a dialogue after pairs were dropped: its turns and its images.

    `entering` has, by question id, the text that was added before a question to show the images of
    dropped turns.
    """

    turns: list[Turn]
    image_ids: list[str]
    entering: dict[str, str]


def without_turns(
    turns: Sequence[Turn], image_ids: Sequence[str], dropped: Collection[int]
) -> FilteredDialogue | None:
    """Remove turns from a dialogue.

    Images that were first shown in a removed turn are shown in the next remaining turn, so that image
    numbers do not change. Images of removed turns at the end are removed. A multi-image dialogue needs
    at least two images and a turn that names two of them.

    Args:
        turns: The turns.
        image_ids: The images.
        dropped: The indexes of the turns to remove, from 0.

    Returns:
        The rest of the dialogue; None if too little is left.
    """
    remaining: list[Turn] = []
    entering: dict[str, str] = {}
    waiting: list[int] = []
    positions = image_positions([turn["question"] for turn in turns])
    for place, (turn, new) in enumerate(zip(turns, positions, strict=True)):
        if place in dropped:
            waiting += new
            continue
        if waiting:
            question = place_images(turn["question"], waiting)
            entering[turn.get("question_id", "")] = question.removesuffix(turn["question"])
            turn, waiting = {**turn, "question": question}, []
        remaining.append(turn)
    shown = list(image_ids[: len(image_ids) - len(waiting)])
    together = any(
        len(set(_REFERENCE.findall(turn["question"] + turn["answer"]))) > 1 for turn in remaining
    )
    return (
        FilteredDialogue(remaining, shown, entering)
        if together and len(shown) >= FEWEST_IMAGES
        else None
    )


def rows_without(
    rows: Rows, lost: Mapping[str, Collection[int | None]]
) -> tuple[dict[str, list[dict[str, Any]]], Counter[str]]:
    """Remove turns from the rows of a release.

    Args:
        rows: The rows of `RELEASE_TABLES`.
        lost: The turns to remove, by item. None among the turns means the whole item.

    Returns:
        The remaining rows, renumbered and without `release_id`, and the number of removed pairs and
        dialogues.
    """
    by_item: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(
        lambda: {table: [] for table in RELEASE_TABLES}
    )
    for table in RELEASE_TABLES:
        for row in rows[table]:
            plain = {name: value for name, value in row.items() if name != "release_id"}
            by_item[row["item_id"]][table].append(plain)
    remaining: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
    gone: Counter[str] = Counter()
    for item_id, item_rows in by_item.items():
        turns = lost.get(item_id, ())
        n_lost = len([turn for turn in turns if turn is not None])
        gone[PAIRS_LEFT_OUT] += n_lost
        if None in turns or (n_lost and not _take_out(item_rows, turns)):
            gone[DIALOGUES_LEFT_OUT] += 1
            gone[PAIRS_WITH_DIALOGUES] += len(item_rows["turns"]) - n_lost
            continue
        for table in RELEASE_TABLES:
            remaining[table] += item_rows[table]
    for ordinal, item in enumerate(remaining["items"], start=1):
        item["ordinal"] = ordinal
    return remaining, gone


def _take_out(item_rows: dict[str, list[dict[str, Any]]], turns: Collection[int | None]) -> bool:
    """Remove turns from a dialogue's rows in place. Returns False if too little would be left."""
    answers = {row["turn"]: row["reference"] for row in item_rows["references"]}
    images = [row["image_id"] for row in item_rows["images"]]
    dialogue = [{**row, "answer": answers.get(row["turn"], "")} for row in item_rows["turns"]]
    dropped = [place for place, row in enumerate(dialogue) if row["turn"] in turns]
    rest = without_turns(dialogue, images, dropped)
    if rest is None:
        return False
    positions = image_positions([turn["question"] for turn in rest.turns])
    number = {turn["turn"]: place for place, turn in enumerate(rest.turns, start=1)}
    item_rows["turns"] = [
        {
            **{name: value for name, value in turn.items() if name != "answer"},
            **{"turn": number[turn["turn"]], "image_positions": list(entering)},
        }
        for turn, entering in zip(rest.turns, positions, strict=True)
    ]
    item_rows["references"] = [
        {**row, "turn": number[row["turn"]]}
        for row in item_rows["references"]
        if row["turn"] in number
    ]
    item_rows["images"] = item_rows["images"][: len(rest.image_ids)]
    return True
