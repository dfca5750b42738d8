"""Benchmarks that exported tasks can score, and the weight of each pass in the score.

A task can score letters by the strict rules and the ranking metric. Benchmarks with a judge or with own
scoring code are scored by `vlm-loom run evaluate`.
"""

from typing import NamedTuple

from methods.choice.lettered import key_of
from methods.choice.passes import EXTRACT_PROMPT, OBSERVED, RIGHT
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item
from methods.evaluation.metrics import BY_LABEL, UNLABELLED, Metric
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.slices import labels_by_turn


class PassWeight(NamedTuple):
    """The weight of a pass in a benchmark's score.

    Attributes:
        passes: In how many passes the item must be right; 0 if this pass does not count.
        stratum: Items of a stratum are averaged first.
        group: Items of a group belong together.
    """

    passes: int
    stratum: str
    group: str


def letter_metric(benchmark: Benchmark | None) -> Metric | None:
    """The metric that ranks, if an exported task can compute it; else None."""
    if benchmark is None or benchmark.judge_prompts:
        return None
    if EXTRACT_PROMPT not in benchmark.extractor_prompts or {*OBSERVED} - {*benchmark.dimensions}:
        return None
    metric = benchmark.metrics[0]
    computable = type(metric) in (AllRight, Mean) and metric.ends == (0, 100)
    return metric if computable and getattr(metric, "observation", None) == RIGHT else None


def counted(metric: Metric, item: Item, trial: str) -> PassWeight | None:
    """How a pass of an item counts; None if its right answer is not known.

    Args:
        metric: One that `letter_metric` gave.
        item: The item.
        trial: The name of the pass.
    """
    if key_of(item) is None:
        return None
    labels = labels_by_turn(item)[item.turns[0].turn]
    if isinstance(metric, AllRight):
        n_passes = metric.passes_of(labels) if trial.startswith(metric.trials) else 0
    else:
        n_passes = int(isinstance(metric, Mean) and trial == metric.trial)
    label = metric.aggregation.removeprefix(BY_LABEL)
    stratum = "" if label == metric.aggregation else labels.get(label, UNLABELLED)
    return PassWeight(n_passes, stratum, item.cluster)
