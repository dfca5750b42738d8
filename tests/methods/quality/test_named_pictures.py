"""Questions that repeat the prompt, and texts that name what is shown or a missing picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.translation_checks import ORDINALS
from methods.mmdu.reading import ON_ONE, ON_SEVERAL
from methods.prompts.parsing import ParseError
from methods.quality import echoes
from methods.quality.named_pictures import MOST_NAMED, missing_picture
from methods.quality.outcome import DialogueContent, QuestionAnswerPair
from methods.quality.rules import RuleLimits, by_rules
from resources.mock_server.dialogue_texts import SEVERAL, SINGLE
from resources.settings.prompts import prompt


@pytest.mark.parametrize(
    ("text", "n_pictures", "named"),
    [
        ("Compare <image-1> with <image-4>.", 3, "<image-4>"),
        ("What does the third picture show?", 2, "third picture"),
        ("In the 12th photo a man waves.", 9, "12th photo"),
        ("Image #3 shows a mill.", 2, "Image #3"),
        ("Who waves in picture two?", 1, "picture two"),
        ("What do the two photographs share?", 1, "the two photographs"),
        ("Both pictures show snow.", 1, "Both pictures"),
        ("The other photo is darker.", 1, "The other photo"),
    ],
)
def test_a_picture_beyond_those_of_the_dialogue_is_named(text, n_pictures, named):
    assert missing_picture(text, n_pictures) == named
    assert missing_picture(text, 0) is None


@pytest.mark.parametrize(
    "text",
    [
        "In this picture two men walk, and in the picture 3 people stand.",
        "It was her second picture, and Murnau's third picture followed.",
        "The third picture that he painted hangs in Delft.",
        "What does the fourth picture of the series tell?",
        "The label says 'Picture 7'.",
        "The other painting in the room is smaller.",
        "A photo 2 metres wide hangs there; the picture 20% darker.",
    ],
)
def test_what_is_named_otherwise_is_another_picture(text: str) -> None:
    assert missing_picture(text, 1) is None


@given(st.integers(1, len(ORDINALS)), st.integers(1, MOST_NAMED))
def test_a_picture_is_missing_exactly_if_there_are_fewer(place: int, n_pictures: int) -> None:
    for text in (f"The {ORDINALS[place - 1]} picture is red.", f"See image {place}."):
        assert (missing_picture(text, n_pictures) is not None) == (place > n_pictures)


def test_it_is_talk_of_what_no_reader_is_shown_in_either_text() -> None:
    texts = [
        ("What does the third picture show?", "It shows a mill in the snow."),
        ("What is the sky like?", "It is as grey as in the other picture."),
    ]
    pairs = [QuestionAnswerPair("d", str(n), n, *pair) for n, pair in enumerate(texts, 1)]

    def material(n_pictures: int) -> list[str | None]:
        found = by_rules([DialogueContent("d", pairs, [], n_pictures)], RuleLimits())
        return [each["material"] for each in found.values()]

    assert material(1) == ["question: third picture", "answer: the other picture"]
    assert material(3) == [None, None]


ANGLES = [angle.says for angle in (*ON_ONE, *ON_SEVERAL)]
TOLD = [*echoes.sentences_of(prompt("mmdu/questions").text), *ANGLES]


@pytest.mark.parametrize("angle", ANGLES)
def test_an_angle_is_no_question(angle):
    for form in ("{}", "In <image-1>, {}?", "Describe {} in <image-2>."):
        assert echoes.repeated_sentence(form.format(angle), ANGLES)


REORDERED = [
    "What is shown in the picture, from the foreground to the background?",
    "Which picture fits least with the others, and why?",
    "Every question is open: it calls for a description, a comparison or an explanation.",
]


@pytest.mark.parametrize(
    "question",
    [
        *REORDERED,
        "What are the colours of the sails in <image-1>?",
        "How is the row of windows arranged?",
        "Why do the pictures share a low horizon?",
        "图中的人在做什么？",
        *(template.format("<image-1>") for template in SINGLE),
        *(template.format("<image-1> and <image-2>") for template in SEVERAL),
    ],
)
def test_a_question_has_a_word_that_is_in_no_sentence_of_the_prompt(question):
    assert (echoes.repeated_sentence(question, TOLD) is not None) == (question in REORDERED)


@pytest.mark.parametrize(
    ("question", "title", "name"),
    [
        ("What makes the Eiffel Tower look light?", "Eiffel Tower", "Eiffel"),
        ("When was the eiffel tower built?", "Eiffel Tower", "Eiffel Tower"),
        ("How did Ember rise above the lake?", "Ember Drift (balloon)", "Ember"),
        ("Ember drift: how was it made?", "Ember Drift (balloon)", "Ember Drift"),
        ("赵州桥是什么材料做的？", "赵州桥", "赵州桥"),
        ("What is the bridge made of?", "Bridge", None),
        ("What colour is the tower?", "Eiffel Tower", None),
        ("How are the arches of <image-1> arranged?", "Image", None),
        ("桥是什么材料做的？", "赵州桥", None),
    ],
)
def test_a_name_from_the_title_is_given_away(question, title, name):
    assert echoes.named_subject(question, ["Lake", title]) == name


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("The mood, and what in the picture makes it?", "repeats_prompt"),
        ("How tall is the Eiffel Tower?", "names_subject"),
    ],
)
def test_the_reason_names_the_question(question, reason):
    with pytest.raises(ParseError, match="^Q2 ") as caught:
        echoes.require_own_questions(["Where is the red boat?", question], TOLD, ["Eiffel Tower"])
    assert caught.value.reason == reason
