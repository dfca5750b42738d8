"""The unanswerable set: Table 7 as data, and what each strategy changes, by hand."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmiu.converting import UnusableSampleError, question_of
from methods.mmiu.metadata import Sample, TaskInfo
from methods.mmiu.taxonomy import TASKS
from methods.mmiu.unanswerable import ReplacementMaterial, change_question, unanswerable
from methods.mmiu.unanswerable_tasks import (
    ANSWER_IMAGE,
    CANNOT,
    IRRELEVANT,
    KEY_WORD,
    OTHER_IMAGES,
    SHUFFLE,
    STRATEGIES_OF,
)

JIGSAW = Sample(
    TaskInfo("jigsaw-puzzle-solving", "Restore.", "images", "order"),
    *("s", ("t1", "t2", "t3", "t4"), "Restore.", "Which order?", "natural image", "2, 1, 4, 3"),
)
JIGSAW_QUESTION = question_of(JIGSAW, ["1, 2, 3, 4", "4, 3, 2, 1", "3, 4, 1, 2"])
RETRIEVAL = Sample(
    TaskInfo("text2image-retrieval", "Find it.", "images and text", "image"),
    *("s", (), "Find it.", "Which image shows a red kite?", "natural image", "right"),
    key_word="a red kite",
    other_word="an owl",
)
RETRIEVAL_QUESTION = question_of(RETRIEVAL, ["w1", "w2", "w3"])
ELSEWHERE = ReplacementMaterial(
    tuple(f"e{place}" for place in range(9)), (("Count.", "How many differences are there?"),)
)
NOTHING = ReplacementMaterial((), ())
QUESTIONS = {JIGSAW.task: ("order", JIGSAW_QUESTION), RETRIEVAL.task: ("image", RETRIEVAL_QUESTION)}
"""Form and question of each task."""


def applied(strategy, sample: Sample = JIGSAW, elsewhere=ELSEWHERE, seed: int = 0):
    return change_question(strategy, sample, *QUESTIONS[sample.task], elsewhere, seed)


def test_table_7_has_nineteen_tasks_and_the_strategies_of_each() -> None:
    assert len(STRATEGIES_OF) == 19 and set(STRATEGIES_OF) < {task.name for task in TASKS}
    assert "visual-ordering" not in STRATEGIES_OF
    counts = Counter(strategy for of in STRATEGIES_OF.values() for strategy in of)
    assert counts == {
        **{KEY_WORD: 5, ANSWER_IMAGE: 9, OTHER_IMAGES: 10, SHUFFLE: 9, IRRELEVANT: 16}
    }
    assert STRATEGIES_OF["visual-coherence"] == (ANSWER_IMAGE,)
    assert STRATEGIES_OF["temporal-ordering"] == (SHUFFLE,)
    assert STRATEGIES_OF["jigsaw-puzzle-solving"] == (OTHER_IMAGES, SHUFFLE, IRRELEVANT)
    assert STRATEGIES_OF["text2image-retrieval"] == (KEY_WORD, ANSWER_IMAGE, IRRELEVANT)
    assert STRATEGIES_OF["threeD-object-detection"] == (OTHER_IMAGES, SHUFFLE)


def test_a_key_word_is_replaced_and_all_candidates_stay() -> None:
    found = applied(KEY_WORD, RETRIEVAL)
    assert found == RETRIEVAL_QUESTION._replace(
        question="Which image shows an owl?",
        answer=CANNOT,
        distractors=("right", "w1", "w2", "w3"),
    )
    assert applied(KEY_WORD, replace(RETRIEVAL, key_word="", other_word="")) is None


def test_the_answers_image_is_replaced_by_one_that_has_nothing_to_do() -> None:
    found = applied(ANSWER_IMAGE, RETRIEVAL)
    assert (found.answer, found.distractors[1:]) == (CANNOT, ("w1", "w2", "w3"))
    assert found.distractors[0] in ELSEWHERE.images
    assert found.question == RETRIEVAL_QUESTION.question
    # Without an image for an answer, or another one to show, there is nothing to replace.
    assert applied(ANSWER_IMAGE) is None
    assert applied(ANSWER_IMAGE, RETRIEVAL, NOTHING) is None


def test_one_of_the_other_images_is_replaced_and_what_was_right_is_a_wrong_choice() -> None:
    found = applied(OTHER_IMAGES)
    assert found.answer == CANNOT
    assert found.distractors == ("2, 1, 4, 3", "1, 2, 3, 4", "4, 3, 2, 1", "3, 4, 1, 2")
    pairs = zip(found.images, JIGSAW.images, strict=True)
    (new,) = [now for now, before in pairs if now != before]
    assert new in ELSEWHERE.images
    # With candidates alone, the right one would stay.
    assert applied(OTHER_IMAGES, RETRIEVAL) is None


@given(st.integers(0, 200))
def test_after_shuffling_the_order_that_is_right_now_is_offered_nowhere(seed: int) -> None:
    found = applied(SHUFFLE, seed=seed)
    assert sorted(found.images) == sorted(JIGSAW.images) and found.images != JIGSAW.images
    # The picture is t2 t1 t4 t3, row by row.
    right = ", ".join(str(found.images.index(tile) + 1) for tile in ("t2", "t1", "t4", "t3"))
    assert right not in found.distractors and found.answer == CANNOT
    # One image cannot be shuffled.
    alone = JIGSAW_QUESTION._replace(images=("t1",))
    assert change_question(SHUFFLE, JIGSAW, "order", alone, ELSEWHERE, seed) is None


def test_irrelevant_is_the_question_or_all_images() -> None:
    seen = set()
    for seed in range(30):
        found = applied(IRRELEVANT, seed=seed)
        assert found.answer == CANNOT and found.distractors[0] == "2, 1, 4, 3"
        if found.question == JIGSAW.question:
            assert set(found.images) <= set(ELSEWHERE.images) and len(set(found.images)) == 4
            seen.add("images")
        else:
            assert (found.context, found.question) == ELSEWHERE.questions[0]
            assert found.images == JIGSAW.images
            seen.add("question")
    assert seen == {"images", "question"}


def test_irrelevant_images_are_other_candidates_in_a_retrieval_task() -> None:
    shown = RETRIEVAL_QUESTION._replace(images=("q1",))
    material = ReplacementMaterial(ELSEWHERE.images, ())
    found = change_question(IRRELEVANT, RETRIEVAL, "image", shown, material, 0)
    assert (len(found.images), len(found.distractors)) == (1, 4)
    # The image that the question shows is not a choice.
    images = {*found.images, *found.distractors}
    assert images <= set(ELSEWHERE.images) and len(images) == 5
    # Too few other pictures, and no question of another form.
    assert applied(IRRELEVANT, RETRIEVAL, ReplacementMaterial(("e1", "e2", "e3"), ())) is None


@given(st.integers(0, 100), st.sampled_from([JIGSAW, RETRIEVAL]))
def test_a_strategy_of_the_task_leaves_as_many_choices_and_none_right(seed, sample):
    form, of = QUESTIONS[sample.task]
    strategy, question = unanswerable(sample, form, of, ELSEWHERE, seed)
    assert strategy in STRATEGIES_OF[sample.task.name]
    assert question.answer == CANNOT and CANNOT not in question.distractors
    assert len(question.distractors) == len(of.distractors)
    assert len(set(question.distractors)) == len(question.distractors)
    # Something else is asked or shown, or other choices are offered.
    asked = [each._replace(answer="", distractors=()) for each in (question, of)]
    assert asked[0] != asked[1] or set(question.distractors) != {of.answer, *of.distractors} - {
        CANNOT
    }


def test_where_no_strategy_fits_it_is_said_so() -> None:
    bare = replace(RETRIEVAL, key_word="", other_word="")
    with pytest.raises(UnusableSampleError) as caught:
        unanswerable(bare, "image", RETRIEVAL_QUESTION, NOTHING, 0)
    assert caught.value.reason == "no_strategy"
    ordering = RETRIEVAL_QUESTION._replace(task="visual-ordering")
    with pytest.raises(UnusableSampleError):
        unanswerable(RETRIEVAL, "image", ordering, ELSEWHERE, 0)
