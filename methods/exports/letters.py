"""Multiple-choice benchmarks that exported tasks of lmms-eval and inspect_ai can score, and the weight
of each pass (one order of the choices) in the score.

A task extracts letters by the strict rules and computes the metric that ranks models. Benchmarks with a
judge or with their own scoring code can only be scored by `vlm-loom run evaluate`.
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
        passes: The number of passes in which the item must be right; 0 if this pass does not count.
        stratum: The label of the item for a macro average: the scores of each stratum are averaged
            first. Empty for a micro average.
        group: The group of related items by which standard errors are clustered.
    """

    passes: int
    stratum: str
    group: str


def letter_metric(benchmark: Benchmark | None) -> Metric | None:
    """Return the metric that ranks models, or None if an exported task cannot compute it."""
    if benchmark is None or benchmark.judge_prompts:
        return None
    if EXTRACT_PROMPT not in benchmark.extractor_prompts or {*OBSERVED} - {*benchmark.dimensions}:
        return None
    metric = benchmark.metrics[0]
    computable = type(metric) in (AllRight, Mean) and metric.ends == (0, 100)
    return metric if computable and getattr(metric, "observation", None) == RIGHT else None


def counted(metric: Metric, item: Item, trial: str) -> PassWeight | None:
    """Compute the weight of a pass of an item.

    Args:
        metric: A metric that `letter_metric` returned.
        item: The item.
        trial: The name of the pass.

    Returns:
        The weight, or None if the right answer of the item is not known.
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
