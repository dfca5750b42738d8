"""The kinds of review items: the content of each kind and its editable fields.

`content` is a JSON object with the keys of its kind. People decide on it, and it is hashed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from methods.choice.alphabet import LETTERS
from methods.ids import canonical_json
from methods.invisible_characters import visible_text
from methods.review.faults import (
    EditFault,
    Path,
    require_all,
    require_different,
    require_one_of,
    require_placeholders,
    require_texts,
)

NONE_FITS = "Z"
"""The choice when a model's output names none of the choices (MMBench, section 4.2)."""
MIN_CHOICES = 2
MOST_TURNS = 200
"""The most turns of an edited dialogue, unless the original has more. Turns are compared pairwise."""
WINNERS = ("A", "B", "tie")
"""The verdicts on a pair of answers."""

REASONS = ("factual_error", "does_not_follow", "incomplete", "common_sense_error", "other")
"""Reasons for a rejection: AlignMMBench's four (section 3.3), and `other`, which needs a note."""

Content = Mapping[str, Any]
Texts = list[tuple[str, str]]


@dataclass(frozen=True)
class ReviewKind:
    """One kind of review items: the keys of its content, its editable keys and its functions.

    Attributes:
        texts: Returns (label, text) of each displayed text, in reading order.
        needs_edit: Returns whether a content is incomplete, so that it cannot be accepted without an
            edit.
    """

    name: str
    keys: tuple[str, ...]
    editable: tuple[str, ...]
    texts: Callable[[Content], Texts]
    _validate: Callable[[Content, Content], None]
    needs_edit: Callable[[Content], bool] = lambda content: False

    def check(self, edited: object, original: Content, queued: Content | None = None) -> None:
        """Validate an edited content.

        Args:
            edited: The edited content.
            original: The content before the edit.
            queued: The content of the item in the queue, from which earlier edits made `original`. An
                edit may restore what they removed. None if it is `original`, or not known.

        Raises:
            EditFault: The edit is invalid.
        """
        if not isinstance(edited, dict) or edited.keys() != original.keys():
            raise EditFault(
                "give the whole content, with the keys {keys}.", keys=", ".join(sorted(original))
            )
        changed = [key for key in sorted(original) if _differ(edited[key], original[key])]
        fixed = [key for key in changed if key not in self.editable]
        if fixed:
            raise EditFault(
                "only {editable} may change.", (fixed[0],), editable=", ".join(self.editable)
            )
        self._validate(edited, original if queued is None else queued)
        if not changed:
            raise EditFault("nothing is changed: the verdict would be accept.")


def _differ(value: object, other: object) -> bool:
    # Compare in canonical form, as contents are hashed: 1 and True are equal in Python.
    return canonical_json(value) != canonical_json(other)


# --- Dialogues and rewrites ----------------------------------------------------------------------


_OF_DIALOGUE_TURN = ("question", "answer")
"""The keys of a turn that people may change."""


def _dialogue_texts(content: Content) -> Texts:
    return [
        (f"{key.capitalize()} {number}", turn[key])
        for number, turn in enumerate(content["turns"], start=1)
        for key in _OF_DIALOGUE_TURN
    ]


def _dialogue_turns(turns: Sequence[Mapping[str, Any]], *keys: str) -> dict[Path, Any]:
    return {
        ("turns", number, key): turn.get(key) for number, turn in enumerate(turns) for key in keys
    }


def _fixed_values(turn: Mapping[str, Any]) -> str:
    """Return what of a turn people may not change, such as its question id; empty for a new turn."""
    fixed = {key: value for key, value in turn.items() if key not in _OF_DIALOGUE_TURN}
    return canonical_json(fixed) if fixed else ""


def _check_dialogue(edited: Content, original: Content) -> None:
    turns = edited["turns"]
    if not isinstance(turns, list) or not turns:
        raise EditFault("at least one turn must stay.", ("turns",))
    most = max(MOST_TURNS, len(original["turns"]))
    if len(turns) > most:
        raise EditFault("there are at most {n} turns: remove the others.", ("turns",), n=most)
    fixed = Counter(_fixed_values(turn) for turn in original["turns"])
    for number, turn in enumerate(turns):
        if not isinstance(turn, dict):
            raise EditFault("a turn has a question and an answer.", ("turns", number))
        if values := _fixed_values(turn):
            if not fixed[values]:
                raise EditFault(
                    "only the question and the answer of a turn may change, and each turn may occur "
                    "once.",
                    ("turns", number),
                )
            fixed[values] -= 1
    texts = _dialogue_turns(turns, *_OF_DIALOGUE_TURN)
    checks = [
        partial(
            require_placeholders,
            _dialogue_turns(turns, key),
            _dialogue_turns(original["turns"], key),
        )
        for key in _OF_DIALOGUE_TURN
    ]
    require_all([partial(require_texts, texts), *checks], list(texts))


