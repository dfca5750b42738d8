"""AlignMMBench: what is asked and judged, and the scores of a small table worked by hand."""

import math
from dataclasses import replace
from typing import Any

import pytest

from methods.alignmmbench import ANSWER, Alignmmbench
from methods.evaluation.asking import Answer, Ask, Given, Limits, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import Judgment, Place, replay
from methods.evaluation.metrics import Scored
from methods.evaluation.rating import RATING
from methods.prompts.messages import Image, Message, Text
from resources.prompts import prompt
from tests.methods.evaluation.driving import drive
from tests.methods.evaluation.metrics.numbers import number

BENCHMARK = Alignmmbench()
ITEM = Item(
    "7-0",
    (
        Turn(1, "<ImageHere>\nWhat is it?", (1,), given="A cat."),
        Turn(2, "Are you sure?", references={"answer": "No, it is a dog."}),
    ),
    ("sha",),
    group_id="7",
    labels={"task": "Incoherence", "category": "Dialogue Context", "image_path": "images/7.jpg"},
)
YES = Answer("answered", "Yes.", "call")


def request_of(item: Item, benchmark: Alignmmbench = BENCHMARK, answer: Answer = YES) -> Any:
    (asked,) = next(benchmark.judge(item, Transcript({("plain", item.turns[-1].turn): answer})))
    return asked


def test_the_history_is_given_and_only_the_last_question_is_asked() -> None:
    given, asked = drive(BENCHMARK.ask(ITEM, Limits()), lambda _: YES)

    assert given == Given("plain", 1, "A cat.")
    assert isinstance(asked, Ask) and asked.turn == 2 and asked.lacks is None
    assert asked.messages == (
        Message("user", (Image("sha"), Text("\nWhat is it?"))),
        Message.of("assistant", "A cat."),
        Message.of("user", "Are you sure?"),
    )


def test_without_its_picture_the_question_says_what_it_lacks_and_what_to_do() -> None:
    without = replace(
        ITEM, turns=(replace(ITEM.turns[0], image_positions=()), ITEM.turns[1]), image_ids=()
    )
    given, asked = drive(BENCHMARK.ask(without, Limits()), lambda _: YES)

    assert given == Given("plain", 1, "A cat.")
    assert isinstance(asked, Ask) and asked.messages[0] == Message.of("user", "What is it?")
    assert asked.lacks is not None
    assert asked.lacks.startswith(
        "The picture images/7.jpg is not in this release: import it again"
    )


def test_the_judge_reads_texts_and_no_picture_unless_it_is_to() -> None:
    asked = request_of(ITEM)

    assert asked.place == Place("plain", 2, ANSWER) and asked.images == ()
    assert asked.data["earlier"] == [{"question": "<image-1>\nWhat is it?", "answer": "A cat."}]
    assert (asked.data["question"], asked.data["reference"], asked.data["answer"]) == (
        "Are you sure?",
        "No, it is a dog.",
        "Yes.",
    )
    seeing = Alignmmbench(judge_sees_images=True)
    assert request_of(ITEM, seeing).images == ("sha",)
    assert seeing.judge_version != BENCHMARK.judge_version


@pytest.mark.parametrize(
    ("question", "name"),
    [("Are you sure?", "alignmmbench/judge_en"), ("你确定吗？", "alignmmbench/judge_zh")],
)
def test_a_question_is_judged_in_its_language(question: str, name: str) -> None:
    item = replace(ITEM, turns=(ITEM.turns[0], replace(ITEM.turns[1], question=question)))

    assert request_of(item).prompt == name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_task_has_rules_of_its_own_but_the_two_of_dialogues_share_theirs(
    language: str,
) -> None:
    from methods.alignmmbench.tasks import CATEGORIES, CHINESE_NAMES

    template = prompt(f"alignmmbench/judge_{language}")
    rendered = {}
    for task in CATEGORIES:
        data = {**request_of(ITEM).data, "task": task, "name": CHINESE_NAMES[task]}
        system, _ = template.render(**data)
        text = "".join(part.text for part in system.parts if isinstance(part, Text))
        rendered[task] = text.replace(f'"{task}"', "").replace(f"“{CHINESE_NAMES[task]}”", "")

    assert len(set(rendered.values())) == 12
    assert rendered["Coherence"] == rendered["Incoherence"]


