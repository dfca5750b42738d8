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
        REFUSAL,
        "answer",
        _set("My apologies, but I'm not permitted to discuss the people shown here."),
        _set(
            "I was not able to open the file that you sent, so there is nothing I could describe."
        ),
        _set("Regrettably, none of the pictures reached me."),
        _set("Since no photograph has been uploaded yet, I cannot compare the two harbours."),
        _set("That question lies outside of what I am able to answer."),
        _set("I'd prefer not to speculate about who this person might be."),
        _set("It isn't possible for me to view the screenshot."),
        _set("I have to pass on this one, sorry."),
        _set("The second photo never loaded on my side, therefore no comparison can be given."),
        _set("Identifying the man in the coat is something I won't do."),
        _set("Could you share the picture again? I received only your text."),
    ),
    *_of(
        (REFUSAL, LANGUAGE),
        "answer",
        _set("Dazu kann ich mich leider nicht äußern."),
        _set("Bei mir ist kein Foto angekommen, bitte laden Sie es noch einmal hoch."),
        _set("Malheureusement, je ne peux pas commenter cette photo."),
        _set("Aucune photo n'a été jointe à votre message."),
        _set("Lamentablemente no puedo describir a las personas de la foto."),
        _set("Como modelo de lenguaje, no tengo acceso a fotografías."),
        _set("不好意思，我不能对这张照片发表评论。"),
        _set("照片好像没有上传成功，请重新发送。"),
        _set("恐れ入りますが、この写真についての回答は控えさせていただきます。"),
        _set("К сожалению, я не вижу никакого изображения."),
    ),
    *_of(
        (REFUSAL, LEFTOVER),
        "answer",
        _set("Being a language model, I have no way of looking at pictures."),
    ),
    *_of(
        MATERIAL,
        "question",
        _set("What reason does the passage give for the length of the pier?"),
        _set("According to the information provided, who built the lighthouse?"),
        _set("As mentioned in the description, the pier burned down; when was it rebuilt?"),
        _set("Which detail of the article can be seen in <image-1>?"),
        _set("From the accompanying text, what is the harbour known for?"),
        _set("How does the author of the text explain the calm water?"),
        _set("What does the excerpt reveal about the fishermen?"),
        _set("Does the caption name the lighthouse?"),
        _set("Judging by the Wikipedia article, how old is the pier?"),
    ),
    *_of(
        MATERIAL,
        "answer",
        _set("The paragraph states that the pier is made of oak."),
        _set("As stated in the source, the lighthouse is from 1890."),
        _set("The pier is old, as I was told."),
    ),
    *_of(
        (MATERIAL, LANGUAGE),
        "question",
        _set("Was wird im Artikel über den Leuchtturm gesagt?"),
        _set("D'après le texte, quand le phare a-t-il été construit ?"),
        _set("¿Qué dice el artículo sobre el faro?"),
        _set("根据文章，灯塔是什么时候建的？"),
        _set("О чём говорится в тексте, который описывает маяк?"),
    ),
    *_of(
        REFUSAL,
        "answer",
        _set("Apologies, but discussing that is not something I'm allowed to do."),
        _set("I don't feel comfortable guessing the woman's age."),
        _set("Your screenshot did not come through, so I have nothing to go by."),
        _set("I was unable to load either of the two photos."),
        _set("There doesn't seem to be an image attached to your message."),
        _set("Such a request is against our policy."),
        _set("I'm going to have to decline this request."),
        _set("Please attach the missing photo and I will gladly compare them."),
        _set("Unfortunately I cannot fulfil this request."),
        _set("I won't be able to help with telling who that is."),
        _set("Only your words arrived here, not the photographs."),
        _set("It is not my place to comment on somebody's looks."),
        _set("We do not provide such descriptions."),
        _set("I see no attachment, so I would just be making things up."),
    ),
    *_of(
        (REFUSAL, LANGUAGE),
        "answer",
        _set("Als KI kann ich Fotos nicht ansehen."),
        _set("Leider wurde das Bild nicht übertragen."),
        _set("Es wäre nicht angemessen, wenn ich mich dazu äußern würde."),
        _set("Désolé, je ne suis pas en mesure d'identifier cette personne."),
        _set("En tant que modèle de langage, je n'ai pas accès aux photos."),
        _set("Lo siento, pero no tengo permitido hablar de eso."),
        _set("很抱歉，我看不到您发送的照片。"),
        _set("对不起，我无法提供相关信息。"),
        _set("すみませんが、写真を確認することができません。"),
    ),
    *_of(
        (REFUSAL, LEFTOVER),
        "answer",
        _set("I am an AI and have no eyes, so pictures mean nothing to me."),
    ),
    *_of(
        MATERIAL,
        "question",
        _set("Which year does the article give for the lighthouse?"),
        _set("Considering the background information, why is the harbour empty?"),
        _set("What can be learned from the text about the ferry?"),
        _set("In the given context, what is the pier used for?"),
        _set("Where, according to the source, was the boat built?"),
        _set("What additional facts does the paragraph offer about the fishermen?"),
        _set("Why does the writer of the article admire the pier?"),
        _set("Which claim in the caption of <image-2> does not fit?"),
        _set("Summarise what the passage tells about storms."),
    ),
    *_of(
        MATERIAL,
        "answer",
        _set("The provided description calls it a ferry, so it must be one."),
        _set("The article does not mention the lighthouse at all."),
        _set("Based on the caption, this is the old harbour."),
    ),
    *_of(
        (MATERIAL, LANGUAGE),
        "question",
        _set("Welche Angaben macht der Artikel zum Hafen?"),
        _set("Que dit l'article au sujet du phare ?"),
        _set("De acuerdo con el texto, ¿cuándo se construyó el muelle?"),
        _set("资料里是怎么描述这个港口的？"),
        _set("Согласно тексту, когда построили маяк?"),
        _set("説明文によると、灯台はいつ建てられましたか。"),
    ),
    *_of(
        REFUSAL,
        "answer",
        _set("I'm sorry, this kind of question is off limits for me."),
        _set("Identifying real people is not within my abilities."),
        _set("My guidelines keep me from answering that."),
        _set("I regret that I cannot give an opinion on this photograph."),
        _set("The upload must have failed, because I have no picture in front of me."),
        _set("Could you please send the two images once more? They are not showing up for me."),
        _set("As a language-only system I have no access to visual material."),
        _set("This isn't a topic I can go into."),
        _set("I will have to skip this question."),
        _set("There was no attachment with your question."),
        _set("I am not in a position to assess the person's character."),
        _set("It wouldn't be right for me to judge how they look."),
        _set("Without access to the photo I can't tell you anything about it."),
        _set("I do not have eyes, so describing this is impossible for me."),
        _set("I'd need you to attach the photos first."),
    ),
    *_of(
        (REFUSAL, LENGTH),
        "answer",
        _set("Sorry, no comment."),
        _set("No can do."),
    ),
    *_of(
        (REFUSAL, LANGUAGE),
        "answer",
        _set("Entschuldigung, aber dabei kann ich nicht helfen."),
        _set("Ich sehe kein Bild in Ihrer Nachricht."),
        _set("Ich möchte mich dazu nicht äußern."),
        _set("Je regrette, mais je ne peux pas vous aider avec cette demande."),
        _set("La photo ne s'est pas chargée, pouvez-vous la renvoyer ?"),
        _set("No me es posible identificar a esa persona."),
        _set("对不起，这个问题我不方便回答。"),
        _set("您还没有上传图片。"),
        _set("申し訳ございませんが、お答えできません。"),
        _set("Я не могу комментировать внешность людей."),
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
