"""From questions to items: images in order of letter, siblings, keys that are right and balanced."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from methods.choice.lettered import LETTERS, MOST, LetteredChoices
from methods.mmiu.building import (
    ApprovedQuestion,
    SampleQuestion,
    build_questions,
    finish_items,
    item_id,
    labels_of,
    make_unanswerable,
    shown,
)
from methods.mmiu.converting import QuestionDraft, UnusableSampleError, question_of
from methods.mmiu.metadata import Sample, TaskInfo
from methods.mmiu.unanswerable_tasks import CANNOT
from methods.release import Edition, ReviewPolicy

JIGSAW = TaskInfo("jigsaw-puzzle-solving", "Restore.", "images", "order")
RETRIEVAL = TaskInfo("text2image-retrieval", "Find it.", "images and text", "image")
COUNTING = TaskInfo("spot-the-diff", "Count.", "images", "number")
PICTURES = tuple(f"picture {place}" for place in range(60))
SEVERAL = QuestionDraft(
    "text2image-retrieval", "", "Which?", ("query",), "r", ("p", CANNOT, "q"), True
)


FORMS = {JIGSAW: "order", RETRIEVAL: "image", COUNTING: "number"}


def asked(name: int) -> SampleQuestion:
    """A question of one of three tasks."""
    task = (JIGSAW, RETRIEVAL, COUNTING)[name % 3]
    images = () if task == RETRIEVAL else (f"{name} a", f"{name} b", f"{name} c")
    output, *wrong = {
        JIGSAW: ["2, 1, 3", "1, 2, 3", "3, 2, 1"],
        RETRIEVAL: [f"{name} right", f"{name} p", f"{name} q"],
        COUNTING: ["2", "1", "3"],
    }[task]
    sample = Sample(task, str(name), images, "", f"Which of {name}?", "natural image", output)
    return SampleQuestion(sample, FORMS[task], question_of(sample, wrong))


NAMES = st.lists(st.integers(0, 60), unique=True, max_size=20)


def both(names: list[int], most: int = 40) -> list[SampleQuestion]:
    """Answerable questions and the others of them."""
    answerable = [asked(name) for name in names]
    made = make_unanswerable(answerable, PICTURES, most, 0)
    return answerable + [each for each in made if isinstance(each, SampleQuestion)]


def test_candidates_are_shown_in_order_of_letter_and_named_by_their_place() -> None:
    order = LetteredChoices(("q", CANNOT, "r", "p"), "C")
    named = ("Image 2", CANNOT, "Image 3", "Image 4")
    assert shown(SEVERAL, order) == (("query", "q", "r", "p"), named)
    text = SEVERAL._replace(of_images=False)
    assert shown(text, order) == (("query",), ("q", CANNOT, "r", "p"))


def test_an_id_tells_no_key_and_is_another_for_another_question() -> None:
    assert item_id(SEVERAL) == item_id(SEVERAL._replace(answer="q", distractors=("r", "p", CANNOT)))
    others = [
        SEVERAL._replace(question="Who?"),
        SEVERAL._replace(context="Look."),
        SEVERAL._replace(images=("other",)),
        SEVERAL._replace(answer="z"),
        SEVERAL._replace(task="visual-coherence"),
    ]
    assert len({item_id(each) for each in (SEVERAL, *others)}) == 6


@given(NAMES, st.integers(0, 3))
def test_the_key_is_right_choices_are_distinct_and_letters_balanced_in_every_task(names, seed):
    used: dict[tuple[str, int], Counter[str]] = {}
    for item in finish_items(both(names), {}, seed):
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
    items = finish_items(both(names, most), {}, 0)
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
    (found,) = make_unanswerable([asked(1)], (), 40, 0)
    of, loss = found  # type: ignore[misc]
    assert of == asked(1) and isinstance(loss, UnusableSampleError) and loss.reason == "no_strategy"


ITEM = ApprovedQuestion(
    **{"item_id": "i1", "group_id": "i0", "revision": 0, "reviewers": ("ann",)},
    **{"image_ids": ("a", "b"), "question": "Which order?", "hint": "Restore."},
    **{"choices": ("1, 2", CANNOT), "key": "B", "category": "jigsaw-puzzle-solving"},
    strategy="shuffle all images",
)


def test_an_item_is_labelled_as_an_imported_one_is_and_by_what_left_it_unanswerable() -> None:
    assert labels_of(ITEM) == {
        "task": "jigsaw-puzzle-solving",
        "relation": "two-dimensional spatial",
        "images": "few (2-5)",
        "answerable": "no",
        "strategy": "shuffle all images",
    }


def test_the_rows_of_a_release_are_those_that_an_import_would_have() -> None:
    sources = {each: {"title": each.upper()} for each in "ab"}
    release = build_questions("mmiu", Edition("mmiu"), [ITEM], ReviewPolicy("none", 0.1), sources)
    (turn,), (item,) = release.rows["turns"], release.rows["items"]
    assert turn["question"] == (
        "Image1: <ImageHere>, Image2: <ImageHere>\nContext: Restore.\nQuestion: Which order?"
    )
    assert turn["image_positions"] == [1, 2]
    assert (item["group_id"], item["set_id"]) == ("i0", None)
    assert [row["choice"] for row in release.rows["choices"]] == ["1, 2", CANNOT]
    assert [row["reference"] for row in release.rows["references"]] == ["B"]
    assert [row["title"] for row in release.rows["images"]] == ["A", "B"]
    assert release.release_id.startswith("mmiu-")
