"""Approved multiple-choice items as rows of the release tables.

What belongs here: the rows, as the importer would have them (`published.py`), so that what is built and
what is imported are evaluated and exported alike. Which items are in a release, and their labels, are
the benchmark's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from methods.choice.lettered import with_hint
from methods.release import RELEASE_TABLES, Edition, Origin, Release, ReviewPolicy, frozen


@dataclass(frozen=True, kw_only=True)
class ApprovedItem:
    """One approved item: its content after review, its reviewers, and the calls that wrote it.

    `asked_by` made question and hint, `answered_by` the choices and which of them is right (`key`, its
    letter). `category` is its ability or task.
    """

    item_id: str
    set_id: str | None
    group_id: str | None = None
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


Of = TypeVar("Of", bound=ApprovedItem)


def build_release(
    name: str,
    edition: Edition,
    items: Sequence[Of],
    reviewed: ReviewPolicy,
    *,
    hint_name: str,
    labels: Callable[[Of], Mapping[str, str]],
    source: Callable[[Of, str], Mapping[str, Any]],
) -> Release:
    """Rows of `RELEASE_TABLES` for `items`, in order of item id.

    `hint_name` stands before a hint; `source` gives the source columns of `images` for an image of an
    item.
    """
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
    for ordinal, item in enumerate(sorted(items, key=lambda item: item.item_id), start=1):
        here = {"item_id": item.item_id}
        n_images = len(item.image_ids)
        rows["items"].append(
            {
                **here,
                "set_id": item.set_id,
                **({"group_id": item.group_id} if item.group_id else {}),
                "ordinal": ordinal,
                "revision": item.revision,
                "reviewers": list(item.reviewers),
                "labels": dict(labels(item)),
            }
        )
        rows["turns"].append(
            {
                **here,
                "turn": 1,
                "question": with_hint(item.question, item.hint, hint_name, n_images),
                "image_positions": list(range(1, n_images + 1)),
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
            {**here, "position": position, "image_id": image_id, **source(item, image_id)}
            for position, image_id in enumerate(item.image_ids, start=1)
        ]
    return frozen(name, reviewed, edition, rows)
