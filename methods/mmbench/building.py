"""Approved multiple-choice items as rows of the release tables.

What belongs here: the rows of one split, as the importer would have them (`published.py`), so that what
is built and what is imported are evaluated and exported alike. Which item is in which split is
`splits.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from methods.choice.lettered import with_hint
from methods.mmbench.taxonomy import L3, abilities
from methods.mmbench.wording import HINT
from methods.release import RELEASE_TABLES, Edition, Origin, Release, ReviewPolicy, frozen


@dataclass(frozen=True)
class ApprovedItem:
    """One approved item: its content after review, its reviewers, and the calls that wrote it.

    `asked_by` made question and hint, `answered_by` the choices and which of them is right (`key`, its
    letter).
    """

    item_id: str
    set_id: str
    revision: int
    reviewers: tuple[str, ...]
    image_ids: tuple[str, ...]
    question: str
    hint: str
    choices: tuple[str, ...]
    key: str
    category: str
    asked_by: Origin = Origin()
    answered_by: Origin = Origin()


def build_split(
    name: str,
    edition: Edition,
    items: Sequence[ApprovedItem],
    reviewed: ReviewPolicy,
    sources: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Release:
    """Rows of `RELEASE_TABLES` for `items`, in order of item id.

    `sources` has the source columns of `images`, by (set id, image id).
    """
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
    for ordinal, item in enumerate(sorted(items, key=lambda item: item.item_id), start=1):
        here = {"item_id": item.item_id}
        labels = {L3: item.category, **({"split": edition.split} if edition.split else {})}
        rows["items"].append(
            {
                **here,
                "set_id": item.set_id,
                "ordinal": ordinal,
                "revision": item.revision,
                "reviewers": list(item.reviewers),
                "labels": {**abilities(labels), **labels},
            }
        )
        rows["turns"].append(
            {
                **here,
                "turn": 1,
                "question": with_hint(item.question, item.hint, HINT, len(item.image_ids)),
                "image_positions": list(range(1, len(item.image_ids) + 1)),
                **vars(item.asked_by),
            }
        )
        rows["references"].append(
            {**here, "turn": 1, "kind": "key", "reference": item.key, **vars(item.answered_by)}
        )
        rows["choices"] += [
            {**here, "position": position, "choice": choice}
            for position, choice in enumerate(item.choices, start=1)
        ]
        rows["images"] += [
            {
                **here,
                "position": position,
                "image_id": image_id,
                **sources[item.set_id, image_id],
            }
            for position, image_id in enumerate(item.image_ids, start=1)
        ]
    return frozen(name, reviewed, edition, rows)
