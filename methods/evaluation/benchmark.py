"""The protocol that every benchmark implements.

A benchmark defines how an item is asked, how answers are judged, and the metrics. Sending, resuming,
counting, intervals and ranks are the same for all.
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
"""The group of entry points in which packages register their benchmarks."""


class Benchmark(Protocol):
    """How one benchmark asks, judges and scores. A subclass need not set what has a default here."""

    name: str
    """The short name, by which releases name their benchmark."""
    answer_version: str
    """The version of asking. Change it whenever `ask` changes."""
    context_policies: Sequence[ContextPolicy] = ()
    """The policies for dialogues that are too long which the benchmark allows in addition to `fail`."""
    question_prompts: Sequence[str] = ()
    """The prompt files, `<method>/<task>`, that `ask` renders questions with; empty if it sends
    questions unchanged. Their versions are part of the answers' version."""
    extractor_prompts: Sequence[str] = ()
    """The prompt files for the model that extracts answers if no rule can; empty without extraction."""
    judge_prompts: Sequence[str] = ()
    """The prompt files of its judge, `<method>/<task>`; empty if answers are scored by rule."""
    judge_version: str
    """The version of judging. Change it whenever `judge` changes. Judgments under different versions,
    of judging or of a prompt of the judge, are different scores."""
    dimensions: Sequence[str]
    """The names of the scores of an answer, the overall score last; observations use them."""
    score_range: tuple[int, int] = (0, 1)
    """The lowest and the highest score that a judge or a person may give."""
    metrics: Sequence[Metric]
    """The metrics of the leaderboard; the first one ranks."""

    abilities: Sequence[str] = ()
    """The labels that name the ability an item tests, from the coarsest to the finest. A report shows
    the finest as a heat map and the level above it side by side. Empty if items have none."""

    label_metrics: Mapping[tuple[str, ...], str] = {}
    """The metric by which scores are split for a label, if it is not the first one that can be split.
    Scores are also split by the pairs of labels that are keys here."""

    published: PublishedFormats | None = None
    """Reads and writes the published files; None if they cannot be imported."""
    predictions: PredictionFormats | None = None
    """Matches the rows of a file of predictions with items; None if predictions cannot be imported."""

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """Ask a model about an item, as a generator (`asking.py`).

        Args:
            item: The item.
            limits: The context policy and the limits of requests.

        Yields:
            Questions, reference turns, skipped turns and answer extractions. After each, the generator
            is sent the answer or what was extracted.
        """
        ...

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Judge the answers to an item, as a generator (`judging.py`).

        A judge is never told which model answered.

        Args:
            item: The item.
            transcript: The answers and what was extracted from them.

        Returns:
            A generator: it yields lists of judge requests, is sent the judgments (None for a failed
            one), and returns the observations.
        """
        ...


def missing_members(benchmark: object) -> list[str]:
    """Name the members of the protocol that an object lacks."""
    return [
        name
        for name in (*Benchmark.__annotations__, "ask", "judge")
        if not hasattr(benchmark, name)
    ]
