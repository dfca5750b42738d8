"""Questions that repeat the prompt or name what is shown are rejected; others are not."""

import pytest

from methods.mmdu.reading import ON_ONE, ON_SEVERAL
from methods.prompts.parsing import ParseError
from methods.quality.echoes import (
    named_subject,
    repeated_sentence,
    require_own_questions,
    sentences_of,
)
from resources.mock_server.dialogue_texts import SEVERAL, SINGLE
from resources.settings.prompts import prompt

ANGLES = [angle.says for angle in (*ON_ONE, *ON_SEVERAL)]
TOLD = [*sentences_of(prompt("mmdu/questions").text), *ANGLES]


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("form", ["{}", "{}?", "In <image-1>, {}?", "Describe {} in <image-2>."])
def test_an_angle_is_no_question(angle, form):
    assert repeated_sentence(form.format(angle), ANGLES)


@pytest.mark.parametrize(
    "question",
    [
        "What is shown in the picture, from the foreground to the background?",
        "What do the pictures share?",
        "Which picture fits least with the others, and why?",
        "Nobody can answer without looking.",
        "Every question is open: it calls for a description, a comparison or an explanation.",
    ],
)
def test_nor_is_any_sentence_of_the_prompt_in_another_order_of_words(question):
    assert repeated_sentence(question, TOLD)


@pytest.mark.parametrize(
    "question",
    [
        "What are the colours of the sails in <image-1>?",
        "What mood do the bare trees give the picture?",
        "How is the row of windows arranged?",
        "Why do the pictures share a low horizon?",
        "What would change if the boat were removed?",
        "图中的人在做什么？",
        *(template.format("<image-1>") for template in SINGLE),
        *(template.format("<image-1> and <image-2>") for template in SEVERAL),
    ],
)
def test_a_question_with_a_word_of_its_own_is_one(question):
    assert repeated_sentence(question, TOLD) is None


@pytest.mark.parametrize(
    ("question", "title", "name"),
    [
        ("What makes the Eiffel Tower look light?", "Eiffel Tower", "Eiffel"),
        ("When was the eiffel tower built?", "Eiffel Tower", "Eiffel Tower"),
        ("What colour is the common kingfisher?", "Common kingfisher", "Common kingfisher"),
        ("How did Ember rise above the lake?", "Ember Drift (balloon)", "Ember"),
        ("Ember drift: how was it made?", "Ember Drift (balloon)", "Ember Drift"),
        ("赵州桥是什么材料做的？", "赵州桥", "赵州桥"),
        ("What is the bridge made of?", "Bridge", None),
        ("What colour is the tower?", "Eiffel Tower", None),
        ("Which balloon is the larger one?", "Ember Drift (balloon)", None),
        ("How are the arches of <image-1> arranged?", "Image", None),
        ("桥是什么材料做的？", "赵州桥", None),
    ],
)
def test_a_name_from_the_title_is_given_away(question, title, name):
    assert named_subject(question, ["Lake", title]) == name


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("The mood, and what in the picture makes it?", "repeats_prompt"),
        ("How tall is the Eiffel Tower?", "names_subject"),
    ],
)
def test_the_reason_names_the_question(question, reason):
    with pytest.raises(ParseError, match="^Q2 ") as caught:
        require_own_questions(["Where is the red boat?", question], TOLD, ["Eiffel Tower"])
    assert caught.value.reason == reason