def test_what_cannot_be_judged_is_an_observation_with_its_status() -> None:
    def status(item: Item, answer: Answer) -> str:
        transcript = Transcript({("plain", 2): answer})
        (only,) = replay(BENCHMARK.judge(item, transcript), {})
        return only.status

    unreferenced = replace(ITEM, turns=(ITEM.turns[0], replace(ITEM.turns[1], references={})))
    assert status(ITEM, YES) == "not_judged"
    assert status(ITEM, Answer("truncated")) == "truncated"
    assert status(ITEM, Answer("not_asked")) == "not_asked"
    assert status(unreferenced, YES) == "no_reference"


def test_the_rating_is_the_observation() -> None:
    transcript = Transcript({("plain", 2): YES})
    judged = {Place("plain", 2, ANSWER): Judgment({RATING: 7}, 7, "")}
    (only,) = replay(BENCHMARK.judge(ITEM, transcript), judged)

    assert (only.metric, only.value, only.status) == (RATING, 7, "judged")


# --- Scores ----------------------------------------------------------------------------------------

RATINGS = {
    # Two seeds of Counting, one of Meme, one of Coherence with a single wording.
    "a": ("Counting", "Perception & Understanding", [4, 6]),
    "b": ("Counting", "Perception & Understanding", [2, 8]),
    "c": ("Writing", "Reasoning & Analysis", [9, 10, 9, 10]),
    "d": ("Coherence", "Dialogue Context", [5]),
}


def table(ratings: dict[str, Any] = RATINGS) -> list[Scored]:
    return [
        Scored(
            f"{group}-{place}",
            group,
            "plain",
            1,
            RATING,
            value,
            labels={"task": task, "category": category},
        )
        for group, (task, category, values) in ratings.items()
        for place, value in enumerate(values)
    ]


def scores(observed: list[Scored]) -> dict[tuple[str, str], float | None]:
    return {(m.name, m.aggregation): number(m, observed) for m in BENCHMARK.metrics}


def test_scores_worked_by_hand() -> None:
    # Ratings: 4 + 6 + 2 + 8 = 20, 38, 5; tasks 5, 9.5, 5; deviations 1, 3, 0.5 (d says nothing).
    # c lies in one band (9-10); a reaches from 3-5 to 6-8, b from 1-2 to 6-8.
    assert scores(table()) == {
        ("Rating", "micro"): pytest.approx(63 / 9),
        ("Rating", "macro by task"): pytest.approx(19.5 / 3),
        ("Rating", "macro by category"): pytest.approx(19.5 / 3),
        ("Alignment score", "micro"): pytest.approx(3 / 4.5),
        ("Mean deviation", "micro"): pytest.approx(1.5),
        ("Over a band", "micro"): pytest.approx(200 / 3),
    }


def test_where_no_group_differs_the_alignment_score_is_infinite_and_the_others_are_zero() -> None:
    same = {group: (*of[:2], [5] * len(of[2])) for group, of in RATINGS.items()}
    found = scores(table(same))

    assert found["Alignment score", "micro"] == math.inf
    assert found["Mean deviation", "micro"] == found["Over a band", "micro"] == 0


def test_of_two_models_with_the_same_mean_the_steady_one_has_the_higher_alignment_score() -> None:
    steady = {"a": ("Counting", "x", [5, 6, 5, 6]), "b": ("Counting", "x", [6, 5, 6, 5])}
    moody = {"a": ("Counting", "x", [1, 10, 1, 10]), "b": ("Counting", "x", [10, 1, 10, 1])}
    one, other = scores(table(steady)), scores(table(moody))

    assert one["Rating", "micro"] == other["Rating", "micro"] == 5.5
    assert one["Alignment score", "micro"] == 2
    assert other["Alignment score", "micro"] == pytest.approx(1 / 4.5)
