"""What changed between two contents, word by word.

What belongs here: which text of the one stands opposite which of the other, and their words compared.
How differences are shown is up to who shows them.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Literal

from methods.review.kinds import KINDS

Op = Literal["same", "removed", "added"]
Difference = tuple[str, list[tuple[Op, str]]]
"""A text's label, and its pieces in reading order: joined, those that are not removed are the new
text, and those that are not added the old one."""

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
"""Spaces are words of their own, so that nothing is lost between the others."""
_LISTED = ("dialogue",)
"""Kinds whose texts are a list that people add to and take from: a label there is only a place."""


def differences(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Every text of either content with what changed in it, in the order of `after`.

    A text that stands in one of them alone is wholly added or removed. In a dialogue that lost or got
    turns the remaining ones are compared with themselves, and one that was moved is taken from its
    place and added at the other.
    """
    old, new = KINDS[kind].texts(before), KINDS[kind].texts(after)
    pairs = _in_step(old, new) if kind in _LISTED else _by_label(old, new)
    return [(label, words(*texts)) for label, *texts in pairs]


def words(before: str, after: str) -> list[tuple[Op, str]]:
    """The two texts as pieces that both have, or only one of them."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    pieces: list[tuple[Op, str]] = []
    for op, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if op == "equal":
            pieces.append(("same", "".join(old[i:j])))
            continue
        sides: tuple[tuple[Op, list[str]], ...] = (("removed", old[i:j]), ("added", new[k:m]))
        pieces += [(side, "".join(said)) for side, said in sides if said]
    return pieces


def _by_label(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    before, after = dict(old), dict(new)
    gone = [label for label in before if label not in after]
    return [(label, before.get(label, ""), after.get(label, "")) for label in [*after, *gone]]


def _in_step(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    """Turns of two dialogues side by side: equal ones first, then what stands between them."""
    before, after = _turns(old), _turns(new)
    matcher = SequenceMatcher(
        None,
        [tuple(text for _, text in turn) for turn in before],
        [tuple(text for _, text in turn) for turn in after],
        autojunk=False,
    )
    pairs = []
    for _, i, j, k, m in matcher.get_opcodes():
        for gone, come in zip_longest(before[i:j], after[k:m], fillvalue=()):
            for left, right in zip_longest(gone, come):
                label = (right or left)[0]
                pairs.append((label, left[1] if left else "", right[1] if right else ""))
    return pairs


def _turns(texts: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, str], ...]]:
    """Each turn's question and answer."""
    return list(zip(texts[::2], texts[1::2], strict=True))
