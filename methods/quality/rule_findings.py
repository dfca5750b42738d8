"""Findings of the quality rules in pairs that the checks have not read: edited and imported pairs.

The findings drop no pairs: people have decided on edited pairs, and imported benchmarks do not change.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from methods.quality.grounding import Grounds, ungrounded_in
from methods.quality.outcome import (
    LEFTOVER,
    MATERIAL,
    NEAR_DUPLICATE,
    REFUSAL,
    REPEATED,
    TRUNCATION,
    UNCHECKED,
    UNGROUNDED,
    DialogueContent,
)
from methods.quality.rules import RuleLimits, by_rules

READ = (REFUSAL, TRUNCATION, LEFTOVER, MATERIAL, REPEATED, NEAR_DUPLICATE)
"""Rules that only need the dialogue. Length limits are left out, because they are settings for the
writer model."""
MOST_NAMED = 20
"""The most findings that a message lists."""


class RuleFinding(NamedTuple):
    """A finding of a rule in a turn of a dialogue."""

    dialogue_id: str
    turn: int
    reason: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.dialogue_id}, turn {self.turn}: {self.reason} ({self.evidence})"


def apply_rules(
    dialogue: DialogueContent,
    limits: RuleLimits,
    turns: Collection[int],
    grounds: Sequence[str] = (),
) -> list[RuleFinding]:
    """Apply the rules to turns of a dialogue.

    Args:
        dialogue: The dialogue.
        limits: The limits of the rules.
        turns: The turns to check.
        grounds: The source texts of the answers in addition to the questions. Without any, names and
            numbers of answers are not checked.
    """
    evidence = by_rules([dialogue], limits)
    questions = [pair.question for pair in dialogue.pairs]
    sources = Grounds.from_texts([*grounds, *questions] if grounds else [])
    results = []
    for pair in dialogue.pairs:
        if pair.turn not in turns:
            continue
        of_pair = evidence[pair.dialogue_id, pair.question_id]
        details = {reason: of_pair[reason] for reason in READ}
        details[UNGROUNDED] = ungrounded_in(pair.answer, sources)
        results += [
            RuleFinding(pair.dialogue_id, pair.turn, reason, what)
            for reason, what in details.items()
            if what is not None
        ]
    return results


def counts_of(results: Iterable[RuleFinding]) -> dict[str, int]:
    """Count the findings of each rule, with the keys `unchecked_<rule>`."""
    counted = Counter(finding.reason for finding in results)
    return {f"{UNCHECKED}_{reason}": counted[reason] for reason in sorted(counted)}


def in_words(results: Sequence[RuleFinding]) -> str:
    """Write the findings on one line; empty if there are none."""
    more = len(results) - MOST_NAMED
    texts = [*map(str, results[:MOST_NAMED]), *([f"and {more} more"] if more > 0 else [])]
    return "; ".join(texts)
