"""AlignMMBench items written by a model: single questions, and dialogues with a history (3.2 and A.1).

Parsing is strict: a draft that breaks a rule raises ParseError with its name. People review all drafts.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from methods.alignmmbench.tasks import CATEGORIES, DIALOGUE
from methods.choice.lettered import one_line
from methods.ids import content_id
from methods.prompts.drafts import draft_text, require_shown
from methods.prompts.parsing import JsonSchema, ParseError, object_schema
from methods.prompts.reply_objects import reply_object
from methods.rewriting.checks import language_of, require_new

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "Simplified Chinese"}
"""Languages of drafts by code, with their names in prompts."""
SINGLE_TASKS = tuple(task for task, category in CATEGORIES.items() if category != DIALOGUE)
DIALOGUE_TASKS = tuple(task for task, category in CATEGORIES.items() if category == DIALOGUE)
INCOHERENCE = "Incoherence"
"""The task whose history contains a deliberate error."""
FEWEST_EARLIER, MOST_EARLIER = 1, 3
"""The smallest and largest number of turns of a history (AlignMMBench, released data)."""

DEMANDS: Mapping[str, str] = {
    "Description": "a description of what the picture shows, as a whole or of one part of it",
    "Recognition": "what a certain thing in the picture is: its kind, species, make or style",
    "Counting": "how many of a certain thing there are in the picture",
    "OCR": "what is written in the picture, or what follows from the writing",
    "Meme": "what is funny or meant in the picture, and why",
    "Knowledge": "facts about what the picture shows that take general knowledge to know",
    "Reasoning": "what has happened, will happen or follows from what the picture shows, and why",
    "Chart": "values, trends or the structure that the chart or diagram in the picture shows",
    "Problem": "the solution, with its steps, of the exercise, puzzle or code in the picture",
    "Comparison": "what two or more things in the picture have in common and what they differ in",
    "Writing": "a text that the picture inspires: a poem, a story, an advertisement, a speech",
    "Coherence": (
        "The last question can be understood only with the earlier turns: it refers to something that "
        "was said in them, or asks to go on with it under a condition set in them. All earlier answers "
        "are right."
    ),
    "Incoherence": (
        "One of the earlier answers has one plain error about the picture. In the last question the "
        "user points to it, without saying what would be right. The reference admits it and is right. "
        'Give the words of the earlier answer that are wrong, exactly as they stand there, as "error".'
    ),
}
"""What each task asks for, in the words of the writer's prompt."""

_TEXT: JsonSchema = {"type": "string"}
SEED_SCHEMA = object_schema({"question": _TEXT, "reference": _TEXT})
DIALOGUE_SCHEMA = object_schema(
    {
        "history": {
            "type": "array",
            "items": object_schema({"user": _TEXT, "assistant": _TEXT}),
        },
        "error": _TEXT,
        "question": _TEXT,
        "reference": _TEXT,
    }
)
"""JSON schemas of the replies; `error` is empty if the history has no deliberate error."""


class Seed(NamedTuple):
    """A question about an image, on one line, and its reference."""

    question: str
    reference: str


class DialogueDraft(NamedTuple):
    """Earlier turns as (user, assistant), last question with its reference, and deliberate error."""

    history: tuple[tuple[str, str], ...]
    last: Seed
    error: str | None


def read_seed(reply: str, language: str) -> Seed:
    """Read the question and reference of a writer's reply, a JSON object as in `SEED_SCHEMA`.

    Args:
        reply: The reply.
        language: The language that the question must have.

    Raises:
        ParseError: `not_json`, `wrong_fields`, `empty_text`, `not_unicode`, `image_token`,
            `mentions_material`, `several_questions`, `gives_answer_away` or `other_language`.
    """
    return _seed(reply_object(reply, SEED_SCHEMA), language)


def read_dialogue(reply: str, task: str, language: str) -> DialogueDraft:
    """Read the dialogue of a writer's reply, a JSON object as in `DIALOGUE_SCHEMA`.

    Args:
        reply: The reply.
        task: Coherence or Incoherence.
        language: The language that the questions must have.

    Raises:
        ParseError: The reasons of `read_seed`, for every question, and `wrong_length`,
            `repeated_question`, `planted_error` (in Coherence), `no_planted_error` and
            `error_not_in_history`.
    """
    fields = reply_object(reply, DIALOGUE_SCHEMA)
    history = fields.get("history")
    if not isinstance(history, list) or not all(isinstance(turn, dict) for turn in history):
        raise ParseError("wrong_fields", 'The reply needs "history", a list of turns.')
    if not FEWEST_EARLIER <= len(history) <= MOST_EARLIER:
        raise ParseError(
            "wrong_length",
            f"The history has {len(history)} turns, not {FEWEST_EARLIER} to {MOST_EARLIER}.",
        )
    turns = []
    for turn in history:
        user, assistant = one_line(draft_text(turn, "user")), draft_text(turn, "assistant")
        _require_question(user, language)
        require_shown((user, assistant))
        turns.append((user, assistant))
    last = _seed(fields, language)
    questions = [user.casefold() for user, _ in turns]
    if last.question.casefold() in questions or len(set(questions)) < len(questions):
        raise ParseError("repeated_question", "Two turns have the same question.")
    return DialogueDraft(tuple(turns), last, _planted(fields.get("error"), task, turns))


def seed_id(image_id: str, task: str, seed: Seed) -> str:
    """Compute the id of a single question: a hash of image, task, question and reference.

    Args:
        image_id: The image.
        task: The task.
        seed: The question with its reference.
    """
    return content_id("alignmmbench seed", image_id, task, *seed)


def dialogue_id(image_id: str, task: str, dialogue: DialogueDraft) -> str:
    """Compute the id of a dialogue: a hash of image, task and all its texts.

    Args:
        image_id: The image.
        task: The task.
        dialogue: The dialogue.
    """
    return content_id("alignmmbench dialogue", image_id, task, dialogue.history, *dialogue.last)


# --- Reading ---------------------------------------------------------------------------------------


def _seed(fields: Mapping[str, object], language: str) -> Seed:
    seed = Seed(one_line(draft_text(fields, "question")), draft_text(fields, "reference"))
    _require_question(seed.question, language)
    require_shown(seed)
    require_new(seed.reference, seed.question)
    if language_of(seed.reference) not in (language, None):
        raise ParseError("other_language", f"The reference is not in {LANGUAGES[language]}.")
    return seed


def _require_question(question: str, language: str) -> None:
    if question.replace("？", "?").count("?") > 1:
        raise ParseError("several_questions", f"More than one question: {question[:80]!r}.")
    # A text without letters, such as "1 + 1?", is in no language.
    if language_of(question) not in (language, None):
        raise ParseError("other_language", f"A question is not in {LANGUAGES[language]}.")


def _planted(error: object, task: str, turns: Sequence[tuple[str, str]]) -> str | None:
    error = error.strip() if isinstance(error, str) else ""
    if task != INCOHERENCE:
        if error:
            raise ParseError(
                "planted_error", "The reply names an error, but no error should be planted."
            )
        return None
    if not error:
        raise ParseError(
            "no_planted_error", 'The reply does not say which words are wrong: "error".'
        )
    if not any(error in assistant for _, assistant in turns):
        raise ParseError("error_not_in_history", f"No earlier answer has {error[:80]!r}.")
    return error
