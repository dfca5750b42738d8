"""Texts of two writers: what they consist of, and what the rules find of the half they were tuned on.

The figures of the held-out half stand in docs/results/quality-checks.md.
"""

from collections import Counter

import pytest

from tests.methods.quality import written

LEAST_FOUND = {
    "repeat": 0.35,
    "missing": 0.75,
    "ground.name": 0.95,
    "ground.number": 0.75,
    "refusal": 0.85,
    "leftover": 0.45,
    "cut": 0.4,
    "turns.empty": 1.0,
}
"""Of the texts of the seen half with a fault; of other kinds no rule is to find any."""


def test_each_half_has_as_many_texts_with_a_fault_as_without_and_no_topic_of_the_other() -> None:
    halves = [written.texts(half) for half in written.HALVES]
    for texts in halves:
        assert Counter(text["sound"] for text in texts) == {True: 150, False: 150}
        assert Counter(text["style"] for text in texts) == {"formal": 150, "chatty": 150}
        assert {text["kind"] for text in texts if not text["sound"]} <= set(written.IN_WORDS)
        assert {text["kind"] for text in texts if text["sound"]} <= set(written.LOOKS)
    seen, held_out = ({text["topic"] for text in texts} for texts in halves)
    assert len(seen) == len(held_out) == 50 and not seen & held_out
    ids = [text["id"] for texts in halves for text in texts]
    assert len(set(ids)) == len(ids) == 600


def test_of_the_seen_half_most_faults_are_found_and_hardly_a_text_without_one_is_named() -> None:
    told = written.figures(written.SEEN)
    for each in told:
        if not each.sound:
            assert each.named >= LEAST_FOUND.get(each.kind, 0) * each.n, each
    precision, recall = written.precision_and_recall(told)
    assert precision >= 0.94 and recall >= 0.54
    # These five say "the caption" or "the text", which no reader is shown.
    assert written.false_alarms(written.SEEN) == {"material": 5}


@pytest.mark.parametrize("looks", ["quoted", "pict"])
def test_what_sounded_like_a_fault_is_named_no_more(looks: str) -> None:
    (told,) = [each for each in written.figures(written.SEEN) if each.sound and each.kind == looks]
    assert told.n > 10 and told.named == 0
