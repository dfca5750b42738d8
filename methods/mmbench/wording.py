"""The words around a question, in the language of its item.

Releases and files have `Hint` and `Question` whatever their language (`published.py`): they are taken
apart when an item is asked.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from methods.choice.languages import SOURCE_LANGUAGE
from methods.choice.lettered import question_and_hint, with_hint
from methods.evaluation.items import Item

HINT = "Hint"
"""What stands before a hint in the text of a turn."""


class Wording(NamedTuple):
    """What stands before a hint and its question, and what is asked for below the choices."""

    hint: str
    question: str
    instruction: str


ENGLISH = Wording(HINT, "Question", "Answer with the letter of the choice that is right.")
WORDINGS: Mapping[str, Wording] = {
    SOURCE_LANGUAGE: ENGLISH,
    "zh": Wording("提示", "问题", "请回答正确选项的字母。"),
}


def wording_of(language: str | None) -> Wording:
    """The words of a language by its code, whatever the region (`zh-CN`); English if there are none."""
    return WORDINGS.get((language or "").lower().replace("_", "-").partition("-")[0], ENGLISH)


def worded(item: Item) -> Item:
    """The item with a hint, if it has one, under the words of its language."""
    words = wording_of(item.language)
    first, *others = item.turns
    n_images = len(item.image_ids)
    question, hint = question_and_hint(first.question, HINT, n_images)
    if words is ENGLISH or not hint:
        return item
    text = with_hint(question, hint, words.hint, n_images, words.question)
    return replace(item, turns=(replace(first, question=text), *others))
