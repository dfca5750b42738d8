"""Texts that the rules were not tuned on, with and without faults, and what the rules find of them.

The texts were written after the rules, by the author of the rules, and no rule was changed for them;
what a rule gets wrong here stays in the table of the guide.
"""

from typing import NamedTuple

from methods.quality.outcome import (
    LANGUAGE,
    LEFTOVER,
    MATERIAL,
    PERSONAL_DATA,
    REFUSAL,
    TRUNCATION,
    DialogueContent,
    QuestionAnswerPair,
)
from methods.quality.rules import RuleLimits, by_rules
from tests.methods.quality.planted import Found

CHECKS = (REFUSAL, TRUNCATION, LANGUAGE, LEFTOVER, MATERIAL, PERSONAL_DATA)
QUESTION, ANSWER = "question", "answer"
WHOLE = {
    "en": ("How does the harbour look?", "Calm, with three boats tied to a long wooden pier."),
    "de": ("Wie sieht der Hafen aus?", "Ruhig, mit drei Booten an einem langen Steg aus Holz."),
    "fr": ("À quoi ressemble le port ?", "Il est calme, avec trois bateaux le long d'un quai."),
    "es": ("¿Cómo es el puerto?", "Es tranquilo, con tres barcos junto a un muelle de madera."),
    "zh": ("港口看起来怎么样？", "港口很平静，木码头旁停着三条小船。"),
    "ja": ("港はどのように見えますか。", "静かで、木の桟橋に三隻の船がつながれています。"),
    "ru": ("Как выглядит гавань?", "Она спокойна, у деревянного причала стоят три лодки."),
}
"""By language: a pair without a fault, which a text is put into."""


class Example(NamedTuple):
    """A text in the place of the question or the answer, and the check that is to find it, if any."""

    of: str | None
    where: str
    text: str
    language: str = "en"


def _of(of: str | None, where: str, *texts: str, language: str = "en") -> list[Example]:
    return [Example(of, where, text, language) for text in texts]


