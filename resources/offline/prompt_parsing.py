"""Reading a prompt: delimited data, labelled pictures, the number of texts asked for.

What belongs here: parsing the outer form of the project's prompts. Text inside a tag is data, in
which every "</" was rewritten as "< /": the first closing tag is therefore the right one. Part of the
offline stand-in; no model is called.
"""

from __future__ import annotations

import re

from resources.offline.chat_request import ChatRequest, Message, Picture
from resources.offline.image_facts import Facts

_SECTION = re.compile(r"<([a-z]+)(?: image=\"\d+\")?>([^<]*(?:<(?!/)[^<]*)*)</\1>")
IMAGE_NAME = re.compile(r"<image-(\d+)>")
"""What a text names a picture by."""
_LABEL_AT_END = re.compile(IMAGE_NAME.pattern + r"\s*:?\s*$")
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def sections(text: str) -> dict[str, str]:
    """Return the content of each outermost tag; of a repeated tag, the first."""
    found: dict[str, str] = {}
    for tag, content in all_sections(text):
        found.setdefault(tag, content)
    return found


def all_sections(text: str) -> list[tuple[str, str]]:
    """Return (tag, content) of each outermost tag, in order."""
    return [(match.group(1), match.group(2).strip()) for match in _SECTION.finditer(text)]


def labelled(message: Message) -> dict[int, Facts]:
    """Return a message's pictures by the `<image-i>` label before each, or else by position."""
    pictures: dict[int, Facts] = {}
    before = ""
    for part in message.parts:
        if isinstance(part, str):
            before = part
            continue
        label = _LABEL_AT_END.search(before)
        pictures[int(label.group(1)) if label else len(pictures) + 1] = part.facts
        before = ""
    return pictures


def numbered(request: ChatRequest) -> dict[int, Facts]:
    """Return a chat's pictures, numbered over the whole conversation in order of appearance."""
    pictures: dict[int, Facts] = {}
    for message in request.messages:
        for picture in message.pictures:
            pictures[len(pictures) + 1] = picture.facts
    return pictures


def last_attached(request: ChatRequest) -> list[int]:
    """Return the numbers of the pictures that came with the user's last message."""
    total = 0
    first = 0
    for message in request.messages:
        if message is request.last_user:
            first = total
        total += sum(isinstance(part, Picture) for part in message.parts)
    return list(range(first + 1, first + 1 + len(request.last_user.pictures)))


def tokens(text: str) -> list[int]:
    """Return the numbers of the `<image-i>` tokens in a text, each once, in order."""
    return list(dict.fromkeys(int(number) for number in IMAGE_NAME.findall(text)))


def asked_about(question: str, pictures: dict[int, Facts]) -> list[int]:
    """Return the pictures a question names, or all of them when it names none."""
    named = [number for number in tokens(question) if number in pictures]
    return named or list(pictures)


def exactly(text: str, noun: str, default: int) -> int:
    """Return N of the phrase "exactly N <noun>"."""
    match = re.search(rf"exactly\s+(\w+)\s+{noun}", text, re.IGNORECASE)
    word = match.group(1).lower() if match else ""
    if word.isdigit():
        return max(1, min(50, int(word)))
    return _NUMBER_WORDS.index(word) + 1 if word in _NUMBER_WORDS else default
