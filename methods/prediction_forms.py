"""How files of predictions name the items of a benchmark, found by the benchmark's name.

What belongs here: that. A benchmark takes predictions if there is a module `predictions.py` in its
folder; what is in it says `methods/evaluation/predictions.py`.
"""

from typing import cast

from methods.benchmarks import BENCHMARKS
from methods.evaluation.predictions import PredictionForms
from methods.published_forms import module_of


def prediction_forms(benchmark: str) -> PredictionForms | None:
    """The module of a benchmark of the project; None where it or the benchmark does not exist."""
    return cast(PredictionForms | None, module_of(benchmark, "predictions"))


def predictable() -> list[str]:
    """Names of the benchmarks that files of predictions can be imported for."""
    return [name for name in BENCHMARKS if prediction_forms(name)]
