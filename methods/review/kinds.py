"""The kinds of items that people review: the content of each, and what people may change in it.

`content` is what people decide on and what is hashed: a JSON object with the keys that the kind names.
What belongs here: the shape of each kind's content, which keys people may change, the check of a
changed content, and its texts in reading order. What does not: verdicts (`decisions.py`), and how a
kind is shown (`review/`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any

from methods.ids import canonical_json
from methods.prompts.messages import IMAGE_HERE

NONE_FITS = "Z"
"""The choice when a model's output names none of the choices (MMBench, section 4.2)."""
MIN_CHOICES = 2

REASONS = ("factual_error", "does_not_follow", "incomplete", "common_sense_error", "other")
"""Reasons for a rejection: AlignMMBench's four (section 3.3), and `other`, which needs a note."""

Content = Mapping[str, Any]
Texts = list[tuple[str, str]]


@dataclass(frozen=True)
class Kind:
    """One kind: the keys of its content, those that people may change, and its functions.

    `texts` gives (label, text) of every text that a person reads, in reading order. `needs_edit` says
    whether a content is incomplete, so that it cannot be accepted without an edit.
    """

    name: str
    keys: tuple[str, ...]
    editable: tuple[str, ...]
    texts: Callable[[Content], Texts]
    _validate: Callable[[Content, Content], None]
    needs_edit: Callable[[Content], bool] = lambda content: False

    def check(self, edited: object, original: Content) -> None:
        """Raise ValueError with one sentence unless `edited` is a valid change of `original`."""
        if not isinstance(edited, dict) or edited.keys() != original.keys():
            keys = sorted(original)
            raise ValueError(
                f"the verdict edit needs edits: the whole content, with the keys {keys}."
            )
        changed = [key for key in sorted(original) if _differ(edited[key], original[key])]
        fixed = [key for key in changed if key not in self.editable]
        if fixed:
            editable = ", ".join(self.editable)
            raise ValueError(f"edits may change only {editable}, and they change {fixed}.")
        self._validate(edited, original)
        if not changed:
            raise ValueError("edits change nothing: the verdict would be accept.")


def _differ(one: object, other: object) -> bool:
    # Compare in canonical form, as contents are hashed: 1 and True are equal in Python.
    return canonical_json(one) != canonical_json(other)


def _check_texts(what: str, texts: Sequence[object]) -> None:
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError(f"edits need {what} without an empty text, and one is empty or missing.")


def _check_placeholders(where: str, edited: Sequence[str], original: Sequence[str]) -> None:
    # Each placeholder stands for one image: otherwise the text cannot be sent to a model.
    if " ".join(edited).count(IMAGE_HERE) != " ".join(original).count(IMAGE_HERE):
        raise ValueError(f"edits must keep every {IMAGE_HERE} of {where}.")


# --- Dialogues and rewrites ----------------------------------------------------------------------


def _dialogue_texts(content: Content) -> Texts:
    return [
        (f"{key.capitalize()} {number}", turn[key])
        for number, turn in enumerate(content["turns"], start=1)
        for key in ("question", "answer")
    ]


def _check_dialogue(edited: Content, original: Content) -> None:
    turns = edited["turns"]
    if not isinstance(turns, list) or not turns:
        raise ValueError("edits need turns, a list with at least one turn.")
    if not all(isinstance(turn, dict) for turn in turns):
        raise ValueError("every turn of the edits has a question and an answer.")
    _check_texts("turns", [turn.get(key) for turn in turns for key in ("question", "answer")])
    for key in ("question", "answer"):
        before = [turn[key] for turn in original["turns"]]
        _check_placeholders(
            f"the content's {key}s, and add none", [turn[key] for turn in turns], before
        )


def _check_rewrite(edited: Content, original: Content) -> None:
    _check_texts("rewrite", [edited["rewrite"]])
    _check_placeholders("the content's rewrite", [edited["rewrite"]], [original["rewrite"]])


# --- Conversations of three turns ----------------------------------------------------------------

_CAPABILITIES = ("perception", "reasoning", "creation")
_OF_TURN = ("question", "category", "reference")
_FOCUS = "focus"
"""What a good creation has to have: a point a line."""


