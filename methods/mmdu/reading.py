"""Parsing of generated questions and answers, without additions of the model (MMDU, 2.2, B.2).

Models that should only write "Q1: ..." also write headings, code fences, labels and offers of further
help. They call an image "Image 2" or "the second picture" instead of `<image-2>`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from methods.choice.translation_checks import ORDINALS
from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE, IMAGE_NAME
from methods.prompts.parsing import ParseError, parse_numbered, unfenced
from methods.words import n_words


class Angle(NamedTuple):
    """The angle of a question: a name for statistics, and the words for the prompt of the writer."""

    name: str
    says: str


ON_ONE = (
    Angle("content", "what is shown, from the foreground to the background"),
    Angle("colour and light", "colours and light, and what they do to what is shown"),
    Angle("composition", "how the picture is arranged, and where it leads the eye"),
    Angle("detail", "a detail that is easily missed, and what it tells"),
    Angle("action", "what is happening, or was just before"),
    Angle("place and time", "where and when it may be, and what in the picture tells it"),
    Angle("purpose", "what a thing shown is for, how it works or how it was made"),
    Angle("material", "what things are made of, and in what state they are"),
    Angle("mood", "the mood, and what in the picture makes it"),
    Angle("meaning", "what something shown stands for in a culture or a history"),
    Angle("relation", "how things or people in the picture stand to each other"),
    Angle("change", "what would be different if one thing in the picture were changed"),
)
"""Angles of questions about one image."""

ON_SEVERAL = (
    Angle("shared", "what the pictures share"),
    Angle("difference", "in what the pictures differ"),
    Angle("order", "an order of the pictures by something that can be seen"),
    Angle("odd one", "which picture fits least with the others, and why"),
    Angle("colour and light", "colours and light across the pictures"),
    Angle("composition", "how differently the pictures are arranged"),
    Angle("place and time", "places and times of the pictures, compared"),
    Angle("purpose", "what the things shown are for, compared"),
    Angle("making", "how the things shown were made, and of what, compared"),
    Angle("mood", "moods of the pictures, and what makes them differ"),
    Angle("meaning", "what the things shown mean in a culture or a history, compared"),
    Angle("cause", "how what one picture shows could lead to what another shows"),
    Angle(
        "people and nature", "what the pictures tell of how people use or shape what is around them"
    ),
    Angle("story", "a story, a tour or an exhibition that needs all of the pictures"),
    Angle("advice", "a choice among what is shown, for a purpose, with reasons that can be seen"),
)
"""Angles of questions about several images together."""


def assign_angles(angles: Sequence[Angle], n: int, seed: int, *topic: object) -> list[Angle]:
    """Assign an angle to each question. All angles are used, in a seeded order, before one repeats.

    Args:
        angles: The angles.
        n: The number of questions.
        seed: The seed.
        *topic: Ids of what the questions are about; each topic has a different order.
    """
    result: list[Angle] = []
    while len(result) < n:
        again = len(result) // len(angles)
        result += sorted(
            angles, key=lambda angle: content_id("angle", seed, *topic, again, angle.name)
        )
    return result[:n]


_PICTURE = r"(?:image|picture|photo|photograph)"
_TAG = re.compile(rf"[<\[(]\s*{_PICTURE}[\s_#-]*(\d+)\s*[>\])]", re.IGNORECASE)
"""`<image-1>` and its misspellings, such as `<Image 1>`, `[image_1]`, `(Picture #1)`."""
_NUMBERED = re.compile(
    rf"(?:\bthe\s+)?\b{_PICTURE}[\s_-]*+(?:#|no\.|number\s)?\s*+(\d+)\b(?!>)", re.IGNORECASE
)
_ORDINAL = re.compile(
    rf"\bthe\s+({'|'.join(ORDINALS)}|\d+(?:st|nd|rd|th))\s+{_PICTURE}\b(?!\s+(?:of|ever|that|to|taken)\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A\s*(?:#{1,6}\s*)?(?:\*\*|__)?"
    r"(?:question\s*+\d*|answer\s*+\d*|q(?:\s*+\d\d?)?|a\s*+\d\d?|a(?!.*\bB\s*+[:：]))\s*+"
    r"(?:\*\*|__)?\s*+[:：](?:\*\*|__)?\s*",
    re.IGNORECASE | re.DOTALL,
)
"""A label at the beginning of a reply, such as "Q1:" or "Answer:". "A: the left part. B: the right
part" does not begin with a label, nor does "A320:". Blanks are taken whole, as a model may repeat them
thousands of times."""
_OFFER = re.compile(
    r"""(?:\A|(?<=[.!?。！？\n]))\s*+(?:\*\*|__|-{3,}\s*)?(?:please\s+)?
    (?![^.!?\n]*\b(?:says?|said|reads?|writes?|wrote|asks|announces?|declares?|begs|invites|urges)\b)
    (?: let\s+me\s+know(?=\s*[.!]|\s*\Z|,?\s+
          (?:if|whether|in\s+case|what|which|how|should|when|about|your|any|and\s+i)\b)
      | feel\s+free\s+to\s+(?:ask|reach|let|contact|message|share|request|inquire|provide|follow)\b
      | (?:don['’]t|do\s+not)\s+hesitate\s+to
      | (?:i\s+)?hope\s+(?:this|that|these)\s+(?:helps?|answers?|is\s+helpful)
      | would\s+you\s+like\s+(?:me|to\s+know|more) | is\s+there\s+anything\s+else
      | if\s+you(?:['’]d|\s+would)?\s+(?:have|need|want|like|are\s+interested)\b[^.!?\n]*
        \b(?:let\s+me\s+know|ask|questions?|help|happy|glad|more\s+detail|further|free)
      | (?:i['’]m|i\s+am)\s+(?:happy|glad|here)\s+to\s+(?:help|assist|provide|answer) )
    [^.!?。！？\n"“”«»]*[.!?。！？]?\s*+(?:\*\*|__)?\s*+\Z""",
    re.IGNORECASE | re.VERBOSE,
)
"""A closing offer of further help. Texts that are read from the image do not match: they are in
quotation marks or follow a word such as "says"."""
_LONGEST_OFFER, _MOST_OFFERS = 1_000, 20
"""The number of characters at the end of a text that are searched for an offer, and the most offers
that are removed from a text."""
_RULE = re.compile(r"[ \t]*(?:-{3,}|\*{3,}|_{3,})")


def read_questions(reply: str, expected: int, n_images: int) -> list[str]:
    """Read the questions Q1 to Qn of a reply, with images named `<image-i>`.

    Args:
        reply: The reply.
        expected: The number of questions.
        n_images: The number of images shown.

    Raises:
        ParseError: The reasons of `parse_numbered` and of `read_answer`.
    """
    return [
        _read_text(text, f"Q{number}", n_images)
        for number, text in enumerate(parse_numbered(reply, "Q", expected), start=1)
    ]


def read_answer(reply: str, n_images: int, fewest_words: int) -> str:
    """Read the answer of a reply, with images named `<image-i>`.

    Args:
        reply: The reply.
        n_images: The number of images shown.
        fewest_words: The fewest words of an answer.

    Raises:
        ParseError: The answer is empty or has too few words, refers to an image that was not shown, or
            contains `<ImageHere>`, which would add an image.
    """
    answer = _read_text(reply, "The answer", n_images)
    if (length := n_words(answer)) < fewest_words:
        raise ParseError(
            "short_answer", f"The answer has {length} words and needs {fewest_words} at least."
        )
    return answer


def _read_text(text: str, label: str, n_images: int) -> str:
    return _checked(with_references(without_additions(text), n_images), label, n_images)


def without_additions(text: str) -> str:
    """Remove code fence, label, horizontal rules below and closing offers of help from a text."""
    text = _LABEL.sub("", unfenced(text)).strip()
    for _ in range(_MOST_OFFERS):
        shorter = _without_rules(text)
        if offer := _OFFER.search(shorter, max(0, len(shorter) - _LONGEST_OFFER)):
            shorter = shorter[: offer.start()].rstrip()
        if shorter == text:
            break
        text = shorter
    return text


def _without_rules(text: str) -> str:
    """The text without horizontal rules below it."""
    lines = text.split("\n")
    n = len(lines)
    while n > 1 and _RULE.fullmatch(lines[n - 1].rstrip()):
        n -= 1
        while n > 1 and not lines[n - 1].strip():
            n -= 1
    return text if n == len(lines) else "\n".join(lines[:n]).rstrip()


def with_references(text: str, n_images: int) -> str:
    """Replace other names of images, such as "Image 2" or "the second picture", by `<image-i>`.

    Numbers and ordinals without brackets that exceed `n_images` name something else and are kept.
    """

    def tagged(match: re.Match[str]) -> str:
        return f"<image-{int(match[1][:9])}>"

    def numbered(match: re.Match[str]) -> str:
        named = match[1].casefold()
        number = ORDINALS.index(named) + 1 if named in ORDINALS else int(_digits(named))
        return f"<image-{number}>" if 1 <= number <= n_images else match[0]

    parts = re.split(r"(<image-\d+>)", _TAG.sub(tagged, text))
    return "".join(
        part if place % 2 else _ORDINAL.sub(numbered, _NUMBERED.sub(numbered, part))
        for place, part in enumerate(parts)
    )


def _digits(text: str) -> str:
    # Nine digits suffice to recognize an unknown image; int() fails for thousands of digits.
    return re.sub(r"\D", "", text)[:9]


def _checked(text: str, label: str, n_images: int) -> str:
    if not text:
        raise ParseError("empty_block", f"{label} is empty.")
    if IMAGE_HERE in text:
        raise ParseError("forged_image", f"{label} contains {IMAGE_HERE} itself.")
    for name in re.findall(IMAGE_NAME, text):
        if not 1 <= int(name[:9]) <= n_images:
            shown = "<image-1>" if n_images == 1 else f"<image-1> to <image-{n_images}>"
            raise ParseError(
                "unknown_image", f"{label} names <image-{name[:9]}>: there is {shown}."
            )
    return text
