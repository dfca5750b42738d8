"""Dialogues without a fault: what the mock writer says of made-up pictures, and look-alikes."""

from collections.abc import Sequence

from methods.quality.outcome import DialogueContent, QuestionAnswerPair, WriterContext
from resources.mock_server import vocabulary
from resources.mock_server.careful_answers import careful_answer
from resources.mock_server.dialogue_texts import SEVERAL, SINGLE
from resources.mock_server.image_facts import Facts

N_DIALOGUES = 12
SOURCES = [
    WriterContext(
        "Frostholm Mill",
        "A red windmill with four sails in a snowy field near Frostholm",
        "Frostholm Mill is a red tower windmill in the far north of an invented country, and one of "
        "the few that worked through the winter. Brick was carried over the ice by sledge in 1872, "
        "and the tower was finished the following year by Aldo Brennick.",
    ),
    WriterContext(
        "弗罗斯特风车",
        "雪地里的一座红色四叶塔式风车",
        "弗罗斯特风车是虚构国家最北部的一座红色塔式风车，建于一八七二年。",
    ),
]


LOOK_LIKE_FAULTS = {
    "What do both share?": "Both of them show:\n- a wide sky\n- one building\n- bare ground",
    "Which letters can be read on the sign?": "The sign reads 'MILL', in capitals.",
    "How would you name the mood in one word?": "Quiet, with a little melancholy.",
    "Is the year on the wall readable?": "I cannot tell the exact year, but the wall is clearly old.",
    "What could a visitor say here?": 'A visitor might say: "I am sorry, I am late."',
    "Which colours would a painter mix?": "A painter would mix white, grey and a touch of blue (cool).",
    "Describe the table.": "| part | colour |\n| --- | --- |\n| top | brown |\n| legs | black |",
    "How is the light distributed?": "### Left\nThe left is bright.\n\n### Right\nThe right is dark.",
    "What do the French words mean?": '"Pain et vin" means bread and wine, and both are shown.',
    "What stands over the gate?": "Over the gate stands 福, a character that wishes good luck.",
    "What sort of text might hang below it?": "A short label such as one finds in a museum would fit.",
    "How far apart are they?": "About 120 metres, judging by the size of the doors between them.",
    "Which number is on the tram?": "The tram has the number 2047, written in white on green.",
    "Why is it small?": "Perhaps because heat is lost through it; the wind, too, comes from there.",
    "What is the answer to the riddle of its shape?": "It is an octagon: eight sides, eight corners.",
    "Which question does it raise?": "The question it raises is who left the ladder there, and why.",
    "Which word is written on the sign?": 'The word on the sign is "Mühle", which is German for mill.',
    "What is pinned to the fridge?": "Let me know, says the note on the fridge, above a telephone.",
    "What is on it?": "Seen from the left and read from top to bottom, the number on the board is 16",
    "How do the two parts differ?": "A: The left part is bright. B: The right part is dim and blue.",
    "What runs along the frame?": "A caption painted in gold runs along the lower edge of the frame.",
    "Are there any people to be seen?": "I cannot see any people in either of the two scenes.",
    "What does it say?": 'It says "Der Mensch denkt, und Gott lenkt, so ist es von alters her".',
    "What was unloaded there?": "Nothing arrived at the pier today, to judge by the empty crates.",
    "Where might Juan Carlos de la Vega stand?": "He might stand on the left, by the door.",
    "What does the code do?": "It prints a line:\n\n```\nprint('mill')\n```\n\nNothing more.",
}
"""Pairs that a careless rule would take for faults."""


def _facts(number: int) -> Facts:
    """A made-up picture: no two of the first ones are alike."""
    colours = vocabulary.values(vocabulary.COLOUR)

    def one_of(kind: str, step: int) -> str:
        values = vocabulary.values(kind)
        return values[(number * step + step) % len(values)]

    main, other = colours[number % len(colours)], colours[(number * 3 + 1) % len(colours)]
    return Facts(
        width=64,
        height=48,
        orientation=one_of("orientation", 1),
        colours=((main, 0.5), (other, 0.3)),
        background=main,
        luminance=0.2 + 0.05 * (number % 12),
        light=one_of("light", 2),
        vividness=one_of("vividness", 1),
        shape=one_of("shape", 3),
        place=one_of("place", 2),
        count=one_of("count", 1),
    )


def clean() -> list[DialogueContent]:
    """Dialogues of the mock writer, and one of pairs that look like faults."""
    made = []
    for number in range(N_DIALOGUES):
        pictures = {1: _facts(2 * number), 2: _facts(2 * number + 1)}
        asked = [
            SINGLE[number % len(SINGLE)].format("<image-1>"),
            SINGLE[(number + 5) % len(SINGLE)].format("<image-2>"),
            SEVERAL[number % len(SEVERAL)].format("<image-1> and <image-2>"),
            SEVERAL[(number + 4) % len(SEVERAL)].format("<image-1> and <image-2>"),
        ]
        answered = [careful_answer(question, pictures, "expert") for question in asked]
        made.append(dialogue(f"d{number}", list(zip(asked, answered, strict=True))))
    return [*made, dialogue("look-alikes", [*LOOK_LIKE_FAULTS.items()])]


def dialogue(name: str, texts: Sequence[tuple[str, str]]) -> DialogueContent:
    pairs = [
        QuestionAnswerPair(name, f"{name}-{turn}", turn, question, answer)
        for turn, (question, answer) in enumerate(texts, start=1)
    ]
    return DialogueContent(name, pairs, SOURCES)
