"""Letters of a release's baselines, worked by hand."""

from methods.choice.letter_shares import most_frequent_letter, most_frequent_letters, random_letter
from methods.evaluation.items import Item
from tests.methods.choice.questions import item


def test_the_most_frequent_letter_is_the_first_of_the_keys_that_most_items_have() -> None:
    assert most_frequent_letter([item(key, *"wxyz") for key in ("A", "B", "B", "D", None)]) == "B"
    assert most_frequent_letter([item(None, "x", "y")]) is None
    assert most_frequent_letter([item("C", "x", "y", "z"), item("B", "x", "y")]) == "B"


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
    # Where every key of a value is held out, its items have no letter.
    of = labelled(("B", "one"), (None, "two"))
    assert most_frequent_letters(of, "task") == {"0": "B"}
    assert most_frequent_letters(of, None) == {"0": "B", "1": "B"}
