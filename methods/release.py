"""A release: approved dialogues as rows of the release tables, under an id by content.

What belongs here: the rows of a release, and its id. The id is a hash of the content, so the same
content gives the same release.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE


@dataclass(frozen=True)
class Origin:
    """The call that generated a text: its ledger key and prompt version; None if a person wrote it."""

    call_key: str | None = None
    prompt_version: str | None = None


@dataclass(frozen=True)
class ApprovedDialogue:
    """One approved item: its content after review, and its reviewers."""

    item_id: str
    set_id: str
    revision: int
    reviewers: tuple[str, ...]
    image_ids: tuple[str, ...]
    turns: tuple[Mapping[str, Any], ...]
    generated: tuple[Mapping[str, Any], ...] | None = None
    """The turns before any edit; None if nobody edited them."""


@dataclass(frozen=True)
class ReviewPolicy:
    """Which items had to be reviewed by people (none, sample, all), and what share of all items."""

    policy: str
    share: float


@dataclass(frozen=True)
class Release:
    """Rows of the release tables, by table name."""

    release_id: str
    rows: dict[str, list[dict[str, Any]]]


def image_positions(questions: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """The images that enter with each question: `<ImageHere>`s are numbered through the dialogue."""
    shown = 0
    for question in questions:
        n_new = question.count(IMAGE_HERE)
        yield tuple(range(shown + 1, shown + n_new + 1))
        shown += n_new


def build_release(
    name: str,
    dialogues: Sequence[ApprovedDialogue],
    reviewed: ReviewPolicy,
    questions: Mapping[str, Origin],
    answers: Mapping[str, Origin],
    sources: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Release:
    """Rows of `items`, `turns`, `references` and `images` for `dialogues`, in order of item id.

    `reviewed` is the policy under which they were approved. `questions` and `answers` have the origin
    of each question's text and of its answer, by question id; `sources` has the source columns of
    `images`, by (set id, image id).
    """
    ordered = sorted(dialogues, key=lambda dialogue: dialogue.item_id)
    rows: dict[str, list[dict[str, Any]]] = {
        table: [] for table in ("items", "turns", "references", "images")
    }
    for ordinal, dialogue in enumerate(ordered, start=1):
        here = {"item_id": dialogue.item_id}
        rows["items"].append(
            {
                **here,
                "set_id": dialogue.set_id,
                "ordinal": ordinal,
                "revision": dialogue.revision,
                "reviewers": list(dialogue.reviewers),
            }
        )
        positions = image_positions([turn["question"] for turn in dialogue.turns])
        for number, (turn, entering) in enumerate(
            zip(dialogue.turns, positions, strict=True), start=1
        ):
            asked = _origin(dialogue, turn, "question", questions)
            answered = _origin(dialogue, turn, "answer", answers)
            rows["turns"].append(
                {
                    **here,
                    "turn": number,
                    "question": turn["question"],
                    "image_positions": list(entering),
                    **vars(asked),
                }
            )
            rows["references"].append(
                {**here, "turn": number, "reference": turn["answer"], **vars(answered)}
            )
        rows["images"] += [
            {
                **here,
                "position": position,
                "image_id": image_id,
                **sources[dialogue.set_id, image_id],
            }
            for position, image_id in enumerate(dialogue.image_ids, start=1)
        ]
    release_id = id_of_release(name, reviewed, rows)
    return Release(
        release_id,
        {table: [{"release_id": release_id, **row} for row in of] for table, of in rows.items()},
    )


def id_of_release(name: str, reviewed: ReviewPolicy, rows: Mapping[str, Any]) -> str:
    """The id of a release of these rows of `items`, `turns`, `references` and `images`.

    It is that of everything the release holds: who stands behind an item, what was demanded of them,
    which call made a text and whose picture it is are as frozen as the words.
    """
    return f"{name}-{content_id('release', name, vars(reviewed), rows)[:10]}"


def _origin(
    dialogue: ApprovedDialogue, turn: Mapping[str, Any], text: str, origins: Mapping[str, Origin]
) -> Origin:
    """The origin of a turn's `text` (question or answer), if the text is unedited."""
    question_id = turn.get("question_id", "")
    generated = dialogue.turns if dialogue.generated is None else dialogue.generated
    # A text that a person changed is not the call's text any more.
    unedited = [each[text] for each in generated if each.get("question_id") == question_id]
    return origins.get(question_id, Origin()) if turn[text] in unedited else Origin()
