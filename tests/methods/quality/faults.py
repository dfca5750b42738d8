"""Faults to plant: texts in the place of clean ones, and the checks that are to find each."""

from collections.abc import Callable
from typing import NamedTuple

from methods.quality.outcome import (
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


def _before(text: str) -> Callable[[str], str]:
    return lambda before: text + before


def _after(text: str) -> Callable[[str], str]:
    return lambda before: before + text


def _cut(words: int) -> Callable[[str], str]:
    return lambda before: " ".join(before.split()[:words])


def _of(checks, where: str, *changes: str | Callable[[str], str]) -> list[Fault]:
    """Faults of one check or of several; a text stands in the place of the other."""
    of = (checks,) if isinstance(checks, str) else checks
    return [
        Fault(of, where, (lambda before, text=each: text) if isinstance(each, str) else each)
        for each in changes
    ]


FAULTS: list[Fault] = [
    *_of(
        REFUSAL,
        "answer",
        "I'm sorry, but I can't help with identifying what is in these images.",
        "It seems that no image was attached. Please upload the image and ask again.",
        "I don't see any image in our conversation, so there is nothing to describe here.",
        "Sorry, but that's not something I can help with.",
        "This request goes against my guidelines, I am afraid.",
        "That question lies outside of what I am able to answer.",
        "I have to pass on this one, sorry.",
        "Could you share the picture again? I received only your text.",
        "I don't feel comfortable guessing the woman's age.",
        "Such a request is against our policy.",
        "It is not my place to comment on somebody's looks.",
        "I will have to skip this question.",
        "I do not have eyes, so describing this is impossible for me.",
    ),
    *_of(
        (REFUSAL, LANGUAGE),
        "answer",
        "抱歉，我无法回答这个问题，请换一个问题。",
        "申し訳ありませんが、この画像については回答できません。",
        "죄송하지만 이 이미지에 대해서는 답변할 수 없습니다.",
        "Es tut mir leid, aber ich kann das Bild nicht beschreiben und nicht beurteilen.",
        "Je suis désolé, mais je ne peux pas répondre à cette question sur les images.",
        "Lo siento, pero no puedo responder a esa pregunta en este momento con las imágenes.",
        "Desculpe, mas não posso responder a essa pergunta sobre as imagens que não vejo.",
        "Извините, но я не могу ответить на этот вопрос.",
        "عذرا، لا أستطيع الإجابة عن هذا السؤال.",
        "照片好像没有上传成功，请重新发送。",
    ),
    *_of(
        (REFUSAL, LEFTOVER),
        "answer",
        "<think>The user wants a description.</think>I'm sorry, but I can't assist with that.",
        "As an AI language model, I cannot view pictures, so no description is possible.",
        "As a text-based AI, I don't have the capability to see pictures.",
        "Being a language model, I have no way of looking at pictures.",
        "I am an AI and have no eyes, so pictures mean nothing to me.",
    ),
    *_of(
        MATERIAL,
        "question",
        "What reason does the passage give for the length of the pier?",
        "Which detail of the article can be seen in <image-1>?",
        "Does the caption name the lighthouse?",
        "Considering the background information, why is the harbour empty?",
        "What does the caption of <image-1> not mention?",
        "Based on the given text, which of the two mills is older?",
    ),
    *_of(
        MATERIAL,
        "answer",
        "The paragraph states that the pier is made of oak.",
        "The article does not mention the lighthouse at all.",
        _before("According to the caption, it is old. "),
        _after(" This is mentioned in the provided description."),
        _before("From what I was told about it, it is old. "),
    ),
    *_of(
        (MATERIAL, LANGUAGE),
        "question",
        "Was wird im Artikel über den Leuchtturm gesagt?",
        "D'après le texte, quand le phare a-t-il été construit ?",
        "¿Qué dice el artículo sobre el faro?",
        "根据文章，灯塔是什么时候建的？",
        "О чём говорится в тексте, который описывает маяк?",
        "説明文によると、灯台はいつ建てられましたか。",
    ),
    *_of(
        (REFUSAL, LENGTH),
        "answer",
        "Sorry, no comment.",
        "No can do.",
    ),
    *_of(
        (LEFTOVER, TRUNCATION),
        "answer",
        _before("```\n"),
    ),
    *_of(
        (LEAK, LANGUAGE),
        "question",
        "雪地里的一座红色四叶塔式风车有什么特点？ Which features does it have, would you say?",
    ),
    *_of(
        TRUNCATION,
        "answer",
        *(_cut(n) for n in (13, 17, 21, 26, 30, 34)),
        _after(" It also shows that the"),
        _after(" There are two things to note:"),
        _after(" The first of them (on the left"),
        _after("\n\n```python\nprint("),
        "Three things stand out:\n1. A mill.\n2. A barn.\n3.",
        _after(" The second is harder to make out, although"),
    ),
    *_of(
        TRUNCATION,
        "question",
        "Which of the two pictures shows the",
        "Why is it so dark, and",
        "Which of the two towers is the taller one, and what does the",
        "How many of the boats in <image-1> are",
    ),
    *_of(
        LENGTH,
        "answer",
        "Red.",
        "A mill.",
        "Yes, it is.",
        lambda before: " ".join([before] * 40),
    ),
    *_of(
        LENGTH,
        "question",
        "Why?",
        "And then?",
    ),
    *_of(
        LANGUAGE,
        "answer",
        "Auf dem Bild ist eine Windmühle zu sehen, die auf einem Feld steht und sich nicht dreht.",
        "La photo montre un moulin dans la neige, et les ailes du moulin sont rouges avec du blanc.",
        "La imagen muestra un molino en la nieve y las aspas del molino son de color rojo.",
        "L'immagine mostra un mulino nella neve che è di colore rosso e le pale sono con il bianco.",
        "De foto toont een molen die in de sneeuw staat en niet draait, met een rode kap van hout.",
        "图片中有一座红色的风车，立在雪地里，天空是灰色的。",
        "写真には雪の中に立つ赤い風車が写っています。",
        "На снимке видна красная мельница, стоящая в снегу.",
        "The picture shows a mill. 风车立在雪地里，天空是灰色的，远处有几棵树，地面全是白色。",
        "Molen, sneeuw, rood, hoog, oud, stil, koud.",
    ),
    *_of(
        LANGUAGE,
        "question",
        "Welche Farben hat das Bild und wie sind die auf dem Feld verteilt?",
        "Wie heißt das Wort auf dem Schild?",
        "Was sieht man hier links?",
        "¿Qué color tiene la casa?",
        "Combien de bateaux voit-on ?",
    ),
    *_of(
        LEFTOVER,
        "answer",
        _before("### A1: "),
        _before("Answer: "),
        _before("<think>Colours first.</think>"),
        _before("答案1："),
        _after("<|im_end|>"),
        _after(" [INST] Next question. [/INST]"),
        _after("\n\nLet me know if you would like more details!"),
        _after(" [insert name of the place]"),
        _before("Sure! Here is my description of it. "),
        _before("Great question! "),
    ),
    *_of(
        LEFTOVER,
        "question",
        _before("Q1: "),
        _before("Question 2: "),
        _before("## Q3 "),
    ),
    *_of(
        LEAK,
        "question",
        "How does Frostholm look in winter in <image-1>?",
        "Why did the builders wait until 1872 to build what <image-1> shows?",
        "What makes the red windmill with four sails in <image-1> stand out?",
        "Is this where brick was carried over the ice by sledge in the far past of the mill?",
        "Which features of the building did Brennick choose, judging by <image-1>?",
        "Why was it one of the few that worked through the winter?",
        "How does the northern tower windmill cope with frost?",
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
