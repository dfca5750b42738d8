"""Word-level diff of two contents of a review item."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Literal

from methods.review.kinds import KINDS

Op = Literal["same", "removed", "added"]
Difference = tuple[str, list[tuple[Op, str]]]
"""The label of a text, and its pieces in reading order. "same" and "added" pieces make the new text,
"same" and "removed" pieces the old text."""

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
"""Words, marks and spaces. Spaces are included, so that the pieces make the whole text."""
MOST_COMPARED = 20_000
"""Words, marks and spaces of two texts together that are compared; this takes up to 3 s."""
_WITH_TURNS = ("dialogue",)
"""Kinds with a list of turns that people may extend, shorten and reorder, so that the number in a label
is only a position."""


def differences(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Compare the texts of two contents of an item.

    A text that only one content has is completely added or removed. In a dialogue with added or removed
    turns, each remaining turn is compared with its old version. A moved turn counts as removed and
    added.

    Args:
        kind: The kind of item.
        before: The old content.
        after: The new content.

    Returns:
        The differences of every text, in the order of `after`.
    """
    old, new = KINDS[kind].texts(before), KINDS[kind].texts(after)
    pairs = _by_turn(old, new) if kind in _WITH_TURNS else _by_label(old, new)
    return [(label, word_differences(*texts)) for label, *texts in pairs]


def word_differences(before: str, after: str) -> list[tuple[Op, str]]:
    """Compare two texts word by word.

    In a text of 200 words or more, very frequent words are only matched next to other matches, since
    the exact comparison of a thousand equal words takes half a minute. Of two texts that have more than
    `MOST_COMPARED` together, one is completely removed and the other completely added.

    Args:
        before: The old text.
        after: The new text.

    Returns:
        The pieces in order, each "same", "removed" or "added".
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if before != after and len(old) + len(new) > MOST_COMPARED:
        return [("removed", before), ("added", after)]
    # difflib ignores frequent words of the second text only, so the longer text must be the second.
    swapped = len(old) > len(new)
    texts = (new, old) if swapped else (old, new)
    pieces: list[tuple[Op, str]] = []
    for op, i, j, k, m in SequenceMatcher(None, *texts).get_opcodes():
        if swapped:
            i, j, k, m = k, m, i, j
        if op == "equal":
            pieces.append(("same", "".join(old[i:j])))
            continue
        sides: tuple[tuple[Op, list[str]], ...] = (("removed", old[i:j]), ("added", new[k:m]))
        pieces += [(side, "".join(part)) for side, part in sides if part]
    return pieces


def _by_label(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    before, after = dict(old), dict(new)
    removed = [label for label in before if label not in after]
    return [(label, before.get(label, ""), after.get(label, "")) for label in [*after, *removed]]


def _by_turn(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    """Pair texts turn by turn: equal turns are matched, and the turns between them in order."""
    before, after = _turns(old), _turns(new)
    matcher = SequenceMatcher(
        None,
        [tuple(text for _, text in turn) for turn in before],
        [tuple(text for _, text in turn) for turn in after],
        autojunk=False,
    )
    pairs = []
    for _, i, j, k, m in matcher.get_opcodes():
        for old_turn, new_turn in zip_longest(before[i:j], after[k:m], fillvalue=()):
            for left, right in zip_longest(old_turn, new_turn):
                label = (right or left)[0]
                pairs.append((label, left[1] if left else "", right[1] if right else ""))
    return pairs


def _turns(texts: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, str], ...]]:
    """Group texts into turns of a question and an answer."""
    return list(zip(texts[::2], texts[1::2], strict=True))
