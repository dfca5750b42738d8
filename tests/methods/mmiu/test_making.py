"""From questions to items: unanswerable ones by Table 7, letters and keys, rows of a release."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from methods.choice.lettered import LETTERS, MOST
from methods.mmiu import building
from methods.mmiu.converting import QuestionDraft, UnusableSampleError, question_of
from methods.mmiu.metadata import Sample, TaskInfo
from methods.mmiu.taxonomy import TASKS
from methods.mmiu.unanswerable import ReplacementMaterial, change_question
from methods.mmiu.unanswerable_tasks import (
    ANSWER_IMAGE,
    CANNOT,
    IRRELEVANT,
    KEY_WORD,
    OTHER_IMAGES,
    SHUFFLE,
    STRATEGIES_OF,
)
from methods.release import Edition, ReviewPolicy

JIGSAW = Sample(
    TaskInfo("jigsaw-puzzle-solving", "Restore.", "order"),
    *("s", ("t1", "t2", "t3", "t4"), "Restore.", "Which order?", "2, 1, 4, 3"),
)
JIGSAW_QUESTION = question_of(JIGSAW, ["1, 2, 3, 4", "4, 3, 2, 1", "3, 4, 1, 2"])
RETRIEVAL = Sample(
    TaskInfo("text2image-retrieval", "Find it.", "image"),
    *("s", (), "Find it.", "Which image shows a red kite?", "right"),
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
        question="Which image shows an owl?", answer=CANNOT, distractors=("right", "w1", "w2", "w3")
    )
    assert applied(KEY_WORD, replace(RETRIEVAL, key_word="", other_word="")) is None


def test_the_answers_image_or_another_one_is_replaced_by_one_that_has_nothing_to_do() -> None:
    found = applied(ANSWER_IMAGE, RETRIEVAL)
    assert (found.answer, found.distractors[1:]) == (CANNOT, ("w1", "w2", "w3"))
    assert found.distractors[0] in ELSEWHERE.images
    assert found.question == RETRIEVAL_QUESTION.question
    # Without an image for an answer, or another one to show, there is nothing to replace.
    assert applied(ANSWER_IMAGE) is None
    assert applied(ANSWER_IMAGE, RETRIEVAL, NOTHING) is None
    # What was right is a wrong choice.
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
    # In a retrieval task they are other candidates, none of them the image of the question.
    shown = RETRIEVAL_QUESTION._replace(images=("q1",))
    material = ReplacementMaterial(ELSEWHERE.images, ())
    found = change_question(IRRELEVANT, RETRIEVAL, "image", shown, material, 0)
    assert (len(found.images), len(found.distractors)) == (1, 4)
    images = {*found.images, *found.distractors}
    assert images <= set(ELSEWHERE.images) and len(images) == 5
    # Too few other pictures, and no question of another form.
    assert applied(IRRELEVANT, RETRIEVAL, ReplacementMaterial(("e1", "e2", "e3"), ())) is None


JIGSAW_TASK, RETRIEVAL_TASK = JIGSAW.task, RETRIEVAL.task
COUNTING = TaskInfo("spot-the-diff", "Count.", "number")
PICTURES = tuple(f"picture {place}" for place in range(60))
SEVERAL = QuestionDraft(
    "text2image-retrieval", "", "Which?", ("query",), "r", ("p", CANNOT, "q"), True
)

FORMS = {JIGSAW_TASK: "order", RETRIEVAL_TASK: "image", COUNTING: "number"}


def asked(name: int) -> building.SampleQuestion:
    task = (JIGSAW_TASK, RETRIEVAL_TASK, COUNTING)[name % 3]
    images = () if task == RETRIEVAL_TASK else (f"{name} a", f"{name} b", f"{name} c")
    output, *wrong = {
        JIGSAW_TASK: ["2, 1, 3", "1, 2, 3", "3, 2, 1"],
        RETRIEVAL_TASK: [f"{name} right", f"{name} p", f"{name} q"],
        COUNTING: ["2", "1", "3"],
    }[task]
    sample = Sample(task, str(name), images, "", f"Which of {name}?", output)
    return building.SampleQuestion(sample, FORMS[task], question_of(sample, wrong))


NAMES = st.lists(st.integers(0, 60), unique=True, max_size=20)


def both(names: list[int], most: int = 40) -> list[building.SampleQuestion]:
    """Answerable questions and the others of them."""
    answerable = [asked(name) for name in names]
    made = building.make_unanswerable(answerable, PICTURES, most, 0)
    return answerable + [each for each in made if isinstance(each, building.SampleQuestion)]


def test_an_id_tells_no_key_and_is_another_for_another_question() -> None:
    assert building.item_id(SEVERAL) == building.item_id(
        SEVERAL._replace(answer="q", distractors=("r", "p", CANNOT))
    )
    others = [
        SEVERAL._replace(question="Who?"),
        SEVERAL._replace(context="Look."),
        SEVERAL._replace(images=("other",)),
        SEVERAL._replace(answer="z"),
        SEVERAL._replace(task="visual-coherence"),
    ]
    assert len({building.item_id(each) for each in (SEVERAL, *others)}) == 6


@given(NAMES, st.integers(0, 3))
def test_the_key_is_right_choices_are_distinct_and_letters_balanced_in_every_task(names, seed):
    used: dict[tuple[str, int], Counter[str]] = {}
    for item in building.finish_items(both(names), {}, seed):
        question, n_choices = item.sample.question, len(item.choices)
        assert 2 <= n_choices <= MOST and len(set(item.choices)) == n_choices
        right = item.choices[LETTERS.index(item.answer)]
        if question.of_images and question.answer != CANNOT:
            place = int(right.removeprefix("Image "))
            assert item.image_ids[place - 1] == question.answer
        else:
            assert right == question.answer
        letters = dict.fromkeys(LETTERS[:n_choices], 0)
        used.setdefault((question.task, n_choices), Counter(letters))[item.answer] += 1
    assert all(max(each.values()) - min(each.values()) <= 1 for each in used.values())


@given(NAMES, st.integers(0, 5))
def test_unanswerable_ones_are_of_their_tasks_up_to_the_cap_and_beside_their_siblings(names, most):
    items = building.finish_items(both(names, most), {}, 0)
    by_id = {item.item_id: item for item in items}
    counts = Counter(item.sample.question.task for item in items if item.sample.strategy)
    of_task = Counter(item.sample.question.task for item in items if not item.sample.strategy)
    for task in ("jigsaw-puzzle-solving", "text2image-retrieval"):
        assert counts[task] == min(most, of_task[task])
    # Table 7 has no strategy for counting differences.
    assert counts["spot-the-diff"] == 0
    for item in items:
        sibling = by_id[item.group_id]
        assert (CANNOT in item.choices) == (item.sample.question.task != "spot-the-diff")
        assert len(sibling.choices) == len(item.choices)
        assert sibling.sample.strategy is None


def test_a_question_that_no_strategy_fits_comes_with_its_reason() -> None:
    lost = [*building.make_unanswerable([asked(1), asked(4)], (), 40, 0)]
    assert sorted(of.sample.source for of, _ in lost) == ["1", "4"]  # type: ignore[misc]
    assert all(isinstance(loss, UnusableSampleError) for _, loss in lost)  # type: ignore[misc]
    assert {loss.reason for _, loss in lost} == {"no_strategy"}  # type: ignore[misc]
    # Images of the sample itself, one of them also right, replace none of its images.
    sample = replace(RETRIEVAL, wrong=("w1", "w2", "w3"), also_right=("also",), key_word="")
    asking = building.SampleQuestion(sample, "image", RETRIEVAL_QUESTION)
    ((_, loss),) = building.make_unanswerable([asking], ("right", "w1", "also"), 1, 0)  # type: ignore[misc]
    assert isinstance(loss, UnusableSampleError) and loss.reason == "no_strategy"


ITEM = building.ApprovedQuestion(
    **{"item_id": "i1", "group_id": "i0", "revision": 0, "reviewers": ("ann",)},
    **{"image_ids": ("a", "b"), "question": "Which order?", "hint": "Restore."},
    **{"choices": ("1, 2", CANNOT), "key": "B", "category": "jigsaw-puzzle-solving"},
    strategy="shuffle all images",
)


def test_the_rows_of_a_release_are_those_that_an_import_would_have() -> None:
    sources = {each: {"title": each.upper()} for each in "ab"}
    release = building.build_questions(
        "mmiu", Edition("mmiu"), [ITEM], ReviewPolicy("none", 0.1), sources
    )
    (turn,), (item,) = release.rows["turns"], release.rows["items"]
    assert turn["question"] == (
        "Image1: <ImageHere>, Image2: <ImageHere>\nContext: Restore.\nQuestion: Which order?"
    )
    assert turn["image_positions"] == [1, 2]
    assert (item["group_id"], item["set_id"]) == ("i0", None)
    assert item["labels"]["relation"] == "two-dimensional spatial"
    assert (item["labels"]["answerable"], item["labels"]["strategy"]) == ("no", ITEM.strategy)
    assert [row["choice"] for row in release.rows["choices"]] == ["1, 2", CANNOT]
    assert [row["reference"] for row in release.rows["references"]] == ["B"]
    assert [row["title"] for row in release.rows["images"]] == ["A", "B"]
    assert release.release_id.startswith("mmiu-")