def _three_turn_texts(content: Content) -> Texts:
    turns = [
        (f"{name.capitalize()}: {key}", content[name][key])
        for name in _CAPABILITIES
        for key in (*_OF_TURN, *((_FOCUS,) if _FOCUS in content[name] else ()))
    ]
    return [("Caption", content["caption"]), *turns]


def _check_three_turns(edited: Content, original: Content) -> None:
    _check_texts("caption", [edited["caption"]])
    for name in _CAPABILITIES:
        turn = edited[name]
        if not isinstance(turn, dict) or turn.keys() != original[name].keys():
            keys = ", ".join(original[name])
            raise ValueError(f"edits need {name} with {keys}.")
        _check_texts(name, list(turn.values()))
    for key in ("question", "reference"):
        texts = [edited[name][key] for name in _CAPABILITIES]
        if len({text.strip() for text in texts}) < len(texts):
            raise ValueError(f"two turns of the edits have the same {key}.")
        _check_placeholders(
            f"the content's {key}s, and add none",
            texts,
            [original[name][key] for name in _CAPABILITIES],
        )


# --- Questions with an answer --------------------------------------------------------------------


def _choice_texts(content: Content) -> Texts:
    named = [("Question", content["question"]), ("Hint", content.get("hint"))]
    choices = [(f"Choice {label}", text) for label, text in content["choices"].items()]
    last = [("Answer", content["answer"]), ("Category", content["category"])]
    return [(label, text) for label, text in [*named, *choices, *last] if text]


def _check_multiple_choice(edited: Content, original: Content) -> None:
    _check_texts("question and category", [edited["question"], edited["category"]])
    if edited["hint"] is not None and not isinstance(edited["hint"], str):
        raise ValueError("the hint of the edits is a text, or null where there is none.")
    choices = edited["choices"]
    if not isinstance(choices, dict) or len(choices) < MIN_CHOICES:
        raise ValueError(f"edits need choices, at least {MIN_CHOICES}, each a text by its label.")
    if sorted(choices) != list(ascii_uppercase[: len(choices)]):
        raise ValueError(
            "the choices of the edits must be labelled A, B, C and so on, without a gap."
        )
    _check_texts("choices", list(choices.values()))
    if len({text.strip() for text in choices.values()}) < len(choices):
        raise ValueError(
            "two choices of the edits have the same text, so that both would be right."
        )
    if not isinstance(edited["answer"], str) or edited["answer"] not in choices:
        raise ValueError(f"the answer of the edits is one of {', '.join(sorted(choices))}.")
    _check_placeholders("the content's question", [edited["question"]], [original["question"]])


def _check_reference(edited: Content, original: Content) -> None:
    _check_texts("reference", [edited["reference"]])
    _check_placeholders("the content's reference", [edited["reference"]], [original["reference"]])


# --- Translations --------------------------------------------------------------------------------


def _translation_texts(content: Content) -> Texts:
    return [
        (f"{name} ({language})", texts[name])
        for name in content["source"]
        for language, texts in (
            (content["source_language"], content["source"]),
            (content["target_language"], content["target"]),
        )
        if texts.get(name)
    ]


def _check_translation(edited: Content, original: Content) -> None:
    source, target = original["source"], edited["target"]
    if not isinstance(target, dict) or target.keys() != source.keys():
        raise ValueError(f"edits need target, a text for each of {', '.join(sorted(source))}.")
    if not all(isinstance(text, str) for text in target.values()):
        raise ValueError("every target of the edits is a text.")
    # An empty source text has an empty translation.
    _check_texts("target", [target[name] for name, text in source.items() if text.strip()])
    for name, text in source.items():
        _check_placeholders(f"{name} in the source", [target[name]], [text])
    choices = [text.strip() for name, text in target.items() if name in ascii_uppercase]
    if len(set(choices)) < len(choices):
        raise ValueError("two choices of the target are the same text: both would be right.")


# --- Labels and scores ---------------------------------------------------------------------------


