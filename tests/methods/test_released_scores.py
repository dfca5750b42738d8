"""Scores against the papers' released code, on generated answers and ratings.

VLMEvalKit's own rules have read the letters of `released_answers.py`: their counts and digests stand
here. The formulas of ConvBench and MMIU are those of the released scorers, written as plain sums.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from statistics import fmean

import pytest

from methods.choice.answer_extraction import compat
from methods.choice.passes import RIGHT, RIGHT_COMPAT
from methods.convbench.scores import GAINS, METRICS, OF_TURN, OVERALL, WIN_RATES
from methods.evaluation.metrics import Metric
from methods.evaluation.scoring import score_rows
from methods.evaluation.slices import CHOICES
from methods.mmbench import CIRCULAR_COMPAT
from methods.mmiu import Mmiu
from methods.mmiu.taxonomy import RELATION, TASK, TASKS
from tests.methods.evaluation.observed import ScoredObservation, frame, scored, values
from tests.methods.released_answers import answers, questions

Figures = dict[tuple[str, str, str], float]
"""Values by metric, aggregation and value of a label; empty for all."""


def digest(values: Iterable[str]) -> str:
    return hashlib.sha256("".join(values).encode()).hexdigest()[:16]


def figures(metrics: Sequence[Metric], observed: Sequence[ScoredObservation]) -> Figures:
    rows = score_rows(metrics, frame({"model": observed}))
    return {
        (row["metric"], row["aggregation"], row["subset_value"]): row["value"]
        for row in rows
        if row["form"] == "floor"
    }


def test_174_572_letters_are_those_of_vlmevalkit() -> None:
    letters = [compat(answer, choices) for answer, choices, _ in answers(174_572, seed=0)]
    assert Counter(letters) == {
        "A": 25_072, "B": 23_404, "C": 19_956, "D": 13_501, "Z": 23_645, None: 68_994
    }  # fmt: skip
    assert digest(letter or "-" for letter in letters) == "1896d25142ddfd73"


def test_6_332_circular_questions_are_right_wrong_or_left_to_the_extractor_as_in_vlmevalkit():
    """6,218 are decided by its rules; the other 114 it gives to a model, or a random letter."""
    observed = [
        scored(
            f"{number:04}",
            None if (read := compat(answer, choices)) is None else float(read == right),
            trial=f"shift-{shift}",
            metric=RIGHT_COMPAT,
            status="not_judged" if read is None else "judged",
            **{CHOICES: str(len(choices))},
        )
        for number, passes in enumerate(questions(6_332, seed=1))
        for shift, (answer, choices, right) in enumerate(passes)
    ]
    units = values(CIRCULAR_COMPAT, observed)
    hits = ["-" if value is None else f"{value / 100:.0f}" for _, value in sorted(units.items())]
    assert Counter(hits) == {"1": 4_955, "0": 1_263, "-": 114}
    assert digest(hits) == "b889f5f60767bbdd"


def test_convbench_s_192_win_rates_composites_and_differences() -> None:
    """Wins by comparisons, R2 = (S1 + S2 + S3) / 3, R1 = (R2 + SO) / 2, and what given turns gain."""
    draw, n = Random(3), 0
    turn_of = {name: turn for turn, name in OF_TURN.items()} | {OVERALL: 3}
    for _ in range(12):
        skill = draw.random()
        wins = {
            (name, item): float(draw.random() < skill) for name in WIN_RATES for item in range(60)
        }
        observed = [
            scored(f"i{item}", value, turn=turn_of[metric], trial=rate.trial, metric=metric)
            for (name, item), value in wins.items()
            for rate in [WIN_RATES[name]]
            for metric in [str(rate.observation)]
        ]
        rate = {
            name: 100 * sum(value for (of, _), value in wins.items() if of == name) / 60
            for name in WIN_RATES
        }
        rate["R2"] = (rate["S1"] + rate["S2"] + rate["S3"]) / 3
        rate["R1"] = (rate["R2"] + rate["SO"]) / 2
        rate |= {f"{more} - {less}": rate[more] - rate[less] for more, less in GAINS}
        found = {
            name: value for (name, _, part), value in figures(METRICS, observed).items() if not part
        }
        assert found == pytest.approx(rate)
        n += len(rate)
    assert n == 192


def test_mmiu_s_40_accuracies_of_relations_and_over_tasks() -> None:
    """The mean of each relation's questions, and the mean over the means of the tasks."""
    draw, n = Random(5), 0
    relations = {task.name: task.relation for task in TASKS}
    for _ in range(5):
        right = {
            (task, question): float(draw.random() < 0.5)
            for task in relations
            for question in range(draw.randint(5, 20))
        }
        observed = [
            scored(
                f"{task} {question}", value, metric=RIGHT, **{TASK: task, RELATION: relations[task]}
            )
            for (task, question), value in right.items()
        ]
        by_task = [fmean(v for (of, _), v in right.items() if of == task) for task in relations]
        expected: Figures = {
            ("Accuracy", "micro", relation): 100
            * fmean(v for (task, _), v in right.items() if relations[task] == relation)
            for relation in dict.fromkeys(relations.values())
        }
        expected["Accuracy", f"macro by {TASK}", ""] = 100 * fmean(by_task)
        found = figures(Mmiu().metrics, observed)
        assert {key: found[key] for key in expected} == pytest.approx(expected)
        n += len(expected)
    assert n == 40
