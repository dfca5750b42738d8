"""What is read of questions and answers: the text alone, pictures named in one way; their angles."""

from collections import Counter
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu import reading
from methods.prompts.parsing import ParseError
from tests.methods.refusals import reason_of


@pytest.mark.parametrize(
    "reply",
    [
        "Red.\n",
        "**A1**: Red.",
        "### A1:\nRed.",
        "Answer 1: Red.",
        "```markdown\n**Answer:** Red.\n```\n",
        "Red.\n\n---\nI hope this helps! Let me know if you need more.",
        pytest.param("Red." + "\n---" * 30_000, id="rules"),
    ],
)
def test_an_answer_is_read_whatever_stands_around_it(reply: str) -> None:
    assert reading.read_answer(reply, 2, 1) == "Red."


def test_questions_and_answers_are_asked_for_again_with_the_reason() -> None:
    reply = "### Q1: What links image 1 and the second picture?"
    assert reading.read_questions(reply, 1, 2) == ["What links <image-1> and <image-2>?"]
    for refused, reason in (('{"Q1": "Red \\ud83d"}', "not_unicode"), ("?", "wrong_numbering")):
        assert reason_of(reading.read_questions, refused, 1, 2) == reason
    assert reading.read_answer("A1: Very dark red.", 2, 3) == "Very dark red."
    for refused, sentence in (
        ("A1: Dark red.", "has 2 words and needs 3 at least"),
        ("A1: See <image-3>.", "names <image-3>: there is <image-1> to <image-2>."),
    ):
        with pytest.raises(ParseError, match=sentence):
            reading.read_answer(refused, 2, 3)


def test_offers_of_help_at_the_end_go_and_what_only_looks_like_one_stays() -> None:
    for offer in (
        "If you'd like, I am happy to compare them further.",
        "Would you like me to describe the background?",
        "Don't hesitate to ask for more.",
        "I hope this helps! Feel free to ask more. Let me know!",
        "---\nLet me know if you need more.",
    ):
        assert reading.without_additions(f"The mill is red.\n\n{offer}") == "The mill is red."
        assert reading.without_additions(f"The mill is red. {offer}") == "The mill is red."
    stay = [
        "If you look closely, the sails are torn.",
        "The sign says: Let me know. It hangs over the door.",
        "Let me know, says the note on the fridge.",
        "A visitor thinks: “A mill. I hope this helps.”",
        "A: The left part is red. B: The right part is blue.",
        # In the middle, where it may be a quotation.
        "The note reads: Feel free to ask. Below it is a number.",
    ]
    assert [*map(reading.without_additions, stay)] == stay


def test_offers_that_a_model_repeats_are_searched_a_limited_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pattern = Mock(wraps=reading._OFFER)
    monkeypatch.setattr(reading, "_OFFER", pattern)
    assert reading.without_additions("A mill." + " Let me know!\n\n---\n" * 9) == "A mill."
    pattern.reset_mock()
    assert reading.without_additions("A mill." + " Let me know!\n" * 100).startswith("A mill.")
    assert pattern.search.call_count <= 20


def test_every_way_to_name_a_picture_that_was_shown_becomes_one() -> None:
    expected = {
        "Image 1 is darker than image 2.": "<image-1> is darker than <image-2>.",
        "In the first picture and the 2nd photo": "In <image-1> and <image-2>",
        "Picture #2, image no. 1, Image number 2": "<image-2>, <image-1>, <image-2>",
        "<Image 1> and [image_2] and (Picture 1)": "<image-1> and <image-2> and <image-1>",
        "Both images, each picture": "Both images, each picture",
        "the first image of Mars ever taken": "the first image of Mars ever taken",
        "the third picture": "the third picture",
        "image 1990": "image 1990",
        "at first, picture a mill": "at first, picture a mill",
    }
    assert {text: reading.with_references(text, 2) for text in expected} == expected


def test_what_cannot_stand_in_a_dialogue_is_refused_when_it_is_read() -> None:
    expected = {
        "See <image-3>.": "unknown_image",
        "See [image-" + "9" * 5000 + "].": "unknown_image",
        "<ImageHere>": "forged_image",
        "I hope this helps!": "empty_block",
        "Red.": "short_answer",
        "**Answer:**": "empty_block",
    }
    assert {reply: reason_of(reading.read_answer, reply, 2, 2) for reply in expected} == expected


@given(st.integers(0, 60), st.integers(), st.text())
def test_no_angle_comes_again_before_all_have_come(n: int, seed: int, of: str) -> None:
    taken = reading.assign_angles(reading.ON_SEVERAL, n, seed, of)
    assert len(taken) == n
    counts = Counter(angle.name for angle in taken)
    assert not counts or max(counts.values()) <= -(-n // len(reading.ON_SEVERAL))
    assert taken == reading.assign_angles(reading.ON_SEVERAL, n, seed, of)
    others = (reading.assign_angles(reading.ON_SEVERAL, 1, other, of)[0] for other in range(30))
    assert len({angle.name for angle in others}) > 1
    topics = (reading.assign_angles(reading.ON_SEVERAL, 1, seed, f"{of} {k}")[0] for k in range(30))
    assert len({angle.name for angle in topics}) > 1
    # More questions keep the angles of the first ones.
    assert reading.assign_angles(reading.ON_SEVERAL, n + 1, seed, of)[:n] == taken
