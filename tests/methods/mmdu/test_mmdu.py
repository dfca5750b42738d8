"""MMDU before a model and before its judge."""

import inspect
import json

import pytest

from methods.evaluation.benchmark import Item, Turn
from methods.mmdu import Mmdu
from methods.mmdu.judging import DIMENSIONS, OVERALL
from methods.prompts.messages import Image, Message, Text
from methods.prompts.parsing import ParseError
from methods.prompts.template import PromptTemplate

MMDU = Mmdu()
ITEM = Item(
    "item",
    (
        Turn(1, "Image1: <ImageHere>. What is in <image-1>?", "A mill.", (1,)),
        Turn(2, "Image2: <ImageHere>, Image3: <ImageHere>. Compare.", "Both are red.", (2, 3)),
        Turn(3, "Which is oldest?", "<image-2>.", ()),
    ),
    ("sha-a", "sha-b", "sha-c"),
)
JUDGE = PromptTemplate(
    "mmdu/judge",
    "Grade.\n=== user ===\n{% for i in range(1, n_images + 1) %}{{ picture(i) }}{% endfor %}\n"
    "Q {{ question | data }}\nR {{ reference | data }}\nA {{ answer | data }}\n",
)


def images_of(messages) -> list[str]:
    return [p.image_id for message in messages for p in message.parts if isinstance(p, Image)]


def words_of(messages) -> str:
    return "\n".join(p.text for message in messages for p in message.parts if isinstance(p, Text))


# --- Before a model ------------------------------------------------------------------------------


def test_the_first_turn_is_the_question_with_its_image_and_nothing_else():
    assert MMDU.messages(ITEM, 1, []) == (
        Message("user", (Text("Image1: "), Image("sha-a"), Text(". What is in <image-1>?"))),
    )


def test_the_third_turn_is_the_whole_dialogue_with_images_at_their_turns():
    assert MMDU.messages(ITEM, 3, ["A tower.", "No idea."]) == (
        Message("user", (Text("Image1: "), Image("sha-a"), Text(". What is in <image-1>?"))),
        Message.of("assistant", "A tower."),
        Message(
            "user",
            (
                Text("Image2: "),
                Image("sha-b"),
                Text(", Image3: "),
                Image("sha-c"),
                Text(". Compare."),
            ),
        ),
        Message.of("assistant", "No idea."),
        Message.of("user", "Which is oldest?"),
    )


@pytest.mark.parametrize(
    ("turn", "shown"), [(1, ["sha-a"]), (2, ["sha-a", "sha-b", "sha-c"]), (3, list(ITEM.image_ids))]
)
def test_an_image_is_there_from_its_turn_on_and_not_before(turn, shown):
    assert images_of(MMDU.messages(ITEM, turn, ["x", "y"][: turn - 1])) == shown


def test_each_model_sees_its_own_answers_and_never_the_reference():
    careful = words_of(MMDU.messages(ITEM, 3, ["A tall mill.", "Red, both."]))
    careless = words_of(MMDU.messages(ITEM, 3, ["A cat.", "Blue."]))
    assert "A tall mill." in careful and "A cat." not in careful
    assert "A cat." in careless and "A tall mill." not in careless
    for words in (careful, careless):
        assert not any(turn.reference in words for turn in ITEM.turns)


def test_a_later_answer_is_not_seen_at_an_earlier_turn():
    assert "Later." not in words_of(MMDU.messages(ITEM, 2, ["First.", "Later."]))


def test_what_a_model_writes_is_text_even_when_it_looks_like_an_image():
    messages = MMDU.messages(ITEM, 2, ["See <ImageHere>."])
    assert messages[1] == Message.of("assistant", "See <ImageHere>.")
    assert images_of(messages) == list(ITEM.image_ids)


def test_a_history_with_a_turn_missing_is_never_sent():
    with pytest.raises(IndexError):
        MMDU.messages(ITEM, 3, ["Only one."])


# --- Before the judge ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turn", "shown"), [(1, ["sha-a"]), (2, ["sha-a", "sha-b", "sha-c"]), (3, list(ITEM.image_ids))]
)
def test_the_judge_sees_the_images_shown_so_far_and_no_later_one(turn, shown):
    assert images_of(MMDU.judge_messages(ITEM, turn, "x", JUDGE)) == shown


def test_the_judge_reads_the_turns_question_its_reference_and_the_answer():
    system, user = MMDU.judge_messages(ITEM, 2, "Both are tall.", JUDGE)
    assert (system.role, user.role) == ("system", "user")
    assert words_of([user]) == (
        "Q Image2: <ImageHere>, Image3: <ImageHere>. Compare.\nR Both are red.\nA Both are tall."
    )


def test_the_judge_reads_no_other_turn():
    words = words_of(MMDU.judge_messages(ITEM, 2, "Both are tall.", JUDGE))
    assert "What is in" not in words and "A mill." not in words and "oldest" not in words


def test_nothing_the_judge_is_sent_can_hold_a_models_name():
    # No name goes in: what is asked, what was answered and the prompt are all there is.
    assert list(inspect.signature(MMDU.judge_messages).parameters) == [
        "item",
        "turn",
        "answer",
        "prompt",
    ]
    fields = set(vars(ITEM)) | set(vars(ITEM.turns[0]))
    assert fields == {
        "item_id",
        "turns",
        "image_ids",
        "turn",
        "question",
        "reference",
        "image_positions",
    }


# --- What the judge says -------------------------------------------------------------------------


def test_a_judgment_has_all_dimensions_and_the_overall_score_sums_it_up():
    # Neither the best (9) nor the worst (2) nor the mean of the others: what the judge said.
    scores = {dimension: 5 for dimension in DIMENSIONS}
    scores |= {"Creativity": 9, "Richness": 2, OVERALL: 7}
    judgment = MMDU.parse_judgment("Sound.\n" + json.dumps(scores))
    assert judgment.scores == scores
    assert (judgment.score, judgment.explanation) == (7, "Sound.")
    assert set(judgment.scores) == set(MMDU.dimensions)


def test_a_reply_that_cannot_be_read_is_a_parse_error():
    with pytest.raises(ParseError, match="no dictionary"):
        MMDU.parse_judgment("Nine out of ten.")


def test_the_summing_up_dimension_stands_last_and_scores_are_shown_out_of_a_hundred():
    # A dimension's score is its mean over turns x 10 (MMDU, 2.3).
    assert MMDU.dimensions[-1] == OVERALL
    assert MMDU.scale == 10