def _check_category(edited: Content, original: Content) -> None:
    if edited["category"] not in original["categories"]:
        raise ValueError(
            f"the category of the edits is one of {', '.join(original['categories'])}."
        )


def _extraction_texts(content: Content) -> Texts:
    choices = [(f"Choice {label}", text) for label, text in content["choices"].items()]
    texts = [("Question", content["question"]), *choices, ("Output", content["output"])]
    return [*texts, *([("Choice", content["choice"])] if content["choice"] else [])]


def _check_extraction(edited: Content, original: Content) -> None:
    labels = [*original["choices"], NONE_FITS]
    if edited["choice"] not in labels:
        raise ValueError(f"the choice of the edits is one of {', '.join(labels)}.")


def _unread(content: Content) -> bool:
    """Whether no letter is chosen: people read the output without seeing what others read."""
    return content["choice"] is None


def _score_texts(content: Content) -> Texts:
    read = [("Question", content["question"]), ("Reference", content["reference"])]
    scores = [
        (
            dimension,
            "" if content["scores"][dimension] is None else str(content["scores"][dimension]),
        )
        for dimension in content["dimensions"]
    ]
    return [
        (label, text) for label, text in [*read, ("Answer", content["answer"]), *scores] if text
    ]


def _check_score(edited: Content, original: Content) -> None:
    scores, dimensions = edited["scores"], original["dimensions"]
    lowest, highest = original["lowest"], original["highest"]
    if not isinstance(scores, dict) or scores.keys() != set(dimensions):
        raise ValueError(f"edits need scores, one for each of {', '.join(dimensions)}.")
    if missing := [dimension for dimension in dimensions if scores[dimension] is None]:
        raise ValueError(f"every dimension needs a score; none was given for {', '.join(missing)}.")
    # In Python True is an int; here it is no score.
    if not all(type(score) is int and lowest <= score <= highest for score in scores.values()):
        raise ValueError(f"every score of the edits is a whole number from {lowest} to {highest}.")


def _unscored(content: Content) -> bool:
    return any(score is None for score in content["scores"].values())


def _plain(*keys: str) -> Callable[[Content], Texts]:
    """Texts that are labelled by their own keys."""
    return lambda content: [(key.capitalize(), content[key]) for key in keys if content[key]]


_MULTIPLE_CHOICE = Kind(
    "multiple_choice",
    ("image_ids", "question", "hint", "choices", "answer", "category"),
    ("question", "hint", "choices", "answer", "category"),
    _choice_texts,
    _check_multiple_choice,
)

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("dialogue", ("image_ids", "turns"), ("turns",), _dialogue_texts, _check_dialogue),
        Kind(
            "three_turns",
            ("image_ids", "caption", *_CAPABILITIES),
            ("caption", *_CAPABILITIES),
            _three_turn_texts,
            _check_three_turns,
        ),
        _MULTIPLE_CHOICE,
        Kind(
            "rewrite",
            ("original", "rewrite"),
            ("rewrite",),
            _plain("original", "rewrite"),
            _check_rewrite,
        ),
        Kind(
            "reference",
            ("image_ids", "question", "reference"),
            ("reference",),
            _plain("question", "reference"),
            _check_reference,
        ),
        Kind(
            "translation",
            ("source_language", "target_language", "source", "target"),
            ("target",),
            _translation_texts,
            _check_translation,
        ),
        Kind(
            "category",
            ("image_ids", "text", "category", "categories"),
            ("category",),
            _plain("text", "category"),
            _check_category,
        ),
        Kind(
            "extraction",
            ("question", "choices", "output", "choice"),
            ("choice",),
            _extraction_texts,
            _check_extraction,
            _unread,
        ),
        Kind(
            "score",
            (
                "image_ids",
                "question",
                "reference",
                "answer",
                "dimensions",
                "lowest",
                "highest",
                "scores",
            ),
            ("scores",),
            _score_texts,
            _check_score,
            _unscored,
        ),
        # A multiple-choice item that was flagged after its release (`methods/choice/flagged.py`).
        replace(_MULTIPLE_CHOICE, name="flagged_item"),
    )
}
"""Every kind by its name. A policy never accepts an item that `needs_edit`."""
