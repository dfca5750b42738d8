"""Word-level diff of two contents of a review item."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Literal

from methods.review.kinds import KINDS, MOST_TURNS

Op = Literal["same", "removed", "added"]
Difference = tuple[str, list[tuple[Op, str]]]
"""The label of a text, and its pieces in reading order. "same" and "added" pieces make the new text,
"same" and "removed" pieces the old text."""

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
"""Words, marks and spaces. Spaces are included, so that the pieces make the whole text."""
MOST_COMPARED = 20_000
"""Words, marks and spaces that are compared in all texts of an item together."""
MOST_STEPS = 30_000_000
"""The most steps for two texts: their pairs of equal words, and a quarter of the words of the shorter
one, times these words. difflib takes up to 1 s for them; ordinary texts take far less."""
_WITH_TURNS = ("dialogue",)
"""Kinds with a list of turns that people may extend, shorten and reorder, so that the number in a label
is only a position."""


def differences(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Compare the texts of two contents of an item.

    A text that only one content has is completely added or removed. In a dialogue with added or removed
    turns, each remaining turn is compared with its old version. A moved turn counts as removed and
    added. In a dialogue of more than `MOST_TURNS`, which an edit from before this limit may have, turns
    are compared by their numbers. All changed texts together are compared up to `MOST_COMPARED`.

    Args:
        kind: The kind of item.
        before: The old content.
        after: The new content.

    Returns:
        The differences of every text, in the order of `after`.
    """
    old, new = KINDS[kind].texts(before), KINDS[kind].texts(after)
    has_few_turns = max(len(old), len(new)) <= 2 * MOST_TURNS
    pairs = (_by_turn if kind in _WITH_TURNS and has_few_turns else _by_label)(old, new)
    result = []
    n_left = MOST_COMPARED
    for label, old_text, new_text in pairs:
        result.append((label, word_differences(old_text, new_text, n_left)))
        if old_text and new_text and old_text != new_text:
            n_words = sum(len(_WORDS.findall(text)) for text in (old_text, new_text))
            n_left -= n_words if n_words <= n_left else 0
    return result


def word_differences(before: str, after: str, most: int = MOST_COMPARED) -> list[tuple[Op, str]]:
    """Compare two texts word by word.

    In a text of 200 words or more, very frequent words are only matched next to other matches, since
    the exact comparison of a thousand equal words takes half a minute. Of two texts that have more than
    `most` together, or take more than MOST_STEPS, one is completely removed and the other completely
    added.

    Args:
        before: The old text.
        after: The new text.
        most: The most words, marks and spaces of both texts that are compared.

    Returns:
        The pieces in order, each "same", "removed" or "added".
    """
    if before == after:
        return [("same", before)] if before else []
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    # difflib ignores frequent words of the second text only, so the longer text must be the second.
    swapped = len(old) > len(new)
    texts = (new, old) if swapped else (old, new)
    if len(old) + len(new) > most or _n_steps(*texts) > MOST_STEPS:
        whole: tuple[tuple[Op, str], ...] = (("removed", before), ("added", after))
        return [(side, text) for side, text in whole if text]
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


def _n_steps(shorter: Sequence[str], longer: Sequence[str]) -> int:
    """Return the most steps of difflib, which leaves out words that are frequent in the longer text."""
    counts = Counter(longer)
    most = len(longer) // 100 + 1 if len(longer) >= 200 else len(longer)
    n_pairs = sum(counts[word] for word in shorter if counts[word] <= most)
    return (n_pairs + len(shorter) // 4) * len(shorter)


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
