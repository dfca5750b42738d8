"""Faults to plant: texts in the place of clean ones, and the checks that are to find each.

What belongs here: one fault a line, of every kind and in several forms, those among them that no rule
here finds. Where they are planted is `planted.py`.
"""

from collections.abc import Callable
from typing import NamedTuple

from methods.quality.checks import (
    LANGUAGE,
    LEAK,
    LEFTOVER,
    LENGTH,
    MATERIAL,
    PERSONAL_DATA,
    REFUSAL,
    TRUNCATION,
)


class Fault(NamedTuple):
    """A text in the place of another: what is changed and how, and the checks that are to find it."""

    of: tuple[str, ...]
    where: str
    change: Callable[[str], str]


def _set(text: str) -> Callable[[str], str]:
    return lambda before: text


def _before(text: str) -> Callable[[str], str]:
    return lambda before: text + before


def _after(text: str) -> Callable[[str], str]:
    return lambda before: before + text


def _cut(words: int) -> Callable[[str], str]:
    return lambda before: " ".join(before.split()[:words])


def _of(checks: str | tuple[str, ...], where: str, *changes: Callable[[str], str]) -> list[Fault]:
    of = (checks,) if isinstance(checks, str) else checks
    return [Fault(of, where, change) for change in changes]


FAULTS: list[Fault] = [
    *_of(
        REFUSAL,
        "answer",
        _set("I'm sorry, but I can't help with identifying what is in these images."),
        _set("I apologize, but I cannot answer questions about these images."),
        _set("Unfortunately, I am unable to describe this picture."),
        _set("It seems that no image was attached. Please upload the image and ask again."),
        _set("I don't see any image in our conversation, so there is nothing to describe here."),
        _set("I would rather not comment on this picture, thank you."),
        _set("Unfortunately, no picture came through on my end, so please try again."),
        _set("Sorry, but that's not something I can help with."),
        _set("It would not be appropriate for me to comment on this picture."),
        _set("The attachment seems to be missing, so there is nothing to compare yet."),
        _set("This request goes against my guidelines, I am afraid."),
    ),
    *_of(
        (REFUSAL, LANGUAGE),
        "answer",
        _set("抱歉，我无法回答这个问题，请换一个问题。"),
        _set("申し訳ありませんが、この画像については回答できません。"),
        _set("죄송하지만 이 이미지에 대해서는 답변할 수 없습니다."),
        _set("Es tut mir leid, aber ich kann das Bild nicht beschreiben und nicht beurteilen."),
        _set("Je suis désolé, mais je ne peux pas répondre à cette question sur les images."),
        _set("Lo siento, pero no puedo responder a esa pregunta en este momento con las imágenes."),
        _set("Desculpe, mas não posso responder a essa pergunta sobre as imagens que não vejo."),
        _set("Извините, но я не могу ответить на этот вопрос."),
        _set("عذرا، لا أستطيع الإجابة عن هذا السؤال."),
    ),
    *_of(
        (REFUSAL, LEFTOVER),
        "answer",
        _set(
            "<think>The user wants a description.</think>I'm sorry, but I can't assist with that."
        ),
        _set("As an AI language model, I cannot view pictures, so no description is possible."),
        _set("As a text-based AI, I don't have the capability to see pictures."),
    ),
    *_of(
        (LEFTOVER, TRUNCATION),
        "answer",
        _before("```\n"),
    ),
    *_of(
        (MATERIAL, LANGUAGE),
        "question",
        _set("根据上述资料，哪一座更古老？Which one is older, as far as one can see?"),
    ),
    *_of(
        (LEAK, LANGUAGE),
        "question",
        _set(
            "雪地里的一座红色四叶塔式风车有什么特点？ Which features does it have, would you say?"
        ),
    ),
    *_of(TRUNCATION, "answer", *(_cut(n) for n in (13, 17, 21, 26, 30, 34))),
    *_of(
        TRUNCATION,
        "answer",
        _after(" It also shows that the"),
        _after(" There are two things to note:"),
        _after(" The first of them (on the left"),
        _after("\n\n```python\nprint("),
        _set("Three things stand out:\n1. A mill.\n2. A barn.\n3."),
        _after(" The second is harder to make out, although"),
    ),
    *_of(
        TRUNCATION,
        "question",
        _set("Which of the two pictures shows the"),
        _set("Why is it so dark, and"),
        _set("Which of the two towers is the taller one, and what does the"),
        _set("How many of the boats in <image-1> are"),
    ),
    *_of(
        LENGTH,
        "answer",
        _set("Red."),
        _set("A mill."),
        _set("Yes, it is."),
        lambda before: " ".join([before] * 40),
    ),
    *_of(LENGTH, "question", _set("Why?"), _set("And then?")),
    *_of(
        LANGUAGE,
        "answer",
        _set(
            "Auf dem Bild ist eine Windmühle zu sehen, die auf einem Feld steht und sich nicht dreht."
        ),
        _set(
            "La photo montre un moulin dans la neige, et les ailes du moulin sont rouges avec du blanc."
        ),
        _set("La imagen muestra un molino en la nieve y las aspas del molino son de color rojo."),
        _set(
            "L'immagine mostra un mulino nella neve che è di colore rosso e le pale sono con il bianco."
        ),
        _set(
            "De foto toont een molen die in de sneeuw staat en niet draait, met een rode kap van hout."
        ),
        _set("图片中有一座红色的风车，立在雪地里，天空是灰色的。"),
        _set("写真には雪の中に立つ赤い風車が写っています。"),
        _set("На снимке видна красная мельница, стоящая в снегу."),
        _set(
            "The picture shows a mill. 风车立在雪地里，天空是灰色的，远处有几棵树，地面全是白色。"
        ),
        _set("Molen, sneeuw, rood, hoog, oud, stil, koud."),
    ),
    *_of(
        LANGUAGE,
        "question",
        _set("Welche Farben hat das Bild und wie sind die auf dem Feld verteilt?"),
        _set("Wie heißt das Wort auf dem Schild?"),
        _set("Was sieht man hier links?"),
        _set("¿Qué color tiene la casa?"),
        _set("Combien de bateaux voit-on ?"),
    ),
    *_of(
        LEFTOVER,
        "answer",
        _before("### A1: "),
        _before("**A2**: "),
        _before("Answer: "),
        _before("A3. Answer 3: "),
        _before("<think>Colours first.</think>"),
        _before("Assistant: "),
        _before("答案1："),
        _after("<|im_end|>"),
        _after(" [INST] Next question. [/INST]"),
        _after("\n\nLet me know if you would like more details!"),
        _after(" I hope this helps!"),
        _after(" [insert name of the place]"),
        _before('{"A1": "'),
        _before("Sure! Here is my description of it. "),
        _before("Certainly! As for what can be seen: "),
        _before("Sure, here is the comparison. "),
        _before("Great question! "),
        _after(" Feel free to ask about the background."),
    ),
    *_of(LEFTOVER, "question", _before("Q1: "), _before("Question 2: "), _before("## Q3 ")),
    *_of(
        MATERIAL,
        "answer",
        _before("According to the caption, it is old. "),
        _after(" The background notes say the same."),
        _before("As stated in the article, it is old. "),
        _after(" This is mentioned in the provided description."),
        _after(" The summary of the second picture agrees."),
        _before("From what I was told about it, it is old. "),
    ),
    *_of(
        MATERIAL,
        "question",
        _set("What does the caption of <image-1> not mention?"),
        _set("Based on the given text, which of the two mills is older?"),
        _set("What does the article say about the mill?"),
        _set("Given the provided text, why is it red?"),
    ),
    *_of(
        LEAK,
        "question",
        _set("How does Frostholm look in winter in <image-1>?"),
        _set("Why did the builders wait until 1872 to build what <image-1> shows?"),
        _set("What makes the red windmill with four sails in <image-1> stand out?"),
        _set("Is this where brick was carried over the ice by sledge in the far past of the mill?"),
        _set("Which features of the building did Brennick choose, judging by <image-1>?"),
        _set("Why was it one of the few that worked through the winter?"),
        _set("How does the northern tower windmill cope with frost?"),
    ),
    *_of(
        PERSONAL_DATA,
        "answer",
        _after(" Write to anna.schmidt@example.com for more."),
        _after(" Write to jane.doe [at] example [dot] com for more."),
        _after(" The owner's number is +49 30 1234567."),
        _after(" Call (555) 123-4567 to book it."),
        _after(" Pay to DE89 3704 0044 0532 0130 00 first."),
        _after(" The card 4111 1111 1111 1111 is on the table."),
        _after(" 联系电话 13812345678。"),
        _after(" The owner lives at 12 Mill Lane."),
    ),
]
"""Every fault; each is planted into a pair of its own."""
