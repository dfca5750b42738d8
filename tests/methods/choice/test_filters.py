"""Filters of items, each case worked by hand: who is right without looking, what everyone fails."""

from methods.choice.filters import TEXT_ONLY, WRONG_ITEM, FilterResult, FlaggedItem, filtered

BLIND = ("no-images:a", "no-images:b", "no-images:c")
TWO_OF_THREE = {
    BLIND[0]: {"apple": True, "fair": False, "half": True, "lost": True},
    BLIND[1]: {"apple": True, "fair": False, "half": False, "lost": None},
    BLIND[2]: {"apple": False, "fair": True, "half": None, "lost": None},
}
ITEMS = ("apple", "fair", "half", "lost")


def test_text_only_is_more_than_half_of_those_that_are_known() -> None:
    found = filtered(TEXT_ONLY, TWO_OF_THREE, BLIND, ITEMS, 2)
    # apple: 2 of 3. fair: 1 of 3. half: 1 of 2 is not more than half. lost: one known result of two.
    assert found == FilterResult(
        BLIND, 4, (FlaggedItem("apple", BLIND[:2], BLIND[2:], ()),), 1, None
    )


def test_what_is_lost_is_neither_right_nor_wrong() -> None:
    found = filtered(TEXT_ONLY, TWO_OF_THREE, BLIND, ITEMS, 1)
    assert [of.item_id for of in found.flagged] == ["apple", "lost"]
    assert found.flagged[1] == FlaggedItem("lost", BLIND[:1], (), BLIND[1:])
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


def test_too_few_models_flag_nothing_and_say_so() -> None:
    found = filtered(TEXT_ONLY, TWO_OF_THREE, [*BLIND, "no-images:absent"], ITEMS, 4)
    assert (found.flagged, found.n_undecided) == ((), 4)
    assert found.why == (
        "Nothing is flagged: 3 of the 4 models of the set have results on this release, and 4 are "
        "needed."
    )


def test_a_model_that_is_named_twice_votes_once_and_without_items_there_are_none() -> None:
    assert filtered(TEXT_ONLY, TWO_OF_THREE, [*BLIND, *BLIND], ITEMS, 3).models == BLIND
    assert filtered(WRONG_ITEM, {"a": {}}, ["a"], [], 1) == FilterResult(("a",), 0, (), 0, None)
