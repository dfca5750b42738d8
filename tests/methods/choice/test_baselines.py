"""Letters of a release's baselines, worked by hand."""

from methods.choice.letter_shares import most_frequent_letter, most_frequent_letters, random_letter
from tests.methods.choice.questions import item

ITEMS = [
    item("A", "w", "x"),
    item("B", "w", "x", "y", "z"),
    item("B", "w", "x", "y", "z"),
    item("D", "w", "x", "y", "z"),
    item(None, "w", "x", "y", "z"),
]


def test_the_most_frequent_letter_is_the_first_of_the_keys_that_most_items_have() -> None:
    assert most_frequent_letter(ITEMS) == "B"
    assert most_frequent_letter([item(None, "x", "y")]) is None
    assert most_frequent_letter([item("C", "x", "y", "z"), item("B", "x", "y")]) == "B"


def test_a_random_letter_is_the_same_each_time_and_another_for_each_pass_item_and_seed() -> None:
    of = [item("A", *"wxyz", item_id=str(number)) for number in range(400)]
    drawn = [random_letter(each, "shift-0", 0) for each in of]
    assert drawn == [random_letter(each, "shift-0", 0) for each in of]
    for other in (
        [random_letter(each, "shift-1", 0) for each in of],
        [random_letter(each, "shift-0", 1) for each in of],
    ):
        # Two draws of four letters are the same once in four.
        same = sum(a == b for a, b in zip(drawn, other, strict=True))
        assert 70 <= same <= 130
    # 100 of each, and three standard deviations of 8.7.
    assert all(74 <= drawn.count(letter) <= 126 for letter in "ABCD")
    assert {random_letter(item("A", "w", "x", item_id=str(n)), "plain", 0) for n in range(30)} == {
        *"AB"
    }


def test_the_most_frequent_letter_is_that_of_all_items_or_of_each_value_of_a_label() -> None:
    of = [
        item(key, "w", "x", "y", item_id=str(number), labels={"task": task})
        for number, (key, task) in enumerate(
            [("A", "one"), ("A", "one"), ("B", "one"), ("C", "two"), ("C", "two"), ("C", "two")]
        )
    ]
    assert most_frequent_letters(of, None) == dict.fromkeys("012345", "C")
    assert most_frequent_letters(of, "task") == {
        **dict.fromkeys("012", "A"),
        **dict.fromkeys("345", "C"),
    }


def test_where_every_key_of_a_value_is_held_out_its_items_have_no_letter() -> None:
    of = [
        item("B", "w", "x", item_id="0", labels={"task": "one"}),
        item(None, "w", "x", item_id="1", labels={"task": "two"}),
    ]
    assert most_frequent_letters(of, "task") == {"0": "B"}
    assert most_frequent_letters(of, None) == {"0": "B", "1": "B"}
