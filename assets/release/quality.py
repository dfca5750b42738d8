"""What the checks say of the pairs of a release, and instruction sets without those that they drop.

What belongs here: finding the row of a pair, and counting. Taking turns out of a dialogue is
`methods/quality/filtering.py`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from assets.release.built import Row
from methods.quality.checks import (
    DIALOGUES_LEFT_OUT,
    DROP,
    PAIRS_LEFT_OUT,
    PAIRS_WITH_DIALOGUES,
    UNCHECKED,
)
from methods.quality.filtering import without_turns
from methods.quality.outcome import counts
from methods.release import ApprovedDialogue
from resources.warehouse import Warehouse

Found = Mapping[tuple[str, str], Row]


class Checked(NamedTuple):
    """Dialogues for a release, and the counts of its card."""

    dialogues: list[ApprovedDialogue]
    counts: dict[str, int]


def found_by_checks(warehouse: Warehouse) -> Found:
    """The row of `quality.checks` of each pair, by dialogue and question."""
    return {
        (row["dialogue_id"], row["question_id"]): row
        for row in warehouse.read("quality/found").to_pylist()
    }


def checked(dialogues: Sequence[ApprovedDialogue], found: Found, *, leave_out: bool) -> Checked:
    """The dialogues, if `leave_out` without what the checks drop, and the counts of all pairs.

    A pair that people have edited is not the one that was checked, and stays. Where too little of a
    dialogue is left it is left out as a whole, and its pairs that nothing drops are counted, too.
    """
    kept, rows, counted = [], [], Counter({UNCHECKED: 0})
    for dialogue in dialogues:
        of_turns = [_row_of(dialogue, turn, found) for turn in dialogue.turns]
        rows += [row for row in of_turns if row is not None]
        counted[UNCHECKED] += of_turns.count(None)
        dropped = [place for place, row in enumerate(of_turns) if row and row["outcome"] == DROP]
        if not (leave_out and dropped):
            kept.append(dialogue)
            continue
        counted[PAIRS_LEFT_OUT] += len(dropped)
        rest = without_turns(dialogue.turns, dialogue.image_ids, dropped)
        if rest is None:
            counted[DIALOGUES_LEFT_OUT] += 1
            counted[PAIRS_WITH_DIALOGUES] += len(dialogue.turns) - len(dropped)
            continue
        # Nobody wrote what now stands before a question: its text is still that of the call.
        generated = [
            {**turn, "question": rest.entering.get(turn["question_id"], "") + turn["question"]}
            for turn in dialogue.generated or dialogue.turns
        ]
        kept.append(
            replace(
                dialogue,
                turns=tuple(rest.turns),
                image_ids=tuple(rest.image_ids),
                generated=tuple(generated),
            )
        )
    return Checked(kept, {**counts(rows), **counted})


def _row_of(dialogue: ApprovedDialogue, turn: Mapping[str, str], found: Found) -> Row | None:
    """The row of a turn's pair, if its texts are those that were checked."""
    row = found.get((dialogue.item_id, turn.get("question_id", "")))
    unedited = dialogue.generated is None or turn in dialogue.generated
    return row if unedited else None