def _check_text_of(key: str) -> Callable[[Content, Content], None]:
    """Make the check of a kind with one editable text."""

    def check(edited: Content, original: Content) -> None:
        require_texts({(key,): edited[key]})
        require_placeholders({(key,): edited[key]}, {(key,): original[key]})

    return check


# --- Conversations of three turns ----------------------------------------------------------------

_CAPABILITIES = ("perception", "reasoning", "creation")
_OF_TURN = ("question", "category", "reference")
_FOCUS = "focus"
"""The key with the points that a good creative answer must include, one per line."""


def _three_turn_texts(content: Content) -> Texts:
    turns = [
        (f"{name.capitalize()}: {key}", content[name][key])
        for name in _CAPABILITIES
        for key in (*_OF_TURN, *((_FOCUS,) if _FOCUS in content[name] else ()))
    ]
    return [("Caption", content["caption"]), *turns]


def _check_three_turns(edited: Content, original: Content) -> None:
    for name in _CAPABILITIES:
        turn = edited[name]
        if not isinstance(turn, dict) or turn.keys() != original[name].keys():
            keys = ", ".join(original[name])
            raise EditFault("this is an object with the keys {keys}.", (name,), keys=keys)
    texts: dict[Path, object] = {("caption",): edited["caption"]}
    for name in _CAPABILITIES:
        texts |= {(name, key): text for key, text in edited[name].items()}
    checks: list[Callable[[], None]] = [partial(require_texts, texts)]
    for key in ("question", "reference"):
        of_turns: dict[Path, object] = {(name, key): edited[name][key] for name in _CAPABILITIES}
        message = "an earlier turn has the same text: write another."
        checks.append(partial(require_different, of_turns, message))
    before: dict[Path, str] = {("caption",): original["caption"]}
    for name in _CAPABILITIES:
        before |= {(name, key): text for key, text in original[name].items()}
    # The release itself places the image, in the first turn.
    checks += [
        partial(require_placeholders, {path: texts[path]}, {path: before[path]}) for path in texts
    ]
    shown = [
        (name, key)
        for name in _CAPABILITIES
        for key in ("question", "reference", _FOCUS, "category")
    ]
    require_all(checks, [("caption",), *shown])


# --- Questions with an answer --------------------------------------------------------------------


_SAME_CHOICE = "an earlier choice has the same text, so that both would be right: write another."


def _choice_texts(content: Content) -> Texts:
    named = [("Question", content["question"]), ("Hint", content.get("hint"))]
    choices = [(f"Choice {label}", text) for label, text in content["choices"].items()]
    last = [("Answer", content["answer"]), ("Category", content["category"])]
    return [(label, text) for label, text in [*named, *choices, *last] if text]


def _check_multiple_choice(edited: Content, original: Content) -> None:
    if edited["hint"] is not None and not isinstance(edited["hint"], str):
        raise EditFault("this must be a text, or null for none.", ("hint",))
    choices = edited["choices"]
    if not isinstance(choices, dict) or len(choices) < MIN_CHOICES:
        raise EditFault(
            "there are at least {n} choices, each a text by its letter.",
            ("choices",),
            n=MIN_CHOICES,
        )
    if len(choices) > len(LETTERS):
        raise EditFault(
            "there are at most {n} choices: remove the others.", ("choices",), n=len(LETTERS)
        )
    if sorted(choices) != list(LETTERS[: len(choices)]):
        raise EditFault("the letters are A, B, C and so on, without a gap.", ("choices",))
    of_letter: dict[Path, Any] = {("choices", letter): text for letter, text in choices.items()}
    question: dict[Path, Any] = {("question",): edited["question"]}
    # A hint is put before its question, so an image may be placed in either.
    placing: dict[Path, Any] = question | {("hint",): edited["hint"]}
    category: dict[Path, Any] = {("category",): edited["category"]}
    require_all(
        [
            partial(require_texts, question | of_letter | category),
            partial(
                require_placeholders,
                placing,
                {(key,): original[key] or "" for key in ("question", "hint")},
            ),
            partial(require_different, of_letter, _SAME_CHOICE),
            partial(require_one_of, edited["answer"], sorted(choices), ("answer",)),
        ],
        [*placing, *of_letter, ("answer",), *category],
    )


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
        names = ", ".join(sorted(source))
        raise EditFault("this is an object with the keys {keys}.", ("target",), keys=names)
    # An empty source text has an empty translation.
    texts: dict[Path, object] = {
        ("target", name): target[name]
        for name in source
        if visible_text(source[name]) or not isinstance(target[name], str)
    }
    choices: dict[Path, object] = {
        ("target", name): target[name] for name in source if name in LETTERS
    }
    checks = [
        partial(require_placeholders, {("target", name): target[name]}, {("target", name): text})
        for name, text in source.items()
    ]
    require_all(
        [
            partial(require_texts, texts),
            *checks,
            partial(require_different, choices, _SAME_CHOICE),
        ],
        [("target", name) for name in source],
    )


