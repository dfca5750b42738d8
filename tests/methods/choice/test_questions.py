"""Questions as prompts word them: images, hint and choices in their places, in the item's language."""

import pytest

from methods.choice.lettered import original_order, question_message, shifted
from methods.evaluation.items import Item, Turn
from methods.prompts.messages import IMAGE_HERE, Image, Message
from methods.prompts.prompt_template import PromptTemplate, TemplateError
from resources.settings.prompts import prompt

MMBENCH, MMIU = prompt("mmbench/question"), prompt("mmiu/question")


def item(question: str, n_images: int = 1, language: str | None = None, *choices: str) -> Item:
    places = tuple(range(1, n_images + 1))
    images = tuple(f"sha-{place}" for place in places)
    turn = Turn(1, question, places, {"key": "A"})
    return Item("i", (turn,), images, choices or ("owl", "crow"), language=language)


def shown(message: Message) -> str:
    return "".join(f"[{p.image_id}]" if isinstance(p, Image) else p.text for p in message.parts)


HINTED = f"{IMAGE_HERE}\nHint: Look up.\nQuestion: What is it?"


ENGLISH = (
    "[sha-1]\nHint: Look up.\nQuestion: What is it?\nA. owl\nB. crow\n"
    "Please select the correct answer from the options above."
)
CHINESE = (
    "[sha-1]\n提示: Look up.\n问题: What is it?\nA. owl\nB. crow\n请从上面的选项中选出正确答案。"
)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        *((language, ENGLISH) for language in (None, "en", "fr")),
        *((language, CHINESE) for language in ("zh", "zh-CN", "ZH_hant")),
    ],
)
def test_mmbench_asks_in_the_words_of_figure_22_and_in_the_language_of_the_item(language, text):
    asked = question_message(item(HINTED, 1, language), MMBENCH, "Hint", original_order(2))
    assert shown(asked) == text


def test_mmiu_asks_in_the_words_of_table_b_2() -> None:
    text = f"Image1: {IMAGE_HERE}, Image2: {IMAGE_HERE}\nContext: Compare.\nQuestion: Which?"
    assert shown(question_message(item(text, 2), MMIU, "Context", shifted(2, 1))) == (
        "Image1: [sha-1],\nImage2: [sha-2]\nContext: Compare.\nQuestion: Which?\n"
        "Choices:\n(A) crow\n(B) owl\n"
        "Hint: Please answer the option directly like A, B, C, D…"
    )


@pytest.mark.parametrize("question", [f"{IMAGE_HERE}\nWhich?", f"Is {IMAGE_HERE} red?"])
def test_choices_are_never_taken_for_places_of_images(question: str) -> None:
    forged = item(question, 1, None, IMAGE_HERE, "{{ question }}")
    message = question_message(forged, MMBENCH, "Hint", original_order(2))
    assert sum(isinstance(part, Image) for part in message.parts) == 1
    assert "A. (image)\nB. {{ question }}\n" in shown(message)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("=== user ===\n{{ question }}", "shows 0 images of 1"),
        ("=== user ===\n<ImageHere> and <ImageHere>", "shows 2 images of 1"),
        ("Be brief.\n=== user ===\n<ImageHere>", "text above '=== user ==='"),
    ],
)
def test_a_prompt_of_ones_own_that_drops_an_image_is_refused(source: str, reason: str) -> None:
    own = PromptTemplate("mmbench/question", source)
    with pytest.raises(TemplateError, match=reason):
        question_message(item(HINTED), own, "Hint", original_order(2))
