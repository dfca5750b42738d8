"""What a benchmark and an instruction set share: one fault of each kind, and what is no fault."""

import dataclasses
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.overlap import BLOCKING, Asked, Content, Shared, content_of, shared, words

QUESTION = "Image1: <ImageHere>. Which of the bridges in <image-1> was built with two towers?"
ANSWER = (
    "The suspension bridge on the left has two towers of grey granite, which carry four main cables "
    "over the estuary and stand on caissons that were sunk through the mud."
)


def release(name: str, question: str, answer: str, page: str = "", image: str = "") -> Content:
    """A release of one item with one turn; benchmarks are imported."""
    return content_of(
        name,
        {
            "images": [{"item_id": f"of-{name}", "image_id": image or name, "page_url": page}],
            "turns": [{"item_id": f"of-{name}", "turn": 1, "question": question, "given": None}],
            "choices": [],
            "references": [
                {"item_id": f"of-{name}", "turn": 1, "kind": "answer", "reference": answer}
            ],
        },
        imported=name == "bench",
    )


TESTED = release("bench", QUESTION, ANSWER, "https://w/Bridge", "a")
OTHER = release("instruct", "What is it?", "A mill with four sails.", "https://w/Mill", "b")


def found(instruction: Content, benchmark: Content = TESTED, **alike: str) -> list[Shared]:
    return list(shared([benchmark], [instruction], alike))


def test_an_answer_of_releases_that_were_built_here_is_in_the_same_phrases() -> None:
    built = replace(TESTED, imported=False)
    same = release("instruct", "What does it stand on?", ANSWER, "https://w/Mill", "b")
    assert [one.kind for one in found(same)] == ["answer"]
    assert [one.kind for one in found(same, built)] == ["phrases_of_answer"]


def test_all_but_forms_of_words_and_phrases_stop_a_release() -> None:
    assert set(BLOCKING) == {"page", "image", "near_duplicate", "question", "answer"}


def test_releases_that_share_nothing_share_nothing() -> None:
    assert found(OTHER) == []


@pytest.mark.parametrize(
    ("kind", "what", "planted"),
    [
        ("page", "https://w/Bridge", {"pages": {"https://w/Bridge": "of-instruct"}}),
        ("image", "a", {"images": {"a": "of-instruct"}}),
    ],
)
def test_a_page_or_an_image_is_found_with_the_items(
    kind: str, what: str, planted: dict[str, dict[str, str]]
) -> None:
    of = dataclasses.replace(OTHER, **planted)  # type: ignore[arg-type]
    (one,) = found(of)
    assert one == (kind, what, "bench", "of-bench", "instruct", "of-instruct")


def test_an_image_that_looks_like_one_is_found() -> None:
    (one,) = found(OTHER, b="a")
    assert (one.kind, one.what, one.item, one.of) == (
        "near_duplicate",
        "a",
        "of-bench",
        "of-instruct",
    )


def test_an_answer_is_found_in_a_longer_one_and_in_other_letters() -> None:
    text = f"Look closely. {ANSWER.upper().replace(',', ' -')} It was opened by the mayor."
    (one,) = found(release("instruct", "Describe it.", text))
    assert (one.kind, one.what) == (
        "answer",
        "the suspension bridge on the left has two towers of grey granite which",
    )


def test_a_phrase_is_no_answer() -> None:
    # The first 14 of its 29 words: 2 of 17 runs.
    phrase = " ".join(ANSWER.split()[:14])
    assert found(release("instruct", "Describe it.", f"{phrase} and one is red.")) == []


def test_a_short_answer_counts_from_five_words_on() -> None:
    long = release("bench", "Where?", "On the old town's market square")
    assert [
        one.kind
        for one in found(release("instruct", "Why?", "on the old town s market square"), long)
    ] == ["answer"]
    short = release("bench", "Which colour?", "Bright red.")
    assert found(release("instruct", "What is bright?", "Bright red."), short) == []


@pytest.mark.parametrize(
    ("question", "answer", "kind"),
    [
        # The places of pictures are no part of a question.
        (QUESTION.replace("1", "2"), ANSWER, "question"),
        (QUESTION, "", "question"),
        (QUESTION, "The one on the right.", "form_of_words"),
    ],
)
def test_a_question_counts_with_its_answer_and_is_a_form_of_words_with_another(
    question: str, answer: str, kind: str
) -> None:
    kinds = [one.kind for one in found(release("instruct", question, answer))]
    assert kinds == (["answer", kind] if answer == ANSWER else [kind])


def test_one_of_several_answers_is_enough() -> None:
    (asked,) = TESTED.asked
    several = asked._replace(answers=(*asked.answers, words("A dam.")))
    both = found(release("instruct", QUESTION, ANSWER), replace(TESTED, asked=[several]))
    assert [one.kind for one in both] == ["answer", "question"]


def test_the_right_choice_is_the_answer_of_a_question_with_choices() -> None:
    rows = {
        "images": [],
        "turns": [{"item_id": "m", "turn": 1, "question": "Which bridge is it?", "given": None}],
        "choices": [
            {"item_id": "m", "position": 1, "choice": "the Old Bridge"},
            {"item_id": "m", "position": 2, "choice": "Tarn Bridge"},
        ],
        "references": [{"item_id": "m", "turn": 1, "kind": "key", "reference": "B"}],
    }
    benchmark = content_of("bench", rows)
    assert benchmark.asked == [Asked("m", ("which", "bridge", "is", "it"), (("tarn", "bridge"),))]
    same = release("instruct", "Which bridge is it?", "It is Tarn Bridge, seen from the west.")
    assert [one.kind for one in found(same, benchmark)] == ["question"]
    other = release("instruct", "Which bridge is it?", "It is the Old Bridge.")
    assert [one.kind for one in found(other, benchmark)] == ["form_of_words"]


def test_chinese_is_compared_by_characters() -> None:
    assert words("图1: <ImageHere>哪座桥?") == ("图", "1", "哪", "座", "桥")
    text = "左边的悬索桥有两座灰色花岗岩桥塔承载四根主缆"
    (one,) = found(release("instruct", "说说", text + "。"), release("bench", "描述", text))
    assert one.kind == "answer"


TEXTS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40).map(" ".join)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_what_is_planted_whole_is_found_whatever_stands_around_it(
    question: str, answer: str, before: str, after: str
) -> None:
    benchmark = release("bench", question, answer)
    kinds = Counter(one.kind for one in found(release("instruct", question, answer), benchmark))
    assert kinds["question"] == 1
    if len(answer.split()) >= 13:
        around = release("instruct", "so", f"{before} {answer} {after}")
        assert "answer" in {one.kind for one in found(around, benchmark)}