# --- Labels and scores ---------------------------------------------------------------------------


def _check_category(edited: Content, original: Content) -> None:
    require_one_of(edited["category"], original["categories"], ("category",))


def _extraction_texts(content: Content) -> Texts:
    choices = [(f"Choice {label}", text) for label, text in content["choices"].items()]
    texts = [("Question", content["question"]), *choices, ("Output", content["output"])]
    return [*texts, *([("Choice", content["choice"])] if content["choice"] else [])]


def _check_extraction(edited: Content, original: Content) -> None:
    require_one_of(edited["choice"], [*original["choices"], NONE_FITS], ("choice",))


def _check_pair(edited: Content, original: Content) -> None:
    require_one_of(edited["winner"], WINNERS, ("winner",))


def _without(key: str) -> Callable[[Content], bool]:
    """Make a `needs_edit` function for a label that people choose without seeing other labels."""
    return lambda content: content[key] is None


def _score_texts(content: Content) -> Texts:
    texts = [("Question", content["question"]), ("Reference", content["reference"])]
    scores = [
        (
            dimension,
            "" if content["scores"][dimension] is None else str(content["scores"][dimension]),
        )
        for dimension in content["dimensions"]
    ]
    return [
        (label, text) for label, text in [*texts, ("Answer", content["answer"]), *scores] if text
    ]


def _check_score(edited: Content, original: Content) -> None:
    scores, dimensions = edited["scores"], original["dimensions"]
    lowest, highest = original["lowest"], original["highest"]
    if not isinstance(scores, dict) or scores.keys() != set(dimensions):
        names = ", ".join(dimensions)
        raise EditFault("this is an object with the keys {keys}.", ("scores",), keys=names)
    for dimension in dimensions:
        score, path = scores[dimension], ("scores", dimension)
        if score is None:
            raise EditFault("no score is given: choose one.", path)
        # `type` instead of isinstance: in Python True is an int, but it is no score.
        if type(score) is not int or not lowest <= score <= highest:
            raise EditFault(
                "this is a whole number from {lowest} to {highest}.",
                path,
                lowest=lowest,
                highest=highest,
            )


def _unscored(content: Content) -> bool:
    return any(score is None for score in content["scores"].values())


def _plain(*keys: str) -> Callable[[Content], Texts]:
    """Make a `texts` function for texts that are labelled by their keys."""
    return lambda content: [(key.capitalize(), content[key]) for key in keys if content[key]]


_MULTIPLE_CHOICE = ReviewKind(
    "multiple_choice",
    ("image_ids", "question", "hint", "choices", "answer", "category"),
    ("question", "hint", "choices", "answer", "category"),
    _choice_texts,
    _check_multiple_choice,
)

KINDS: dict[str, ReviewKind] = {
    kind.name: kind
    for kind in (
        ReviewKind(
            "dialogue", ("image_ids", "turns"), ("turns",), _dialogue_texts, _check_dialogue
        ),
        ReviewKind(
            "three_turns",
            ("image_ids", "caption", *_CAPABILITIES),
            ("caption", *_CAPABILITIES),
            _three_turn_texts,
            _check_three_turns,
        ),
        _MULTIPLE_CHOICE,
        ReviewKind(
            "rewrite",
            ("original", "rewrite"),
            ("rewrite",),
            _plain("original", "rewrite"),
            _check_text_of("rewrite"),
        ),
        ReviewKind(
            "reference",
            ("image_ids", "question", "reference"),
            ("reference",),
            _plain("question", "reference"),
            _check_text_of("reference"),
        ),
        ReviewKind(
            "translation",
            ("source_language", "target_language", "source", "target"),
            ("target",),
            _translation_texts,
            _check_translation,
        ),
        ReviewKind(
            "category",
            ("image_ids", "text", "category", "categories"),
            ("category",),
            _plain("text", "category"),
            _check_category,
        ),
        ReviewKind(
            "extraction",
            ("question", "choices", "output", "choice"),
            ("choice",),
            _extraction_texts,
            _check_extraction,
            _without("choice"),
        ),
        ReviewKind(
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
        ReviewKind(
            "pair",
            ("image_ids", "question", "a", "b", "winner"),
            ("winner",),
            _plain("question", "a", "b", "winner"),
            _check_pair,
            _without("winner"),
        ),
        # A multiple-choice item that was flagged after its release (`flagged_items.py`).
        replace(_MULTIPLE_CHOICE, name="flagged_item"),
    )
}
"""All kinds by name. A release policy never accepts an item that `needs_edit`."""
