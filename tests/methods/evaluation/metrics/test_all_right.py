"""All passes right: what a lost pass does, worked by hand."""

from methods.evaluation.metrics.all_right import AllRight
from tests.methods.evaluation.metrics.numbers import number, scored, values

CIRCULAR = AllRight(name="circular", observation="right", trials="shift-", n_passes="n_choices")


def item(name: str, *passes: float | None, choices: int = 3) -> list:
    return [
        scored(name, value, trial=f"shift-{k}", metric="right", n_choices=str(choices))
        for k, value in enumerate(passes)
    ]


def test_an_item_is_right_if_every_pass_is_and_never_with_a_lost_one():
    observed = [*item("a", 1, 1, 1), *item("b", 1, 1, 0), *item("c", 0)]
    assert values(CIRCULAR, observed) == {("a",): 100, ("b",): 0, ("c",): 0}
    assert number(CIRCULAR, observed) == 100 / 3
    # An item with a lost pass is never right.
    observed = [*item("a", 1, 1), *item("b", 1, None, 1)]
    assert values(CIRCULAR, observed) == {("a",): None, ("b",): None}
    # A pass that failed is wrong at the floor; one that was never made stays unknown.
    assert values(CIRCULAR, observed, floor=True) == {("a",): None, ("b",): 0}
    # A wrong pass decides whatever was lost.
    assert values(CIRCULAR, item("a", None, 0)) == {("a",): 0}
