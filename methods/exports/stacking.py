"""Stacking (sequence packing): whole dialogues of a release are joined into one training record, up to
a token budget.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from methods.exports.rows import ExportedItem, ExportedMessage, messages, shown_images
from methods.ids import content_id
from methods.prompts.messages import IMAGE_NAME

Count = Callable[[str], int]
"""The number of tokens of a text."""
BYTES_PER_TOKEN = 3
PER_MESSAGE = 5
"""Tokens of a message in addition to its text, for its role, begin and end. Chosen by hand."""
BY_RULE = f"a token for every {BYTES_PER_TOKEN} bytes of UTF-8"
_NAMED = re.compile(IMAGE_NAME, re.IGNORECASE)
_PLACE = re.compile(r"\bImage(\d{1,9}): \Z")
"""The label before an image in MMDU's format, such as "Image1: "."""


class TokenBudget(NamedTuple):
    """The most tokens of a record, the tokens of one image, and the path of the tokenizer.

    With an empty `tokenizer`, tokens are estimated by `estimate_tokens`.
    """

    tokens: int
    picture_tokens: int
    tokenizer: str = ""


class Stack(NamedTuple):
    """The dialogues of one record, their number of tokens, and whether they fit the budget."""

    items: tuple[ExportedItem, ...]
    tokens: int
    whole: bool


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one for every 3 bytes. For Latin letters it is rather too many."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def tokens_of(item: ExportedItem, count: Count, budget: TokenBudget) -> int:
    """Count the tokens of a dialogue: its texts, its images and `PER_MESSAGE` for each message."""
    dialogue = messages(item)
    texts = sum(count(part) for each in dialogue for part in each.parts if isinstance(part, str))
    return texts + len(shown_images(dialogue)) * budget.picture_tokens + len(dialogue) * PER_MESSAGE


def stacks(items: Sequence[ExportedItem], count: Count, budget: TokenBudget) -> list[Stack]:
    """Pack dialogues into records, each into the first record that has room.

    A record has no image twice, because one image would have two numbers. A dialogue is a separate
    record if it is longer than the budget, or if its text names an image that it does not show.
    Dialogues are never cut.

    Args:
        items: The dialogues in order.
        count: Counts the tokens of a text.
        budget: The tokens of a record and of an image.
    """
    records: list[list[ExportedItem]] = []
    sizes: list[int] = []
    pictures: list[set[str]] = []
    closed: set[int] = set()
    for item in items:
        size = tokens_of(item, count, budget)
        own = {item.pictures[number].image_id for number in shown_images(messages(item))}
        alone = size > budget.tokens or not _names_what_it_shows(item)
        open_places = (
            () if alone else (place for place in range(len(records)) if place not in closed)
        )
        place = next(
            (
                place
                for place in open_places
                if sizes[place] + size <= budget.tokens and not own & pictures[place]
            ),
            len(records),
        )
        if place == len(records):
            records.append([])
            sizes.append(0)
            pictures.append(set())
        if alone:
            closed.add(place)
        records[place].append(item)
        sizes[place] += size
        pictures[place] |= own
    return [
        Stack(tuple(members), size, size <= budget.tokens)
        for members, size in zip(records, sizes, strict=True)
    ]


def join_dialogues(items: Sequence[ExportedItem]) -> ExportedItem:
    """Join dialogues into one item, with the images renumbered (`<image-i>`) through all dialogues.

    Images that no message shows are removed. A single dialogue is returned unchanged.
    """
    if len(items) == 1:
        return items[0]
    dialogue: list[ExportedMessage] = []
    before = 0
    pictures = []
    for item in items:
        own = messages(item)
        entered = list(dict.fromkeys(shown_images(own)))
        numbers = {number: before + place for place, number in enumerate(entered)}
        dialogue += [each._replace(parts=tuple(_counted_on(each.parts, numbers))) for each in own]
        pictures += [item.pictures[number] for number in entered]
        before += len(entered)
    ids = tuple(item.item_id for item in items)
    first = items[0]
    return replace(
        first,
        item_id=content_id("stack", *ids),
        turns=(),
        choices=(),
        pictures=tuple(pictures),
        messages=tuple(dialogue),
        stacked=ids,
    )


def stacking_summary(budget: TokenBudget, sizes: Sequence[int], n_longer: int) -> str:
    """Describe stacked records: how tokens were counted, and that nothing was cut.

    Args:
        budget: The tokens of a record and of an image.
        sizes: The number of dialogues of each record.
        n_longer: The number of dialogues that are longer than a record.
    """
    by = f"the tokenizer {budget.tokenizer}" if budget.tokenizer else f"rule ({BY_RULE})"
    longer = f" {n_longer} longer dialogues are whole records of their own." if n_longer else ""
    return (
        f"Stacked: {sum(sizes)} dialogues in {len(sizes)} records of at most {budget.tokens} tokens by "
        f"{by}, {budget.picture_tokens} for a picture and {PER_MESSAGE} for the marks around a "
        f"message; `<image-i>` counts on inside a record.{longer}"
    )


def _counted_on(parts: Sequence[str | int], numbers: dict[int, int]) -> Iterator[str | int]:
    for place, part in enumerate(parts):
        if isinstance(part, int):
            yield numbers[part]
            continue
        text = _NAMED.sub(lambda match: f"<image-{numbers[int(match[1]) - 1] + 1}>", part)
        if place + 1 < len(parts) and isinstance(parts[place + 1], int):
            text = _PLACE.sub(lambda match: _renumbered(match, numbers), text)
        yield text


def _renumbered(match: re.Match[str], numbers: dict[int, int]) -> str:
    number = numbers.get(int(match[1]) - 1)
    return match[0] if number is None else f"Image{number + 1}: "


def _names_what_it_shows(item: ExportedItem) -> bool:
    dialogue = messages(item)
    entered = set(shown_images(dialogue))
    named = (
        match[1]
        for message in dialogue
        for part in message.parts
        if isinstance(part, str)
        for match in _NAMED.finditer(part)
    )
    return all(len(number) < 9 and int(number) - 1 in entered for number in named)
