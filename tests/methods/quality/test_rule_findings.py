"""What rules find in edited and imported pairs, and in the texts of two writers."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.quality import grounding, leaks
from methods.quality.grounding import MOST_COUNTED, Grounds, ungrounded_in
from methods.quality.outcome import DialogueContent, QuestionAnswerPair
from methods.quality.rule_findings import MOST_NAMED, RuleFinding, apply_rules, counts_of, in_words
from methods.quality.rules import RuleLimits
from methods.release_card import facts
from tests.methods.quality import written
from tests.methods.test_release_card import CARD

GROUND = [
    "Aldo Brennick finished the mill near Frostholm in 1872; it has 4 sails, each 11.5 metres long.",
    "It burnt down in 1931 and stood empty for sixty-two days.",
]


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("It was planned by Greta Holm.", "the name Greta"),
        ("It ground 340 sacks a day.", "the number 340"),
        ("It was sold in 1899.", "the number 1899"),
        ("About 7,500 people came.", "the number 7500"),
        ("It stood empty for thirty-nine days.", "the number 39"),
        # What follows from the texts has ground.
        ("Brennick's mill was finished in 1872.", None),
        # 1931 - 1872, 4 x 11.5, and rounded.
        ("It stood for 59 years, and its sails were 46 metres together.", None),
        ("It was built in about 1870, in the 1870s.", None),
        ("It stood empty for 62 days.", None),
        ('"Ask Mister Kowalski," says the miller.', None),
    ],
)
def test_a_name_or_a_number_that_no_text_has_is_told(answer: str, evidence: str | None) -> None:
    assert ungrounded_in(answer, Grounds.from_texts(GROUND)) == evidence
    assert ungrounded_in(answer, Grounds.from_texts([])) is None


@given(st.integers(MOST_COUNTED + 1, 10**6))
def test_a_number_has_ground_in_itself(number: int) -> None:
    grounds = Grounds.from_texts([f"One counts {number}."])
    for text in (str(number), f"{number:,}"):
        assert ungrounded_in(f"There are {text} of them.", grounds) is None


@given(st.lists(st.integers(0, 400), min_size=1), st.integers(MOST_COUNTED + 1, 500))
def test_a_rounded_number_is_compared_with_every_number_of_the_texts(
    known: list[int], number: int
) -> None:
    grounds = Grounds.from_texts([", ".join(map(str, known))])
    near = any(abs(number - each) <= 0.1 * each for each in known)
    follows = number in grounds.results or near
    assert (ungrounded_in(f"There are about {number}.", grounds) is None) == follows


TEXTS = [
    ("What stands in the snow?", "A red mill with four white sails."),
    ("Which object stands in the snow?", "A red mill with four white sails."),
    ("Who built it?", "Greta Holm built it, as the third picture shows."),
]
PAIRS = [QuestionAnswerPair("d7", str(n), n, *texts) for n, texts in enumerate(TEXTS, 1)]


def test_rules_read_the_turns_that_they_are_given() -> None:
    dialogue = DialogueContent("d7", PAIRS, [], 2)
    found = apply_rules(dialogue, RuleLimits(), [2, 3], GROUND)
    assert [each.turn for each in found] == [2, 3, 3]
    assert [each.reason for each in found] == ["repeated", "material", "ungrounded"]
    assert str(found[1]) == "d7, turn 3: material (answer: third picture)"
    assert counts_of(found) == {f"unchecked_{each.reason}": 1 for each in found}
    assert apply_rules(dialogue, RuleLimits(), [1], GROUND) == []
    assert [each.reason for each in apply_rules(dialogue, RuleLimits(), [3])] == ["material"]


def test_work_grows_with_the_characters_of_a_dialogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with turns times sources, numbers times numbers, or words times characters."""
    n_read = n_products = n_copied = 0
    read, multiply = grounding.written_numbers, grounding.product

    def counted_numbers(text: str) -> Iterator[str]:
        nonlocal n_read
        n_read += len(text)
        return read(text)

    def counted_products(*args: list[float], repeat: int) -> Iterator[tuple[float, ...]]:
        nonlocal n_products
        n_products += 1
        return multiply(*args, repeat=repeat)

    monkeypatch.setattr(grounding, "written_numbers", counted_numbers)
    monkeypatch.setattr(grounding, "product", counted_products)
    answer = "There are about " + "43 " * 100 + "of them."
    turns = range(1, 51)
    pairs = [QuestionAnswerPair("d", str(n), n, "Are 21 and 22?", answer) for n in turns]
    n_characters = sum(len(pair.question) + len(pair.answer) + 1 for pair in pairs)
    dialogue = DialogueContent("d", pairs, [], 1)
    assert "ungrounded" not in {
        each.reason for each in apply_rules(dialogue, RuleLimits(), turns, ["A mill."])
    }
    assert n_products == 1 and n_read <= 2 * n_characters

    class CopiedText(str):
        def __getitem__(self, key: "SupportsIndex | slice[Any, Any, Any]") -> str:
            nonlocal n_copied
            part = super().__getitem__(key)
            n_copied += len(part)
            return part

    text = CopiedText("the Tarn " * 100)
    assert len(list(leaks.names_in(text))) == 100 and n_copied <= 2 * len(text)


def test_many_findings_are_told_in_part_and_counted_in_full() -> None:
    found = [RuleFinding("d", turn, "refusal", "no") for turn in range(MOST_NAMED + 2)]
    assert in_words(found).endswith(f"turn {MOST_NAMED - 1}: refusal (no); and 2 more")
    assert in_words(found[:1]) == "d, turn 0: refusal (no)" and in_words([]) == ""
    assert counts_of(found) == {"unchecked_refusal": MOST_NAMED + 2}


def test_a_card_says_what_rules_find_in_pairs_that_were_not_checked() -> None:
    counts = {"unchecked": 3, "unchecked_repeated": 1, "unchecked_ungrounded": 2}
    named = "Found by rules in unchecked pairs"
    assert dict(facts({**CARD, "quality": counts}))[named] == "repeated 1, ungrounded 2"
    assert named not in dict(facts({**CARD, "quality": {"unchecked": 3}}))


LEAST_FOUND = {
    **{"repeat": 0.35, "missing": 0.75, "ground.name": 0.95, "ground.number": 0.75},
    **{"refusal": 0.85, "leftover": 0.45, "cut": 0.4, "turns.empty": 1.0},
}
"""Of the texts of the seen half with a fault; of other kinds no rule is to find any."""


def test_of_the_seen_half_most_faults_are_found_and_hardly_a_text_without_one_is_named() -> None:
    n, found, false_alarms = Counter[str](), Counter[str](), Counter[str]()
    n_alarmed = 0
    for text in written.texts(written.SEEN):
        kind, named = text["kind"], set(written.named(text))
        if text["sound"]:
            n_alarmed += bool(named)
            false_alarms.update({check for _, check in named})
        else:
            n[kind] += 1
            checks = written.CHECKS_OF.get(kind.partition(".")[0], ())
            found[kind] += any((text["turn"], check) in named for check in checks)
    for kind, share in LEAST_FOUND.items():
        assert found[kind] >= share * n[kind] > 0, kind
    precision, recall = found.total() / (found.total() + n_alarmed), found.total() / n.total()
    assert precision >= 0.94 and recall >= 0.54
    # These five say "the caption" or "the text", which no reader is shown.
    assert false_alarms == {"material": 5}
