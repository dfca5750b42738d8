"""Letters that models name against those that are right, and filters of items, worked by hand."""

import random
from dataclasses import replace

import pytest

from methods.choice.filters import TEXT_ONLY, WRONG_ITEM, FilterResult, FlaggedItem, filtered
from methods.choice.letter_shares import (
    LetterShares,
    Readings,
    circular_passes,
    keys_of,
    letter_shares,
    letters_offered,
    most_frequent_letters,
    random_letter,
)
from methods.choice.lettered import key_of
from methods.evaluation.items import Item
from tests.methods.choice.questions import item


def items(keys: str, n_choices: int = 4) -> list[Item]:
    """A question a key; `?` is held out."""
    choices = "ABCDEFGH"[:n_choices]
    return [
        item(None if key == "?" else key, *choices, item_id=f"q{place:03}")
        for place, key in enumerate(keys)
    ]


def read(letters: str) -> Readings:
    """What was read from each question in order; `-` is nothing."""
    return {
        f"q{place:03}": None if letter == "-" else letter for place, letter in enumerate(letters)
    }


def shares(keys: str, letters: str, n_resamples: int = 200) -> LetterShares:
    return letter_shares(items(keys), {"m": read(letters)}, seed=0, n_resamples=n_resamples)["m"]


def test_each_letter_no_choice_and_nothing_read_are_counted() -> None:
    found = shares("ABAB", "AAZ-")
    assert found.counts == {"A": 2, "Z": 1, "none": 1}
    # The distance is of the two questions whose answers name a choice: A and A against A and B.
    assert (found.compared, found.distance.value) == (2, 0.5)
    # Named: A 4 of 5, C 1 of 5; right: A 2, B 2, C 1. Half of 2/5 + 2/5 + 0.
    assert shares("AABBC", "AAAAC").distance.value == pytest.approx(0.4)
    assert letters_offered([*items("AB", 2), *items("A", 5)]) == "ABCDE"
    assert letters_offered([]) == ""


def test_p_is_the_share_of_all_exchanges_that_are_as_far_apart() -> None:
    # Two of four questions are named otherwise, both A for B: apart as far if both are exchanged, or
    # neither.
    assert shares("ABAB", "AAAA").p == 0.5
    assert shares("B" * 12, "A" * 12).p == 2 / 2**12
    # A for B in one question and B for A in the other: alike in any case.
    assert shares("AB", "BA").p == 1


def test_with_many_questions_exchanges_are_drawn() -> None:
    keys = "ABCD" * 25
    liked = shares(keys, keys[:40] + "A" * 60)
    assert liked.p == 1 / 201
    draw = random.Random(0)
    mistaken = keys[:40] + "".join(draw.choice("ABCD") for _ in keys[40:])
    assert (shares(keys, mistaken).p or 0) > 0.05


def test_p_is_adjusted_for_all_models() -> None:
    readings = {"a": read("A" * 12), "b": read("B" * 12), "silent": read("Z" * 12)}
    found = letter_shares(items("B" * 12), readings, seed=0, n_resamples=100)
    assert found["a"].p_holm == pytest.approx(2 * 2 / 2**12)
    assert found["b"].p_holm == found["b"].p == 1
    assert (found["silent"].p, found["silent"].p_holm, found["silent"].compared) == (None, None, 0)
    assert found["silent"].distance.value is None


def test_an_interval_has_the_distance_inside_and_draws_groups_as_a_whole() -> None:
    found = shares("ABCD" * 20, "AAAA" * 20)
    low, high = found.distance.ci_low, found.distance.ci_high
    assert low is not None and high is not None
    assert 0.6 < low < 0.75 < high < 0.9
    grouped = [
        Item(each.item_id, each.turns, each.image_ids, each.choices, group_id="one group")
        for each in items("ABCD")
    ]
    alone = letter_shares(grouped, {"m": read("AAAA")}, seed=0, n_resamples=100)["m"]
    assert (alone.distance.value, alone.distance.ci_low) == (0.75, None)


def test_circular_passes_have_the_group_of_their_question_and_the_key_of_their_shift() -> None:
    questions = [replace(each, group_id="one group") for each in items("A?", 3)]
    passes = circular_passes(questions)
    assert [(each.item_id, key_of(each)) for each in passes] == [
        ("q000 shift-0", "A"), ("q000 shift-1", "C"), ("q000 shift-2", "B"),
        *((f"q001 shift-{shift}", None) for shift in range(3)),
    ]  # fmt: skip
    assert {each.cluster for each in passes} == {"one group"}
    # Without a group, the passes of a question are a cluster.
    assert {each.cluster for each in circular_passes(items("AB"))} == {"q000", "q001"}


