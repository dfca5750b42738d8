"""Which items: slices, samples, subsets that keep the ranking, and what is right or wrong."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import somersd

from methods.benchmarks import BENCHMARKS
from methods.evaluation.item_sample import stratified_sample
from methods.evaluation.items import Item, Turn
from methods.evaluation.outcomes import is_right_or_wrong, items_in, outcomes_of, right_matrix
from methods.evaluation.slices import MOST_VALUES, abilities_above, labels_by_turn, tells_kinds
from methods.evaluation.subsets import Subsets, _first_that_keeps, smallest_subset
from tests.methods.evaluation.observed import ScoredObservation, frame, scored

CHOOSE = {"least_tau": 0.9, "n_resamples": 50, "seed": 0}


def test_a_ladder_of_items_needs_one_item_a_step() -> None:
    # Model i has the first i of four items right: item k alone tells who knows k of them.
    ladder = np.array([[float(item < model) for item in range(4)] for model in range(5)])
    found = smallest_subset(ladder, **CHOOSE)
    # One item orders the pairs that it stands between: of ten pairs six, in the middle. The other one
    # in the middle orders two more, and each of the last two one more.
    assert [of.tau for of in found.of_sizes] == pytest.approx([0.6, 0.8, 0.9, 1.0])
    assert set(found.of_sizes[1].items) == {1, 2}
    assert found.of_sizes[-1].held_out.mean == 1.0
    assert found.smallest == 3


MATRICES = st.builds(
    lambda n, k, seed: np.random.default_rng(seed).integers(0, 2, (n, k)).astype(float),
    st.integers(4, 7),
    st.integers(1, 12),
    st.integers(0, 10**6),
)


@given(MATRICES)
def test_subsets_are_nested_and_tau_is_somers_d(right: np.ndarray) -> None:
    found = smallest_subset(right, least_tau=0.9, n_resamples=5, seed=3)
    assert found == smallest_subset(right, least_tau=0.9, n_resamples=5, seed=3)
    whole = right.sum(axis=1)
    for small, large in zip(found.of_sizes, found.of_sizes[1:], strict=False):
        assert large.items[: len(small.items)] == small.items
    for of in found.of_sizes:
        assert len(set(of.items)) == len(of.items)
        expected = somersd(whole, right[:, list(of.items)].sum(axis=1)).statistic
        assert of.tau == pytest.approx(expected)
    if found.of_sizes and len(found.of_sizes[-1].items) == right.shape[1]:
        assert found.of_sizes[-1].tau == found.of_sizes[-1].random.mean == 1.0


def test_the_smallest_is_one_from_which_on_all_keep_the_ranking_or_it_says_why_none_is():
    assert _first_that_keeps([0.9, 0.7, 0.8, 0.95], least_tau=0.8) == 2
    assert _first_that_keeps([0.9, 0.7], least_tau=0.8) is None
    # Too few models and no ranking say so.
    few = smallest_subset(np.eye(3), **CHOOSE)
    assert few == Subsets((), None, None, "3 models are too few: it takes 4.")
    same = smallest_subset(np.ones((5, 3)), **CHOOSE)
    assert same.why == "All models have the same score: there is no ranking."
    # Without the one that is apart, the others have one score.
    apart = np.array([[0.0, 1], [0, 1], [0, 1], [1, 1]])
    one_apart = smallest_subset(apart, least_tau=0.9, n_resamples=2, seed=0)
    assert one_apart.why is not None and one_apart.why.startswith("No model can be held out")


ITEM = Item(
    "item",
    (
        Turn(1, "Image1: <ImageHere>. What is in <image-1>?", (1,)),
        Turn(2, "Image2: <ImageHere>. Compare <image-1> and <image-2>.", (2,)),
        Turn(3, "And why?", ()),
    ),
    ("a", "b"),
    labels={"category": "mills"},
)


def test_a_turn_is_labelled_by_its_place_its_images_and_what_came_before():
    labels = labels_by_turn(ITEM)
    assert labels[1] == {
        **{"category": "mills", "turn": "1", "question": "one image"},
        **{"images so far": "1", "words so far": "0-50"},
    }
    assert labels[2]["question"] == "several images" and labels[2]["images so far"] == "2"
    assert labels[3]["question"] == "no image"
    # Characters of chinese and japanese are words so far.
    turns = (Turn(1, "图" * 50 + "。"), Turn(2, "比较 A 和 B？"), Turn(3, "图" * 1000))
    labels = labels_by_turn(Item("item", turns))
    assert [labels[n]["words so far"] for n in (1, 2, 3)] == ["0-50", "51-200", "over 1000"]
    # An item's own label comes first.
    own = labels_by_turn(Item("item", ITEM.turns, ("a", "b"), ("x", "y"), labels={"turn": "easy"}))
    assert (own[2]["turn"], own[2]["choices"]) == ("easy", "2")


def test_labels_with_too_many_values_and_paths_tell_no_kinds():
    assert tells_kinds("task", MOST_VALUES) and not tells_kinds("task", MOST_VALUES + 1)
    assert not tells_kinds("image_path", 2)


def test_each_finest_ability_is_part_of_the_one_that_most_of_its_items_have() -> None:
    labels = [("x", "p"), ("x", "p"), ("x", "q"), ("y", "q"), (None, "q"), ("z", None)]
    named = [{"task": fine, "kind": coarse} for fine, coarse in labels]
    items = [
        Item(str(n), ITEM.turns, labels={name: value for name, value in of.items() if value})
        for n, of in enumerate(named)
    ]
    assert abilities_above(items, ("all", "kind", "task")) == {"x": "p", "y": "q"}
    assert abilities_above(items, ("task",)) == abilities_above(items, ()) == {}


ITEMS = [
    *(Item(f"a-{n}", (), labels={"task": "a"}) for n in range(60)),
    *(Item(f"b-{n}", (), labels={"task": "b"}) for n in range(30)),
    *(Item(f"c-{n}", (), labels={"task": "c"}) for n in range(10)),
]


def test_each_stratum_has_its_share_and_without_labels_all_items_are_one():
    sample = stratified_sample(ITEMS, 20, ["task"], 0)
    assert Counter(item_id[0] for item_id in sample) == {"a": 12, "b": 6, "c": 2}
    # Without labels all items are one stratum.
    assert len(stratified_sample(ITEMS, 20, [], 0)) == 20


def test_a_larger_sample_contains_a_smaller_one_and_another_seed_draws_another() -> None:
    samples = [stratified_sample(ITEMS, n, ["task"], 0) for n in (5, 20, 21, 100, 500)]
    assert [len(sample) for sample in samples] == [5, 20, 21, 100, 100]
    assert all(less < more for less, more in zip(samples[:3], samples[1:4], strict=True))
    assert stratified_sample(ITEMS, 20, ["task"], 1) != samples[1]
    assert stratified_sample(ITEMS, 20, ["task"], 0) == samples[1]


CIRCULAR = BENCHMARKS["mmbench"].metrics[0]


def passes(item: str, *said: float | str) -> list[ScoredObservation]:
    """Passes of an item of three choices: 1, 0, or the status of one without a value."""
    return [
        scored(item, None if isinstance(each, str) else each, trial=f"shift-{shift}",
               status=each if isinstance(each, str) else "", metric="right", choices="3")
        for shift, each in enumerate(said)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ((1, 1, 1), True),
        ((1, 0), False),
        ((1, "failed", 1), None),
        (("failed", 0), False),
        ((1, 1), None),
        # What a model does instead of answering is not right.
        *(((1, status), False) for status in ("refused", "truncated", "reasoning_only", "empty")),
    ],
)
def test_an_item_is_right_in_all_passes_wrong_in_one_and_unknown_otherwise(said, outcome) -> None:
    assert outcomes_of(CIRCULAR, frame({"m": passes("q", *said)})) == {"m": {"q": outcome}}


def test_which_benchmarks_have_right_and_wrong() -> None:
    having = {name for name, each in BENCHMARKS.items() if is_right_or_wrong(each)}
    assert {"mmbench", "mmiu"} <= having and "mmdu" not in having


def test_the_matrix_has_no_number_where_nothing_is_known() -> None:
    outcomes = {"m": {"a": True, "b": None}, "n": {"a": False}}
    assert items_in(outcomes) == ["a", "b"]
    expected = [[1.0, np.nan], [0.0, np.nan]]
    np.testing.assert_array_equal(right_matrix(outcomes, ["m", "n"], ["a", "b"]), expected)
    assert right_matrix(outcomes, [], ["a"]).shape == (0, 1)
