"""Answers that decline one part and speak of the pictures, and refusals that speak of the asking."""

import pytest

from methods.evaluation.english_refusals import is_refusal
from methods.quality.multilingual_refusals import refusal_in

BOTH_ANSWER = [
    "I cannot say which year it is, yet the tram suggests the 1920s.",
    "I cannot name the species; still, the bill is red and curved.",
    "I can't name the exact year; from the clothes one would guess the 1930s.",
    # What goes beyond a picture.
    "The tower goes beyond what I can see in the frame.",
]
BOTH_REFUSE = [
    "This is more than I can do for you.",
    # What goes beyond the speaker.
    "Naming the man in this photo goes beyond what I can do for you.",
]
ANSWERS = [
    # What the picture does not show is an answer, and so is what somebody in it says.
    "I cannot see any people here.",
    "There is no picture on the wall.",
    'He says "Sorry, I can\'t help you".',
    "It is not appropriate to eat here, since it is a church.",
    # A long text that mentions an absent picture is an answer.
    "There is no picture here of the door. " + "The wall is red and old. " * 12,
    # A part follows that is about the scene.
    "I am not comfortable naming the bird from this angle. Its bill is red and curved.",
    "I can't say who won: both riders cross the line together.",
    # So it does in other languages.
    "No puedo identificar la especie exacta, aunque el pico es rojo y curvo.",
    "Malheureusement, je ne vois que le dos du cavalier, qui porte un manteau rouge.",
    "Non posso identificare la specie esatta, anche se il becco è rosso e curvo.",
    "Não posso identificar a espécie exata, embora o bico seja vermelho e curvo.",
    "Leider kann man das Schild nicht lesen, die Farben Rot und Gelb sind deutlich.",
    "К сожалению, не могу назвать точный год, хотя трамвай похож на модель двадцатых годов.",
    "无法看到太阳，因为云层很厚，整个天空呈灰色。",
    "不能提供座位，因为长椅已经坏了。",
    "正確な年代は判断できませんが、服装から大正時代と思われます。",
    "간판의 글자는 확인할 수 없습니다. 나뭇가지에 가려져 있습니다.",
    # Words of refusals that are about the scene.
    "I can't help smiling at the dog in <image-1>: it wears a hat.",
    "There are no pictures to look at in the hall of <image-2>, only bare walls.",
    "Let's talk about another detail in <image-1>: the red door.",
    # What a sign says.
    "The sign reads Please upload your photo here, in blue.",
    "墙上的告示写着：请提供照片两张，旁边是一扇门。",
    # A line that somebody speaks.
    "\"I'm sorry, Dave. I'm afraid I can't do that.\"",
    "“Sorry, I can't let you in after sunset.”",
]
REFUSALS = [
    "No image was provided.",
    # An offer, an apology or a reason of a model answers nothing.
    "I'm sorry, I can't help with that. Please consult a professional.",
    "I can't assist with identifying people. That could violate someone's privacy.",
    "I can't see images. As a text-based model I only work with words.",
    "我无法回答这个问题。如果您有其他问题，请告诉我。",
    "申し訳ありませんが、この質問には回答できません。他の質問があればお知らせください。",
    "Leider kann ich dabei nicht helfen, aber ich beantworte gern andere Fragen.",
    "No puedo responder a esa pregunta, pero puedo describir la escena.",
    # Words that are about the asking.
    "It violates the content policy.",
    "That lies beyond my abilities.",
    "Let's talk about a different topic.",
    "As an AI, I CANNOT help with that request.",
    # A line that the writer speaks.
    "\"I'm sorry, but I can't assist with that request.\"",
]


@pytest.mark.parametrize("answer", [*BOTH_ANSWER, *ANSWERS])
def test_what_speaks_of_the_pictures_is_an_answer(answer: str) -> None:
    assert refusal_in(answer) is None
    assert answer in ANSWERS or not is_refusal(answer)


@pytest.mark.parametrize("answer", [*BOTH_REFUSE, *REFUSALS])
def test_what_speaks_of_the_asking_declines(answer: str) -> None:
    assert refusal_in(answer) is not None
    assert answer in REFUSALS or is_refusal(answer)


def test_the_beginning_without_the_reasoning_is_the_evidence() -> None:
    said = "Sorry, I can't help with that."
    assert refusal_in(f"<think>Hard.</think>{said}") == said
