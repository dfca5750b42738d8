"""MMBench before a model: the circular passes, what is right, and what the metrics make of it."""

import pytest

from methods.choice.passes import RIGHT, RIGHT_COMPAT
from methods.evaluation.asking import AnswerRequest
from methods.mmbench import Mmbench
from tests.methods.choice.questions import item, observed, run, scored, text_of
from tests.methods.evaluation.observed import ScoredObservation, number

MMBENCH = Mmbench()
APPLES = item("A", "4", "3", "2", "1")
METRICS = {metric.name: metric for metric in MMBENCH.metrics}


def knows(ask: AnswerRequest) -> str:
    """The letter of the line with 4, in whatever order."""
    (line,) = (line for line in text_of(ask).splitlines() if line.endswith(". 4"))
    return f"The answer is {line[0]}."


def trials(steps: list) -> list[str]:
    return [step.trial for step in steps if isinstance(step, AnswerRequest)]


def value(name: str, rows: list[ScoredObservation], *, floor: bool = True) -> float | None:
    return number(METRICS[name], rows, floor=floor)


@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_who_knows_is_asked_every_pass_and_is_right(n: int) -> None:
    of = item("A", "4", *(f"x{number}" for number in range(n - 1)))
    steps, transcript = run(MMBENCH, of, knows)
    assert trials(steps) == [f"shift-{shift}" for shift in range(n)]
    rows = scored(MMBENCH, of, transcript)
    assert {(row.metric, row.value) for row in rows} == {(RIGHT, 1), (RIGHT_COMPAT, 1)}
    assert {name: value(name, rows) for name in METRICS} == {
        **{"Circular": 100, "Vanilla": 100, "Gap": 0, "Upper bound": 100},
        **{"Circular (compat)": 100, "Vanilla (compat)": 100},
    }


def test_a_miss_ends_the_passes_and_a_lost_reading_is_no_miss() -> None:
    steps, transcript = run(MMBENCH, APPLES, lambda ask: "A")
    assert trials(steps) == ["shift-0", "shift-1"]
    rows = scored(MMBENCH, APPLES, transcript)
    assert (value("Vanilla", rows), value("Circular", rows), value("Gap", rows)) == (100, 0, 100)
    _, transcript = run(MMBENCH, APPLES, lambda ask: "Hm.", extract=lambda step: "Z")
    (_, right) = observed(MMBENCH, APPLES, transcript)
    assert (right.metric, right.status, right.value) == (RIGHT, "judged", 0)
    steps, transcript = run(MMBENCH, APPLES, lambda ask: "Hm.", extract=lambda step: None)
    assert len(trials(steps)) == 4
    found = observed(MMBENCH, APPLES, transcript)
    assert {each.status for each in found} == {"not_judged"}
    assert value("Circular", scored(MMBENCH, APPLES, transcript), floor=False) is None
    # A lost pass is never a gain.
    _, transcript = run(MMBENCH, APPLES, knows)
    rows = [row for row in scored(MMBENCH, APPLES, transcript) if row.trial != "shift-2"]
    assert (value("Circular", rows), value("Vanilla", rows)) == (None, 100)


@pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", None])
def test_a_refusal_in_words_or_by_a_filter_is_a_miss_and_right_in_the_upper_bound(text) -> None:
    steps, transcript = run(MMBENCH, APPLES, lambda ask: text, status="refused")
    assert trials(steps)[0] == "shift-0"
    rows = scored(MMBENCH, APPLES, transcript)
    if text:
        assert trials(steps) == ["shift-0"]
        assert all(row.refused and row.value == 0 for row in rows)
    else:
        assert {row.status for row in rows} == {"refused"}
    assert (value("Circular", rows), value("Upper bound", rows)) == (0, 100)
