"""Items of a release for export: turns, chat messages, and images with their authors and licences."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from methods.choice.lettered import LETTERS
from methods.evaluation.items import ReferenceKind, Turn
from methods.prompts.messages import IMAGE_HERE

Row = Mapping[str, Any]
CHANGED = re.compile(r"\(changed: (.+)\)\s*\Z", re.DOTALL)
"""The end of an attribution that says how the image was changed, such as "(changed: cropped)"."""
UNCHANGED = "none"
BY_LETTER = "Answer with the option's letter from the given choices directly."
"""The instruction below the choices: LLaVA-1.5 was trained with this wording."""


class CreditedImage(NamedTuple):
    """An image of an item with its source, author and licence. An unknown field is empty.

    `image_id` is the SHA-256 of its bytes.
    """

    image_id: str
    title: str = ""
    page_url: str = ""
    author: str = ""
    licence: str = ""
    licence_url: str = ""
    attribution: str = ""
    changes: str = UNCHANGED


class ExportedMessage(NamedTuple):
    """A chat message. Its parts are texts and, at the place of each image, its number in the item (from
    0).
    """

    role: Literal["user", "assistant"]
    parts: tuple[str | int, ...]

    def text(self, token: str) -> str:
        """Return the text with `token` in place of each image."""
        return "".join(part if isinstance(part, str) else token for part in self.parts)


@dataclass(frozen=True)
class ExportedItem:
    """An item to export. Its turns have no references if the answers are held out.

    An item that joins several dialogues has `messages` instead of `turns`, and their ids in `stacked`.
    """

    item_id: str
    turns: tuple[Turn, ...]
    pictures: tuple[CreditedImage, ...] = ()
    choices: tuple[str, ...] = ()
    group_id: str | None = None
    labels: Mapping[str, str] | None = None
    revision: int = 0
    n_reviewers: int = 0
    messages: tuple[ExportedMessage, ...] = ()
    stacked: tuple[str, ...] = ()


def exported_of(row: Row, *, with_answers: bool) -> ExportedItem:
    """Make the item to export from a row of `sql/release/export_rows.sql`.

    Args:
        row: The row.
        with_answers: Whether the references are included.
    """
    turns = [
        Turn(
            turn["turn"],
            turn["question"],
            tuple(turn["image_positions"]),
            _by_key(turn["references"]) if with_answers else {},
            turn["given"],
        )
        for turn in row["turns"] or ()
    ]
    return ExportedItem(
        row["item_id"],
        tuple(turns),
        tuple(map(_picture, row["images"] or ())),
        tuple(row["choices"] or ()),
        row["group_id"],
        _by_key(row["labels"]),
        row["revision"],
        row["n_reviewers"],
    )


def table_row(item: ExportedItem) -> dict[str, Any]:
    """Return the item as a table row without the bytes of its images."""
    return {
        "item_id": item.item_id,
        "group_id": item.group_id,
        "labels": [{"name": name, "value": value} for name, value in (item.labels or {}).items()],
        "turns": [
            {
                "question": turn.question,
                "image_positions": list(turn.image_positions),
                "given": turn.given,
                **{kind: turn.references.get(kind) for kind in get_args(ReferenceKind)},
            }
            for turn in item.turns
        ],
        "choices": list(item.choices),
        "image_sources": [picture._asdict() for picture in item.pictures],
        "revision": item.revision,
        "n_reviewers": item.n_reviewers,
    }


def messages(item: ExportedItem) -> list[ExportedMessage]:
    """Return the dialogue up to the first turn without an answer; empty if the first turn has none."""
    dialogue = list(item.messages)
    for turn in item.turns:
        answer = _answer(turn)
        if answer is None:
            break
        dialogue.append(user_message(item, turn))
        dialogue.append(ExportedMessage("assistant", (answer,)))
    return dialogue


def chat(item: ExportedItem) -> list[dict[str, Any]]:
    """Make the column `messages` that trainers such as TRL read together with a column `images`.

    Args:
        item: The item; its images, in order, are the column `images`.

    Returns:
        Messages with a role and parts of type text or image. Empty if the messages do not show every
        image exactly once in the order of the column.
    """
    dialogue = messages(item)
    if shown_images(dialogue) != list(range(len(item.pictures))):
        return []
    return [
        {
            "role": message.role,
            "content": [
                {"type": "text", "text": part}
                if isinstance(part, str)
                else {"type": "image", "text": None}
                for part in message.parts
            ],
        }
        for message in dialogue
    ]


def user_message(item: ExportedItem, turn: Turn) -> ExportedMessage:
    """Make the user's message of a turn.

    Args:
        item: The item, for its choices.
        turn: The turn.
    """
    return ExportedMessage("user", tuple(_question_parts(turn, item.choices)))


def shown_images(dialogue: Sequence[ExportedMessage]) -> list[int]:
    """List the numbers of the images that messages show, in order."""
    return [part for message in dialogue for part in message.parts if isinstance(part, int)]


def _answer(turn: Turn) -> str | None:
    if turn.given is not None:
        return turn.given
    return turn.references.get("answer", turn.references.get("key"))


def _question_parts(turn: Turn, choices: Sequence[str]) -> Iterator[str | int]:
    """Texts and image numbers in order; images without a placeholder in the text come first."""
    pieces = turn.question.split(IMAGE_HERE)
    entering = [position - 1 for position in turn.image_positions]
    unplaced = len(entering) - (len(pieces) - 1)
    yield from entering[: max(unplaced, 0)]
    remaining = iter(entering[max(unplaced, 0) :])
    for place, piece in enumerate(pieces):
        if place:
            # A placeholder without an image, such as one that a model wrote, is removed.
            yield from islice(remaining, 1)
        if piece:
            yield piece
    if choices:
        lettered = (f"{letter}. {choice}" for letter, choice in zip(LETTERS, choices, strict=False))
        yield "\n" + "\n".join([*lettered, BY_LETTER])


def _picture(row: Row) -> CreditedImage:
    attribution = row["attribution"] or ""
    changed = CHANGED.search(attribution)
    return CreditedImage(
        row["image_id"],
        row["title"] or "",
        row["page_url"] or "",
        row["artist"] or "",
        row["licence"] or "",
        row["licence_url"] or "",
        attribution,
        changed[1] if changed else UNCHANGED,
    )


def _by_key(pairs: Sequence[Row] | None) -> dict[Any, str]:
    return {pair["key"]: pair["value"] for pair in pairs or ()}
