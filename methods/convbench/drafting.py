"""ConvBench items written by a model: instruction, turns, caption and references (ConvBench, 3).

Parsing is strict: a draft that breaks a rule raises ParseError with its name. People review all drafts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from methods.choice.lettered import one_line
from methods.clustering.communities import threshold_communities
from methods.clustering.neighbours import Vectors
from methods.clustering.similarity import paired_cosines
from methods.convbench.scores import TASK_LABELS
from methods.evaluation.english_refusals import is_refusal
from methods.ids import content_id
from methods.prompts.drafts import draft_text, require_shown
from methods.prompts.parsing import JsonSchema, ParseError, object_schema
from methods.prompts.reply_objects import reply_object
from methods.rewriting.checks import (
    gives_number_away,
    gives_words_away,
    language_of,
    require_new,
    says_nothing_new,
)


class EntryImage(NamedTuple):
    """An entry and its image. Images with the same `group_id` are near-duplicates."""

    entry_id: str
    image_id: str
    group_id: str


def sample_entries(entries: Iterable[EntryImage], n: int, seed: int) -> list[EntryImage]:
    """Sample entries with distinct images: one from each group of near-duplicates.

    The entry with the smallest id represents its group. A larger `n` continues the list of a smaller
    one.

    Args:
        entries: The entries with the group of their image.
        n: The number of entries; fewer if there are not as many groups.
        seed: The seed of the order.
    """
    of_group: dict[str, EntryImage] = {}
    for entry in sorted(entries):
        of_group.setdefault(entry.group_id, entry)
    ordered = sorted(
        of_group.values(), key=lambda entry: content_id("conversation", seed, entry.image_id)
    )
    return ordered[:n]


_SMALL_WORDS = frozenset({"a", "an", "and", "for", "in", "of", "on", "or", "the", "to", "with"})


class TaskNameMatch(NamedTuple):
    """The category of a task name, the number of turns with the name, and its cosine to the category.

    `nearest` is the most similar other category, or None if there is only one. People decide whether
    both are the same task.
    """

    name: str
    n_turns: int
    category: str
    similarity: float
    nearest: str | None
    nearest_similarity: float | None


def task_name(text: str) -> str:
    """Normalize the name of a task: title case, without quotation marks and double spaces. Acronyms
    keep their capitals.
    """
    words = text.strip(" \t\n\"'“”.,;:!?。").split()
    return " ".join(
        word.lower() if place and word.lower() in _SMALL_WORDS else word[:1].upper() + word[1:]
        for place, word in enumerate(words)
    )


def categories_of(counts: Mapping[str, int], vectors: Vectors, tau: float) -> list[TaskNameMatch]:
    """Find the category of each task name.

    Categories are found by `threshold_communities`: all names within `tau` of a central name are one
    category, so no chain of pairs joins two tasks. A category gets the name with the most turns; of
    several such names, the shortest, and of these the first.

    Args:
        counts: The number of turns by name.
        vectors: The unit vectors of the names in their order, shape (names, d).
        tau: The least cosine.

    Raises:
        ThresholdError: `tau` or the vectors are not usable.
    """
    names = list(counts)
    chief_of: dict[int, int] = {}
    for community in threshold_communities(vectors, tau, min_size=1):
        chief = min(community.members, key=lambda row: (-counts[names[row]], len(names[row]), row))
        chief_of |= dict.fromkeys(community.members, chief)
    chiefs = np.array(sorted(set(chief_of.values())), dtype=np.intp)
    categories = []
    for row, chief in sorted(chief_of.items()):
        cosines = paired_cosines(vectors, np.full(len(chiefs), row), vectors, chiefs)
        cosine_of = dict(zip(chiefs.tolist(), cosines.tolist(), strict=True))
        similarity = cosine_of.pop(chief)
        nearest = max(cosine_of, key=lambda other: cosine_of[other], default=None)
        categories.append(
            TaskNameMatch(
                names[row],
                counts[names[row]],
                names[chief],
                similarity,
                None if nearest is None else names[nearest],
                None if nearest is None else cosine_of[nearest],
            )
        )
    return categories


CAPABILITIES = tuple(TASK_LABELS.values())
"""The capability that each turn asks for, in order (ConvBench, appendix J)."""
LANGUAGE = "en"
MOST_CATEGORY_WORDS = 6
MOST_POINTS, MOST_POINT_WORDS = 6, 30
"""Limits: focus points of one creation, and words of one focus point."""

_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|old|far|tall|high|long|wide|deep|heavy)\b|\bnumber\b|\bcount\b|\bwhen\b"
    r"|\b(?:what|which) (?:year|date|time|age|century)\b",
    re.IGNORECASE,
)
_TEXT: JsonSchema = {"type": "string"}
INSTRUCTION_SCHEMA = object_schema({"instruction": _TEXT})
TURNS_SCHEMA = object_schema(
    {
        **{name: object_schema({"question": _TEXT, "task": _TEXT}) for name in CAPABILITIES},
        "focus": {"type": "array", "items": _TEXT},
    }
)
"""JSON schemas of the replies."""


class TurnDraft(NamedTuple):
    """A question on one line, and the normalized name of its task."""

    question: str
    task: str


class ConversationDraft(NamedTuple):
    """The turns perception, reasoning and creation, and the focus points of a good creation."""

    turns: tuple[TurnDraft, TurnDraft, TurnDraft]
    focus: tuple[str, ...]


def read_instruction(reply: str) -> str:
    """Read the instruction from a writer's reply, a JSON object by `INSTRUCTION_SCHEMA`.

    Raises ParseError: `not_json`, `wrong_fields`, `empty_text`, `not_unicode`, `image_token`,
    `mentions_material`, `other_language`.
    """
    instruction = one_line(draft_text(reply_object(reply, INSTRUCTION_SCHEMA), "instruction"))
    _require_sound([instruction])
    return instruction


def read_turns(reply: str) -> ConversationDraft:
    """Read the turns from a writer's reply, a JSON object by `TURNS_SCHEMA`.

    Raises ParseError for the reasons of `read_instruction`, and `repeated_question` (an earlier
    question has every word of a question), `task_too_long`, `no_focus_points`, `too_many_focus_points`,
    `focus_point_too_long`.
    """
    fields = reply_object(reply, TURNS_SCHEMA)
    first, second, third = (_turn(fields, name) for name in CAPABILITIES)
    turns = (first, second, third)
    for place, turn in enumerate(turns):
        if any(says_nothing_new(turn.question, earlier.question) for earlier in turns[:place]):
            raise ParseError(
                "repeated_question", f"The question for {CAPABILITIES[place]} is an earlier one."
            )
    return ConversationDraft(turns, _focus(fields.get("focus")))


def read_caption(reply: str) -> str:
    """Read the caption, which is the whole reply.

    Raises ParseError: `empty_text`, `refusal`, `image_token`, `mentions_material`, `other_language`.
    """
    return _prose(reply)


def read_reference(question: str, reply: str) -> str:
    """Read the reference for a question, which is the whole reply.

    Args:
        question: The question.
        reply: The reply.

    Raises:
        ParseError: The reasons of `read_caption`, and `gives_answer_away` if the question has every
            word of the reference.
    """
    reference = _prose(reply)
    require_new(reference, question)
    return reference


def leaking_turn(questions: Sequence[str], references: Sequence[str]) -> int | None:
    """Find a reference that a later question gives away.

    A later question may refer to an answer but not state it: otherwise it could be answered without the
    turns before, and a reference turn would change nothing. A number counts as given away only if the
    question asked for a number; other numbers are mostly demands, such as "in two sentences".

    Args:
        questions: The questions in order.
        references: Their references.

    Returns:
        The number of the first such turn, from 1, or None.
    """
    for place, reference in enumerate(references):
        question = questions[place]
        for later in questions[place + 1 :]:
            if gives_words_away(later, question, reference):
                return place + 1
            if _ASKS_NUMBER.search(question) and gives_number_away(later, question, reference):
                return place + 1
    return None


def item_id(image_id: str, instruction: str, draft: ConversationDraft) -> str:
    """Compute the id of an item: a hash of image, instruction, questions and focus points.

    Args:
        image_id: The image.
        instruction: The instruction.
        draft: The turns and focus points.
    """
    questions = [turn.question for turn in draft.turns]
    return content_id("convbench item", image_id, instruction, questions, list(draft.focus))


# --- Reading ---------------------------------------------------------------------------------------


def _turn(fields: Mapping[str, object], capability: str) -> TurnDraft:
    turn = fields.get(capability)
    if not isinstance(turn, dict):
        raise ParseError("wrong_fields", f'The reply needs "{capability}" as an object.')
    question, task = one_line(draft_text(turn, "question")), task_name(draft_text(turn, "task"))
    _require_sound([question, task])
    if not 0 < len(task.split()) <= MOST_CATEGORY_WORDS:
        raise ParseError(
            "task_too_long", f"A task is named in up to {MOST_CATEGORY_WORDS} words: {task[:80]!r}."
        )
    return TurnDraft(question, task)


def _focus(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(point, str) for point in value):
        raise ParseError("wrong_fields", 'The reply needs "focus", a list of texts.')
    points = tuple(point for point in map(one_line, value) if point)
    if not points:
        raise ParseError("no_focus_points", 'No point is named in "focus".')
    if len(points) > MOST_POINTS:
        raise ParseError(
            "too_many_focus_points", f"{len(points)} focus points, not up to {MOST_POINTS}."
        )
    if long := [point for point in points if len(point.split()) > MOST_POINT_WORDS]:
        raise ParseError(
            "focus_point_too_long",
            f"A focus point has more than {MOST_POINT_WORDS} words: {long[0][:80]!r}.",
        )
    _require_sound(points)
    return points


def _prose(reply: str) -> str:
    text = draft_text({"reply": reply}, "reply")
    if is_refusal(text):
        raise ParseError("refusal", f"The reply declines: {text[:80]!r}.")
    _require_sound([text])
    return text


def _require_sound(texts: Sequence[str]) -> None:
    require_shown(texts)
    for text in texts:
        # A text without letters, such as "1 + 1 = 2", is in no language.
        if language_of(text) not in (LANGUAGE, None):
            raise ParseError("other_language", f"A text is not in English: {text[:80]!r}.")
