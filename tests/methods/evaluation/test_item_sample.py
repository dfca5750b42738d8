"""A stratified sample, worked by hand."""

from collections import Counter

from methods.evaluation.item_sample import stratified_sample
from methods.evaluation.items import Item

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
