"""The kinds of things that people review: what each holds, what of it may change, what a change is.

`content` is what is decided on and hashed, a JSON object of the keys that the kind names. What
belongs here: the shape of each kind's content, which keys people may change and what must hold of a
changed content; its texts in reading order. What does not: verdicts and who gave them
(`decisions.py`), how a kind is shown (`review/`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from methods.ids import canonical_json
from methods.prompts.messages import IMAGE_HERE

NONE_FITS = "Z"
"""The choice of an extraction whose output names none of the choices (MMBench, section 4.2)."""
MIN_CHOICES = 2

REASONS = ("factual_error", "does_not_follow", "incomplete", "common_sense_error", "other")
"""Why something is rejected: AlignMMBench's four reasons (section 3.3), and `other`, which needs a
note."""

Content = Mapping[str, Any]
Texts = list[tuple[str, str]]


@dataclass(frozen=True)
class Kind:
    """One kind: the keys of its content, those that people may change, and its two functions.

    `texts` gives (label, text) in reading order, of every text a person reads. `needs_edit` says
    that the content cannot be accepted as it stands, since it is people who complete it.
    """

    name: str
    keys: tuple[str, ...]
    editable: tuple[str, ...]
    texts: Callable[[Content], Texts]
    _holds: Callable[[Content, Content], None]
    needs_edit: Callable[[Content], bool] = lambda content: False

    def check(self, edited: object, original: Content) -> None:
        """Raise ValueError with one sentence unless `edited` is a valid change of `original`."""
        if not isinstance(edited, dict) or edited.keys() != original.keys():
            keys = sorted(original)
            raise ValueError(f"edit needs edits: the whole content, with the keys {keys}.")
        changed = [key for key in sorted(original) if _differ(edited[key], original[key])]
        fixed = [key for key in changed if key not in self.editable]
        if fixed:
            may = ", ".join(self.editable)
            raise ValueError(f"edits may change {may} alone, and they change {fixed}.")
        self._holds(edited, original)
        if not changed:
            raise ValueError("edits change nothing: the verdict would be accept.")


def _differ(one: object, other: object) -> bool:
    # By canonical form, as they are hashed: 1 and true are equal in Python.
    return canonical_json(one) != canonical_json(other)


def _need_texts(what: str, texts: Sequence[object]) -> None:
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError(f"edits need {what} with every text in place, and one is missing.")


def _keep_places(where: str, edited: Sequence[str], original: Sequence[str]) -> None:
    # A text whose images no longer match their places cannot be sent to any model.
    if " ".join(edited).count(IMAGE_HERE) != " ".join(original).count(IMAGE_HERE):
        raise ValueError(f"edits must keep the {IMAGE_HERE} of {where}.")


# --- Dialogues and rewrites ----------------------------------------------------------------------


def _dialogue_texts(content: Content) -> Texts:
    return [
        (f"{key.capitalize()} {number}", turn[key])
        for number, turn in enumerate(content["turns"], start=1)
        for key in ("question", "answer")
    ]


def _dialogue_holds(edited: Content, original: Content) -> None:
    turns = edited["turns"]
    if not isinstance(turns, list) or not turns:
        raise ValueError("edits need turns, a list with at least one turn.")
    if not all(isinstance(turn, dict) for turn in turns):
        raise ValueError("every turn of the edits has a question and an answer.")
    _need_texts("turns", [turn.get(key) for turn in turns for key in ("question", "answer")])
    for key in ("question", "answer"):
        before = [turn[key] for turn in original["turns"]]
        _keep_places(f"the content's {key}s, and add none", [turn[key] for turn in turns], before)


def _rewrite_holds(edited: Content, original: Content) -> None:
    _need_texts("rewrite", [edited["rewrite"]])
    _keep_places("the content's rewrite", [edited["rewrite"]], [original["rewrite"]])


# --- Questions with an answer --------------------------------------------------------------------


def _choice_texts(content: Content) -> Texts:
    named = [("Question", content["question"]), ("Hint", content.get("hint"))]
    choices = [(f"Choice {label}", text) for label, text in content["choices"].items()]
    last = [("Answer", content["answer"]), ("Category", content["category"])]
    return [(label, text) for label, text in [*named, *choices, *last] if text]


def _choice_holds(edited: Content, original: Content) -> None:
    _need_texts("question and category", [edited["question"], edited["category"]])
    if edited["hint"] is not None and not isinstance(edited["hint"], str):
        raise ValueError("the hint of the edits is a text, or null where there is none.")
    choices = edited["choices"]
    if not isinstance(choices, dict) or len(choices) < MIN_CHOICES:
        raise ValueError(f"edits need choices, at least {MIN_CHOICES}, each a text by its label.")
    if sorted(choices) != list(ascii_uppercase[: len(choices)]):
        raise ValueError("the choices of the edits are labelled A, B, C and so on, none left out.")
    _need_texts("choices", list(choices.values()))
    if len({text.strip() for text in choices.values()}) < len(choices):
        raise ValueError("two choices of the edits say the same: one of them would be as right.")
    if not isinstance(edited["answer"], str) or edited["answer"] not in choices:
        raise ValueError(f"the answer of the edits is one of {', '.join(sorted(choices))}.")
    _keep_places("the content's question", [edited["question"]], [original["question"]])


def _reference_holds(edited: Content, original: Content) -> None:
    _need_texts("reference", [edited["reference"]])
    _keep_places("the content's reference", [edited["reference"]], [original["reference"]])


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


def _translation_holds(edited: Content, original: Content) -> None:
    source, target = original["source"], edited["target"]
    if not isinstance(target, dict) or target.keys() != source.keys():
        raise ValueError(f"edits need target, a text for each of {', '.join(sorted(source))}.")
    if not all(isinstance(text, str) for text in target.values()):
        raise ValueError("every target of the edits is a text.")
    # What is empty at the source is empty in the other language, too.
    _need_texts("target", [target[name] for name, text in source.items() if text.strip()])
    for name, text in source.items():
        _keep_places(f"{name} as it stands in the source", [target[name]], [text])


# --- Labels and scores ---------------------------------------------------------------------------


def _category_holds(edited: Content, original: Content) -> None:
    if edited["category"] not in original["categories"]:
        raise ValueError(
            f"the category of the edits is one of {', '.join(original['categories'])}."
        )


def _extraction_texts(content: Content) -> Texts:
    choices = [(f"Choice {label}", text) for label, text in content["choices"].items()]
    ends = [("Output", content["output"]), ("Choice", content["choice"])]
    return [("Question", content["question"]), *choices, *ends]


def _extraction_holds(edited: Content, original: Content) -> None:
    labels = [*original["choices"], NONE_FITS]
    if edited["choice"] not in labels:
        raise ValueError(f"the choice of the edits is one of {', '.join(labels)}.")


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


def _score_holds(edited: Content, original: Content) -> None:
    scores, dimensions = edited["scores"], original["dimensions"]
    lowest, highest = original["lowest"], original["highest"]
    if not isinstance(scores, dict) or scores.keys() != set(dimensions):
        raise ValueError(f"edits need scores, one for each of {', '.join(dimensions)}.")
    # True is an integer in Python and none to people.
    if not all(type(score) is int and lowest <= score <= highest for score in scores.values()):
        raise ValueError(f"every score of the edits is a whole number from {lowest} to {highest}.")


def _unscored(content: Content) -> bool:
    return any(score is None for score in content["scores"].values())


def _plain(*keys: str) -> Callable[[Content], Texts]:
    """Texts that stand under their own keys."""
    return lambda content: [(key.capitalize(), content[key]) for key in keys if content[key]]


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("dialogue", ("image_ids", "turns"), ("turns",), _dialogue_texts, _dialogue_holds),
        Kind(
            "multiple_choice",
            ("image_ids", "question", "hint", "choices", "answer", "category"),
            ("question", "hint", "choices", "answer", "category"),
            _choice_texts,
            _choice_holds,
        ),
        Kind(
            "rewrite",
            ("original", "rewrite"),
            ("rewrite",),
            _plain("original", "rewrite"),
            _rewrite_holds,
        ),
        Kind(
            "reference",
            ("image_ids", "question", "reference"),
            ("reference",),
            _plain("question", "reference"),
            _reference_holds,
        ),
        Kind(
            "translation",
            ("source_language", "target_language", "source", "target"),
            ("target",),
            _translation_texts,
            _translation_holds,
        ),
        Kind(
            "category",
            ("image_ids", "text", "category", "categories"),
            ("category",),
            _plain("text", "category"),
            _category_holds,
        ),
        Kind(
            "extraction",
            ("question", "choices", "output", "choice"),
            ("choice",),
            _extraction_texts,
            _extraction_holds,
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
            _score_holds,
            _unscored,
        ),
    )
}
"""Every kind by its name. A policy accepts none that `needs_edit`: it cannot say what people would."""
