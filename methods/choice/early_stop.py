"""What the early stop of circular evaluation saves: passes that were not asked (MMBench, 4.3).

    saved = passes of all questions - passes asked - passes that are still to be asked

A question is asked no further once a pass is missed, since all of them have to be right. Where a pass
was lost, by a server that was gone for example, the ones after it are no saving: they are asked when it
is. What belongs here: these counts, from how often each question was asked.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.slices import labels_by_turn


class Asked(NamedTuple):
    """How often a question was asked, and whether a pass of it was lost."""

    n_passes: int
    lost: bool


class PassCounts(NamedTuple):
    """Passes of one model; `n_all` = `n_asked` + `n_saved` + `n_open`, those after a lost pass."""

    n_all: int
    n_asked: int
    n_saved: int
    n_open: int


def passes_by_item(items: Sequence[Item], metrics: Sequence[Metric]) -> dict[str, int]:
    """The passes that each question has to be right in for the metric that needs most of them."""
    needed = [metric for metric in metrics if isinstance(metric, AllRight)]
    return {
        item.item_id: max(
            (metric.passes_of(labels) for metric in needed for labels in [_labels(item)]), default=1
        )
        for item in items
    }


def pass_counts(
    n_passes: Mapping[str, int], asked: Mapping[str, Mapping[str, Asked]]
) -> dict[str, PassCounts]:
    """The passes of each model; `asked` is by model and item, `n_passes` those that each item has.

    Questions that a model was not asked at all are none of its passes.
    """
    found = {}
    for model, of_items in asked.items():
        n_all = n_asked = n_open = 0
        for item_id, of in of_items.items():
            n_all += max(n_passes[item_id], of.n_passes)
            n_asked += of.n_passes
            n_open += max(0, n_passes[item_id] - of.n_passes) if of.lost else 0
        found[model] = PassCounts(n_all, n_asked, n_all - n_asked - n_open, n_open)
    return found


def _labels(item: Item) -> Mapping[str, str]:
    return labels_by_turn(item)[item.turns[0].turn]
