"""MMIU before a model: one question, a second one in another order, tasks and relations."""

from collections import Counter

import pytest

from methods.evaluation.asking import AnswerRequest
from methods.mmiu import Mmiu, order_of
from methods.mmiu.taxonomy import TASKS, image_level, task_of
from tests.methods.choice.questions import item, run, scored, text_of
from tests.methods.evaluation.observed import ScoredObservation
from tests.methods.evaluation.observed import number as by_hand

ONCE, TWICE = Mmiu(), Mmiu(retest=True)
BIRDS = item("B", "crow", "owl", "gull", labels={"task": "spot-the-diff"})


def knows(ask: AnswerRequest) -> str:
    (line,) = (line for line in text_of(ask).splitlines() if line.endswith(") owl"))
    return line[1]


def number(benchmark: Mmiu, name: str, over: str, rows: list[ScoredObservation]) -> float | None:
    (metric,) = (m for m in benchmark.metrics if (m.name, m.aggregation) == (name, over))
    return by_hand(metric, rows, floor=True)


def test_refusals_are_misses_and_left_out_of_a_figure_of_their_own() -> None:
    rows = []
    # Of four questions one is right, one wrong, one declined in words and one by a filter.
    declined = ("I'm sorry, but I can't.", "refused")
    for n, (said, status) in enumerate(
        [("B", "answered"), ("A", "answered"), declined, (None, "")]
    ):
        of = item("B", "x", "y", item_id=f"q{n}", labels={"task": "a"})
        rows += scored(ONCE, of, run(ONCE, of, lambda ask, said=said: said, status=status)[1])
    for over in ("micro", "macro by task"):
        assert number(ONCE, "Accuracy", over, rows) == 25
        assert number(ONCE, "Accuracy, refusals left out", over, rows) == 50
        assert number(ONCE, "Upper bound", over, rows) == 75


@pytest.mark.parametrize(
    ("reply", "n_asked", "once", "retested"),
    [(knows, 2, 100, 100), (lambda ask: "B", 2, 100, 0), (lambda ask: "A", 1, 0, 0)],
    ids=["knows", "repeats a letter", "is wrong at once"],
)
def test_what_is_right_is_asked_again_in_another_order(reply, n_asked, once, retested) -> None:
    steps, transcript = run(TWICE, BIRDS, reply)
    asks = [step for step in steps if isinstance(step, AnswerRequest)]
    assert [ask.trial for ask in asks] == ["plain", "retest-1"][:n_asked]
    assert "(B) owl" not in "".join(text_of(ask) for ask in asks[1:])
    rows = scored(TWICE, BIRDS, transcript)
    assert number(TWICE, "Accuracy", "micro", rows) == once
    assert number(TWICE, "Accuracy, retested", "micro", rows) == retested


def test_the_order_of_a_retest_is_the_items_own_and_asking_twice_another_version() -> None:
    orders = {order_of(item("A", *"wxyz", item_id=f"q{n}"), "retest-1") for n in range(20)}
    assert len(orders) > 5
    assert ONCE.answer_version != TWICE.answer_version


def test_the_taxonomy_is_the_papers_and_every_task_is_found_by_its_own_name():
    assert len({task.name for task in TASKS}) == len({task.abbreviation for task in TASKS}) == 52
    # Numbers of tasks by relation (Table A.2).
    assert list(Counter(task.relation for task in TASKS).values()) == [9, 11, 6, 8, 2, 13, 3]
    # Every task is found by its own name and no other name is one.
    assert all(task_of(task.name) == task for task in TASKS)
    assert task_of("counting_sheep") is None and task_of("") is None
    # Levels of the number of images.
    few, many = "few (2-5)", "many (16-32)"
    levels = ["one", few, few, "medium (6-15)", many, many, "over 32"]
    assert [image_level(n) for n in (1, 2, 5, 6, 16, 32, 33)] == levels


@pytest.mark.parametrize(
    ("released", "task"),
    [
        ("forensic_detection_blink", "forensic-detection"),
        ("visual_quality_assessment_q_bench+", "visual-quality-assessment"),
        ("Egocentric_Video_QuestionAnswering", "egocentric-video-question-answering"),
        ("meme_vedio_understanding", "meme-video-understanding"),
        ("casuality_reasoning_next_qa", "casuality-reasoning"),
        ("Causality Reasoning", "casuality-reasoning"),
        ("threeD_Pose_Estimation", "threeD-pose-estimation"),
        ("3D Pose Estimation", "threeD-pose-estimation"),
        ("threed_cad_recognition", "threed-cad-recognition"),
        ("mevis", "mevis"),
    ],
)
def test_a_released_record_names_its_task_with_its_data_set(released: str, task: str) -> None:
    found = task_of(released)
    assert found is not None and found.name == task
