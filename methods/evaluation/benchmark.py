"""The protocol that every benchmark implements.

A benchmark says how an item is asked, how the answers are judged, and what is scored. Everything else
(sending, resuming, counting, intervals, ranks) is the same for all.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Protocol

from methods.evaluation.asking import Asking, AskingLimits, ContextPolicy, Transcript
from methods.evaluation.items import Item
from methods.evaluation.judging import Judging
from methods.evaluation.metrics import Metric
from methods.evaluation.predictions import PredictionFormats
from methods.evaluation.published import PublishedFormats

GROUP = "vlm_loom.benchmarks"
"""The group of entry points by which packages name their benchmarks."""


class Benchmark(Protocol):
    """How one benchmark asks, judges and scores; a subclass may leave out what has a value here."""

    name: str
    """Short name; releases name the benchmark that they are of."""
    answer_version: str
    """Version of how it asks; changes when `ask` does."""
    context_policies: Sequence[ContextPolicy] = ()
    """What it permits to be done about dialogues that are too long, beside `fail`."""
    question_prompts: Sequence[str] = ()
    """The prompt files that models under evaluation are asked by, `<method>/<task>`; empty where `ask`
    sends questions as they are. Their versions are part of the answers' version."""
    extractor_prompts: Sequence[str] = ()
    """The prompt files that read answers where no rule can; empty where nothing is read."""
    judge_prompts: Sequence[str] = ()
    """The prompt files that its judge reads, `<method>/<task>`; empty where it is scored by rule."""
    judge_version: str
    """Version of how it judges beside its prompts; changes when `judge` does. Judgments under different
    versions, of it or of any prompt of the judge, are different scores."""
    dimensions: Sequence[str]
    """What an answer is scored for, the overall dimension last: the metrics of its observations."""
    score_range: tuple[int, int] = (0, 1)
    """The lowest and the highest score that a judge, or a person in its place, may give."""
    metrics: Sequence[Metric]
    """What stands on the leaderboard, the one that ranks first."""

    abilities: Sequence[str] = ()
    """The labels of what an item is about, from the coarsest to the finest: a report shows the finest
    ones as a map, and the level above them side by side. Empty where items have none."""

    label_metrics: Mapping[tuple[str, ...], str] = {}
    """The metric that scores are split by for a label, where it is not the first one that is split.
    Scores are also split by pairs of labels that stand here."""

    published: PublishedFormats | None = None
    """Reads and writes the files that it is published in; None where they cannot be imported."""
    predictions: PredictionFormats | None = None
    """Matches the rows of a file of predictions with its items; None where they cannot be imported."""

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """Yields what to ask; is sent what came (`asking.py`)."""
        ...

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Yields what to ask the judge; is sent judgments; returns observations (`judging.py`).

        A judge is never told which model answered.
        """
        ...


def lacking(benchmark: object) -> list[str]:
    """What of the protocol an object has not, by name."""
    return [
        name
        for name in (*Benchmark.__annotations__, "ask", "judge")
        if not hasattr(benchmark, name)
    ]
