"""The task `item`: one multiple-choice question about a picture.

What belongs here: a question on one kind of fact measured in the pixels, its right and wrong choices.
Captions and notes are never used, so no question can give them away. No model is called.
"""

from __future__ import annotations

import json

from resources.offline import vocabulary
from resources.offline.chat_request import ChatRequest
from resources.offline.image_facts import Facts
from resources.offline.prompt_parsing import labelled, sections
from resources.offline.seeded_choice import SeededChoice
from resources.offline.stated_facts import true_values

_DISTRACTORS = 3
QUESTIONS = {
    vocabulary.COLOUR: ("Which colour does the background have?", "{}"),
    vocabulary.LIGHT: ("How much light is there in the picture as a whole?", "{}"),
    vocabulary.VIVIDNESS: ("How strong are the colours of the picture?", "{}"),
    vocabulary.SHAPE: ("Which outline does the main subject have?", "{}"),
    vocabulary.PLACE: ("Where does the main subject stand in the frame?", "on the {}"),
    vocabulary.COUNT: ("How much is there to be counted in the picture?", "{} forms"),
    vocabulary.ORIENTATION: ("Which way up is the picture?", "{} format"),
}
"""The question about each kind of fact, and the form of a choice."""
_WORDED = {"on the centre": "at the centre", "single forms": "a single form"}
_OF_ABILITY = {
    "image_quality": vocabulary.VIVIDNESS,
    "image_scene": vocabulary.LIGHT,
    "image_style": vocabulary.ORIENTATION,
    "object_localization": vocabulary.PLACE,
    "spatial_relationship": vocabulary.PLACE,
    "attribute_recognition": vocabulary.SHAPE,
    "attribute_comparison": vocabulary.COUNT,
}
"""What is measured that is nearest to an ability; of the others, any kind of fact."""


def write_item(request: ChatRequest) -> str:
    """Return a question about the one picture, with its answer and up to three distractors.

    Without a picture, as in a dry run, any value is the answer.
    """
    ability = sections(request.last_user.text).get("ability", "")
    pictures = list(labelled(request.last_user).values())
    seeded = SeededChoice("item", ability, pictures)
    kind = _OF_ABILITY.get(ability) or seeded.choice("kind", list(QUESTIONS))
    question, form = QUESTIONS[kind]
    values = _values(pictures[0], kind) if pictures else list(vocabulary.values(kind))
    wrong = seeded.order("wrong", values[1:])[:_DISTRACTORS]
    choices = [worded(form, value) for value in (values[0], *wrong)]
    item = {"question": question, "hint": "", "answer": choices[0], "distractors": choices[1:]}
    return json.dumps(item)


def _values(facts: Facts, kind: str) -> list[str]:
    """Return a kind's right value, then the wrong ones; of colours, none that is nearly right."""
    true = true_values(facts, kind)
    wrong = [value for value in vocabulary.values(kind) if value not in true]
    if kind != vocabulary.COLOUR:
        return [*true, *wrong]
    far = [value for value in wrong if not any(vocabulary.near(value, each) for each in true)]
    return [facts.background, *far]


def worded(form: str, value: str) -> str:
    """Return a choice: the value in its form."""
    plain = form.format(value)
    return _WORDED.get(plain, plain)