def test_where_keys_are_held_out_there_is_nothing_to_compare_with() -> None:
    found = shares("????", "AAB-")
    assert (found.counts["A"], found.compared, found.p) == (2, 0, None)
    assert found.distance.value is None
    assert not keys_of(items("????")) and keys_of(items("AB?B")) == {"A": 1, "B": 2}
    # A question of which the key is held out leaves the others.
    assert shares("AB?B", "AAAA").compared == 3


def test_a_random_letter_is_the_same_each_time_and_another_for_each_pass_item_and_seed() -> None:
    def letters(trial: str, seed: int) -> list[str]:
        of = [item("A", *"wxyz", item_id=str(number)) for number in range(400)]
        return [random_letter(each, trial, seed) for each in of]

    drawn = letters("shift-0", 0)
    assert drawn == letters("shift-0", 0)
    for other in (letters("shift-1", 0), letters("shift-0", 1)):
        # Two draws of four letters are the same once in four.
        same = sum(a == b for a, b in zip(drawn, other, strict=True))
        assert 70 <= same <= 130
    # 100 of each, and three standard deviations of 8.7.
    assert all(74 <= drawn.count(letter) <= 126 for letter in "ABCD")
    of_two = {random_letter(item("A", "w", "x", item_id=str(n)), "plain", 0) for n in range(30)}
    assert of_two == {"A", "B"}


def labelled(*of: tuple[str | None, str]) -> list[Item]:
    return [
        item(key, "w", "x", "y", item_id=str(number), labels={"task": task})
        for number, (key, task) in enumerate(of)
    ]


def test_the_most_frequent_letter_is_that_of_all_items_or_of_each_value_of_a_label() -> None:
    of = labelled(*[("A", "one")] * 2, ("B", "one"), *[("C", "two")] * 3)
    assert most_frequent_letters(of, None) == dict.fromkeys("012345", "C")
    by_task = dict.fromkeys("012", "A") | dict.fromkeys("345", "C")
    assert most_frequent_letters(of, "task") == by_task
    # The first of equally frequent ones, among the keys that most items have.
    of = labelled(*((key, "one") for key in ("A", "B", "B", "D", "D", None)))
    assert set(most_frequent_letters(of, None).values()) == {"B"}
    # Where every key of a value is held out, its items have no letter.
    of = labelled(("B", "one"), (None, "two"))
    assert most_frequent_letters(of, "task") == {"0": "B"}
    assert most_frequent_letters(of, None) == {"0": "B", "1": "B"}


BLIND = ("no-images:a", "no-images:b", "no-images:c")
TWO_OF_THREE = {
    BLIND[0]: {"apple": True, "fair": False, "half": True, "lost": True},
    BLIND[1]: {"apple": True, "fair": False, "half": False, "lost": None},
    BLIND[2]: {"apple": False, "fair": True, "half": None, "lost": None},
}
ITEMS = ("apple", "fair", "half", "lost")


def test_text_only_is_more_than_half_of_those_that_are_known() -> None:
    # apple: 2 of 3. fair: 1 of 3. half: 1 of 2 is not more than half. lost: one known result of two.
    apple = FlaggedItem("apple", BLIND[:2], BLIND[2:], ())
    found = filtered(TEXT_ONLY, TWO_OF_THREE, BLIND, ITEMS, 2)
    assert found == FilterResult(BLIND, 4, (apple,), 1, None)
    # What is lost is neither right nor wrong.
    found = filtered(TEXT_ONLY, TWO_OF_THREE, BLIND, ITEMS, 1)
    assert found.flagged == (apple, FlaggedItem("lost", BLIND[:1], (), BLIND[1:]))
    assert found.n_undecided == 0


def test_a_wrong_item_is_one_that_every_model_fails() -> None:
    outcomes = {
        "a": {"wrong": False, "hard": False, "lost": False},
        "b": {"wrong": False, "hard": True, "lost": None},
        "c": {"wrong": False, "hard": False},
    }
    found = filtered(WRONG_ITEM, outcomes, ("a", "b", "c"), ("wrong", "hard", "lost"), 3)
    assert found.flagged == (FlaggedItem("wrong", (), ("a", "b", "c"), ()),)
    # Of `lost` one result is known: it is not wrong, it is not known.
    assert found.n_undecided == 1


def test_too_few_models_flag_nothing_and_say_so_and_one_named_twice_votes_once() -> None:
    found = filtered(TEXT_ONLY, TWO_OF_THREE, [*BLIND, "no-images:absent"], ITEMS, 4)
    assert (found.flagged, found.n_undecided) == ((), 4)
    assert found.why == (
        "Nothing is flagged: 3 of the 4 models of the set have results on this release, and 4 are "
        "needed."
    )
    assert filtered(TEXT_ONLY, TWO_OF_THREE, [*BLIND, *BLIND], ITEMS, 3).models == BLIND
    assert filtered(WRONG_ITEM, {"a": {}}, ["a"], [], 1) == FilterResult(("a",), 0, (), 0, None)