FAULTS = [
    *_of(
        REFUSAL,
        ANSWER,
        "I'm afraid I must leave that question unanswered.",
        "It appears your message contained no photograph.",
        "Speculating on a stranger's religion is not something I'd be willing to do.",
        "I have been built to work with text only and cannot look at what you sent.",
        "The files arrived empty, so I can't tell you anything about them.",
        "For reasons of privacy I will not name the people in the photo.",
        "Sadly, this falls outside the things I may talk about.",
        "My apologies, the pictures did not render here.",
        "I do not possess the means to analyse photographs.",
        "Would you mind sending the image again? It got lost on the way.",
        "I'm not the right one to judge someone's beauty.",
        "Without a picture to look at, no comparison is possible for me.",
        "I choose not to engage with this topic.",
        "You have not given me any picture to work with.",
        "That is a request I have to turn down.",
        "Since I am only a chatbot, visual questions are beyond me.",
    ),
    *_of(
        REFUSAL,
        ANSWER,
        "Diese Frage darf ich nicht beantworten.",
        "Das Foto ließ sich bei mir nicht öffnen.",
        language="de",
    ),
    *_of(REFUSAL, ANSWER, "Je préfère ne pas répondre à cette question.", language="fr"),
    *_of(REFUSAL, ANSWER, "No puedo abrir el archivo que me enviaste.", language="es"),
    *_of(
        REFUSAL,
        ANSWER,
        "抱歉，涉及个人隐私的问题我不能回答。",
        "我这边没有显示任何图像。",
        language="zh",
    ),
    *_of(REFUSAL, ANSWER, "画像が届いていないようです。もう一度お送りください。", language="ja"),
    *_of(REFUSAL, ANSWER, "Прошу прощения, но на такой вопрос я ответить не могу.", language="ru"),
    *_of(
        TRUNCATION,
        ANSWER,
        "The pier is long, the boats are small, and behind them one can see a row of",
        "Here is what differs:\n- the colour of the boats\n- the height of the pier\n-",
        "Four boats are tied up. The nearest of them,",
        "1) Calm water.\n2)",
        "The harbour is calm, and nobody is around except for an old man who sits",
        "What stands out is the lighthouse, whose",
        "It is calm because…",
        "The light comes from the left (probably from",
        "| part | colour |\n| --- | --- |\n| pier | brown |\n|",
    ),
    *_of(
        TRUNCATION,
        QUESTION,
        "Where in <image-1> would you expect the ferry to",
        "What makes the pier look longer than it",
        "If one compares the boats, which",
        "Looking at both harbours, how would a sailor",
        "Describe how the pier and the",
        "Is the water in <image-1> deeper or",
    ),
    *_of(TRUNCATION, QUESTION, "Welche Farbe hat das Boot und", language="de"),
    *_of(TRUNCATION, ANSWER, "Le port est calme et les bateaux sont attachés à un", language="fr"),
    *_of(
        LANGUAGE,
        QUESTION,
        "Wo liegt das Boot?",
        "Warum ist das Wasser so ruhig?",
        "Welches Boot ist größer?",
        "¿Dónde está el faro?",
        "¿Cuál de los dos puertos es más antiguo?",
        "Où se trouve le phare ?",
        "Pourquoi l'eau est-elle si calme ?",
        "Dove si trova il faro?",
        "Onde fica o farol?",
        "Waar staat de vuurtoren?",
        "Gdzie stoi latarnia?",
        "Где стоит маяк?",
        "灯台はどこにありますか。",
    ),
    *_of(
        LANGUAGE,
        ANSWER,
        "Das Wasser ist ruhig und der Steg ist lang.",
        "El agua está tranquila y el muelle es largo.",
        "L'eau est calme et le quai est long.",
    ),
    *_of(LANGUAGE, QUESTION, "Where does the lighthouse stand?", language="de"),
    *_of(LANGUAGE, ANSWER, "The water is calm and the pier is long.", language="fr"),
    *_of(
        LEFTOVER,
        ANSWER,
        "Of course! Three boats are tied to the pier.",
        "Sure thing! The pier is on the left.",
        "Okay, let me look at the harbour. It is calm.",
        "What a great question! The pier is older than the boats.",
        "Below is a short description: the harbour is calm.",
        "I'd be happy to help! The harbour is calm.",
        "The harbour is calm. Don't hesitate to reach out with more questions!",
        "The harbour is calm. Would you like me to describe the boats as well?",
        "**Response:** The harbour is calm.",
        "The harbour is calm.</answer>",
        "As an artificial intelligence, I find the harbour calm.",
        "Thanks for sharing these pictures! The harbour is calm.",
        "Alright, here's the comparison: the left harbour is calmer.",
    ),
    *_of(
        LEFTOVER,
        ANSWER,
        "Gerne! Der Hafen ist ruhig.",
        "Der Hafen ist ruhig. Lassen Sie mich wissen, ob Sie mehr brauchen.",
        language="de",
    ),
    *_of(LEFTOVER, ANSWER, "Avec plaisir ! Le port est calme.", language="fr"),
    *_of(LEFTOVER, ANSWER, "¡Por supuesto! El puerto está tranquilo.", language="es"),
    *_of(LEFTOVER, ANSWER, "好的，以下是我的回答：港口很平静。", language="zh"),
    *_of(
        MATERIAL,
        QUESTION,
        "Using the text above, say when the ferry first ran.",
        "What do the background notes add about the pier?",
        "Who, as described in the passage, owned the boats?",
        "Which of the harbours is said in the article to be the oldest?",
        "How does this article portray the fishermen?",
        "What is the caption trying to tell us?",
        "Can you confirm what the document says about the storm?",
    ),
    *_of(
        MATERIAL,
        ANSWER,
        "Going by the description given, the ferry is from 1920.",
        "The text provided does not say who built it.",
        "The summary speaks of a storm, which fits the torn nets.",
    ),
    *_of(MATERIAL, QUESTION, "Wie alt ist der Hafen laut der Beschreibung?", language="de"),
    *_of(MATERIAL, QUESTION, "Selon la légende, que transporte le bateau ?", language="fr"),
    *_of(MATERIAL, QUESTION, "¿Por qué el artículo menciona el faro?", language="es"),
    *_of(MATERIAL, QUESTION, "结合材料，说说灯塔的作用。", language="zh"),
    *_of(MATERIAL, QUESTION, "Что сказано о маяке в статье?", language="ru"),
    *_of(
        PERSONAL_DATA,
        ANSWER,
        "The sign asks to write to harbour.master(at)port-office(dot)org for a berth.",
        "Boats are let by tom_weber at sailmail dot net, as the board says.",
        "The poster gives lena.k [@] boote.de as the address.",
        "The number on the van is 0171 2345678.",
        "On the door stands +33 6 12 34 56 78 in white.",
    ),
    *_of(PERSONAL_DATA, ANSWER, "Der Zettel nennt kapitaen (ät) hafen (punkt) de.", language="de"),
]
CLEAN = [
    *_of(
        None,
        ANSWER,
        "I cannot see a lighthouse in either harbour, only a low wall.",
        "There are no photographs on the walls of the cabin.",
        "The man cannot help the boy, since his hands are full.",
        "A picture is not needed to hear the gulls, so lively is the scene.",
        "No file cabinet was provided with a lock, as far as the room shows.",
        "Unfortunately, the bow of the nearest boat is out of the frame.",
        "It would not be right to call the water blue: it is a greyish green.",
        "Sorry looking nets hang over the rail, torn in many places.",
        "The painter did not share the picture's centre equally between both boats.",
        "The robot in the window is an AI toy with round eyes.",
        "I can't say which boat is older, but the left one has more rust.",
        "The captain would rather not look at the camera.",
        "I see no oars, so the boat must have a motor.",
        "No photograph of a person is to be found in the cabin.",
        "It is not my impression that the water is deep.",
        "We are not told by the scene who the owner is, yet the flag is Danish.",
        "As for help, none of the sailors offers it.",
        "I find no fault in the way the ropes are coiled.",
        "The photographs on the wall never show the sea.",
        "I would call neither of the two harbours lively, and the left one is deserted.",
        "If I had to guess, I would say it is early spring, since the trees are bare.",
        "My eye is drawn to the red boat first, not to the lighthouse behind it.",
        "We cannot tell from the flag alone, which is furled around its pole.",
        "Your question has no simple answer: the left harbour is older, the right one busier.",
        "I do not think the two boats were built by the same hand.",
        "You will not find a single straight line in the nets.",
        "I would need a longer look at the flag to tell its country, but it has a cross.",
        "We do not see the bow, which is hidden by the crates.",
        "The boat nearest to the pier carries the registration number K 27",
        "Three: the red one, the blue one, and the white one with the torn sail (far left)",
        "Left to right:\n1. a ferry\n2. a tug\n3. a rowing boat",
        "The clock on the tower of the customs house shows a time of about 4:15",
        "A rope, a bucket and a net",
        "On the hull one reads the words 'Gone With'",
        "The sea goes on and on…",
        'The stern carries the words "Meine liebe Frau Elisabeth aus Hamburg" in gold.',
        "It looks like the Canal Grande near Santa Maria della Salute.",
        "A fado bar, a tapas bar and a trattoria stand side by side.",
        "The café is called Le Petit Bateau, and a baguette lies on the table.",
        "It shows the Hagia Sophia, or Ayasofya in Turkish.",
        "The banner says 「港まつり」, which is a harbour festival.",
        "Certainly the left harbour is the older one.",
        "Here are the boats, there the nets, and between them a cat.",
        "Absolutely still water mirrors the masts.",
        "Do not hesitate, warns the sign at the ferry, or the gate closes.",
        "If you have questions, the board says, ask at the office.",
        "A: the mast. B: the hull. C: the rudder.",
        "Sure of himself, the old man leans on the rail.",
        "Happy to be home, the sailors wave.",
        "Okay is written on the crate in white.",
        "A note on the door reads: “Please knock. Feel free to ask for Tom.”",
        "A handwritten caption under the map gives its scale.",
        "To sum up the scene: calm water and no wind.",
        "The page of the logbook is blank.",
        "Boats are sold here at 3 o'clock, on the dot.",
        "The hull carries the number 2047 and the mast the number 16.",
        "They meet at the dot of noon near 59.3293, 18.0686.",
    ),
    *_of(
        None,
        QUESTION,
        "Name the three boats",
        "Compare the piers of both harbours.",
        "Tell me what the old man is looking at.",
        "Which boat would you take, and why?",
        "Is this the Port de Plaisance or the Vieux Port?",
        "Which one is the Elbphilharmonie?",
        "Any gulls?",
        "Are Miguel and José in the boat?",
        "What does the text on the lifebuoy say?",
        "Which article of clothing hangs over the rail?",
        "What do the notes on the music stand suggest?",
        "How wide is the passage between the two piers?",
        "What does the caption engraved on the plaque commemorate?",
        "Based on the position of the sun, what time of day is it?",
        "What does the newspaper page on the table show?",
        "Given the state of the nets, how old are they?",
        "Which part of the text on the crate is worn off?",
        "What does the description on the museum label call the anchor?",
        "From the position of the boats, where does the wind come from?",
        "Which entry in the logbook is underlined?",
    ),
    *_of(None, ANSWER, "Auf dem Steg sehe ich leider keine Menschen, nur Möwen.", language="de"),
    *_of(
        None,
        QUESTION,
        "Was steht auf dem Schild?",
        "Welche Rolle spielt das Licht?",
        language="de",
    ),
    *_of(None, ANSWER, "Je ne vois aucun phare, seulement un mur bas.", language="fr"),
    *_of(None, ANSWER, "No hay ningún faro, solo un muro bajo.", language="es"),
    *_of(None, ANSWER, "图片里没有灯塔，只有一道矮墙。", language="zh"),
    *_of(None, ANSWER, "灯台は見えず、低い壁だけがあります。", language="ja"),
    *_of(None, ANSWER, "Маяка не видно, есть только низкая стена.", language="ru"),
]


def named(example: Example) -> set[str]:
    """The checks of `CHECKS` that find something in an example."""
    question, answer = WHOLE[example.language]
    texts = {QUESTION: question, ANSWER: answer, example.where: example.text}
    pair = QuestionAnswerPair("d", "q", 1, texts[QUESTION], texts[ANSWER])
    found = by_rules([DialogueContent("d", [pair], [])], RuleLimits(language=example.language))[
        "d", "q"
    ]
    return {check for check in CHECKS if found[check]}


def figures() -> list[Found]:
    """What each rule finds of these texts, and what it names that has none of its faults."""
    counted = {check: [0, 0, 0] for check in CHECKS}
    for example in (*FAULTS, *CLEAN):
        for check in CHECKS:
            is_fault, is_named = check == example.of, check in named(example)
            counted[check][0] += is_fault
            counted[check][1] += is_fault and is_named
            counted[check][2] += is_named and not is_fault
    return [Found(check, *counts) for check, counts in counted.items()]
