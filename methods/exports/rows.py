"""One item of a release as exports have it: turns, and pictures with their authors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from methods.choice.lettered import LETTERS
from methods.evaluation.items import Turn
from methods.prompts.messages import IMAGE_HERE

Row = Mapping[str, Any]
CHANGED = re.compile(r"\(changed: (.+)\)\s*\Z", re.DOTALL)
"""How an attribution says what was done to a picture."""
UNCHANGED = "none"
BY_LETTER = "Answer with the option's letter from the given choices directly."
"""What stands below choices: the wording that LLaVA-1.5 was trained with."""


class CreditedImage(NamedTuple):
    """A picture of an item, by the SHA-256 of its bytes, and whose it is; empty: not known."""

    image_id: str
    title: str = ""
    page_url: str = ""
    author: str = ""
    licence: str = ""
    licence_url: str = ""
    attribution: str = ""
    changes: str = UNCHANGED


class ExportedMessage(NamedTuple):
    """A message: texts, and numbers of the item's pictures (from 0) where they enter."""

    role: Literal["user", "assistant"]
    parts: tuple[str | int, ...]

    def text(self, token: str) -> str:
        """The text with `token` where a picture enters."""
        return "".join(part if isinstance(part, str) else token for part in self.parts)


@dataclass(frozen=True)
class ExportedItem:
    """An item; `turns` are without references where they are held out.

    `messages` are those of several dialogues in one, in place of `turns`; `stacked` are their ids.
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

    Returns:
        The item.
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
    """The item as a row of a table, without the pictures themselves."""
    return {
        "item_id": item.item_id,
        "group_id": item.group_id,
        "labels": [{"name": name, "value": value} for name, value in (item.labels or {}).items()],
        "turns": [
            {
                "question": turn.question,
                "image_positions": list(turn.image_positions),
                "given": turn.given,
                **{
                    kind: turn.references.get(kind)
                    for kind in ("answer", "key", "caption", "focus")
                },
            }
            for turn in item.turns
        ],
        "choices": list(item.choices),
        "image_sources": [picture._asdict() for picture in item.pictures],
        "revision": item.revision,
        "n_reviewers": item.n_reviewers,
    }


def messages(item: ExportedItem) -> list[ExportedMessage]:
    """The dialogue up to the first turn that has no answer; empty where no turn has one."""
    dialogue = list(item.messages)
    for turn in item.turns:
        answer = _answer(turn)
        if answer is None:
            break
        dialogue.append(ExportedMessage("user", tuple(_question_parts(turn, item.choices))))
        dialogue.append(ExportedMessage("assistant", (answer,)))
    return dialogue


def chat(item: ExportedItem) -> list[dict[str, Any]]:
    """The dialogue as trainers read it from columns `messages` and `images`, such as TRL.

    Args:
        item: An item whose pictures are the column `images`.

    Returns:
        Messages of a role and parts of type text or image; none where the messages do not show each
        picture once, in the order of the column.
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

    Returns:
        The message with texts and numbers of images.
    """
    return ExportedMessage("user", tuple(_question_parts(turn, item.choices)))


def shown_images(dialogue: Sequence[ExportedMessage]) -> list[int]:
    """The numbers of the pictures that messages show, in their order."""
    return [part for message in dialogue for part in message.parts if isinstance(part, int)]


def _answer(turn: Turn) -> str | None:
    if turn.given is not None:
        return turn.given
    return turn.references.get("answer", turn.references.get("key"))


def _question_parts(turn: Turn, choices: Sequence[str]) -> Iterator[str | int]:
    """Text and pictures in order; pictures that have no place in the text stand before it."""
    pieces = turn.question.split(IMAGE_HERE)
    entering = [position - 1 for position in turn.image_positions]
    unplaced = len(entering) - (len(pieces) - 1)
    yield from entering[: max(unplaced, 0)]
    remaining = iter(entering[max(unplaced, 0) :])
    for place, piece in enumerate(pieces):
        if place:
            # A placeholder without a picture, such as one that a model wrote, is left away.
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
