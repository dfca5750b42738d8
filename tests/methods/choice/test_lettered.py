"""Lettered choices: their orders, which letter is right, and questions as prompts word them."""

from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.lettered import (
    LETTERS,
    assign_letters,
    choices_in_order,
    equal_to_right,
    letter_in,
    original_order,
    question_and_hint,
    question_message,
    shifted,
    shuffled,
    with_hint,
    with_letters,
)
from methods.evaluation.items import Item, Turn
from methods.prompts.messages import IMAGE_HERE, Image, Message
from methods.prompts.prompt_template import PromptTemplate, TemplateError
from resources.settings.prompts import prompt

SIZES = st.integers(2, 8)


def test_the_papers_example_of_four_passes() -> None:
    """MMBench, Figure 6: how many apples, the right one is the first choice."""
    choices = ("4", "3", "2", "1")
    passes = [choices_in_order(choices, shifted(4, k)) for k in range(4)]
    assert passes == [
        ("4", "3", "2", "1"),
        ("3", "2", "1", "4"),
        ("2", "1", "4", "3"),
        ("1", "4", "3", "2"),
    ]
    assert [letter_in(shifted(4, k), "A") for k in range(4)] == ["A", "D", "C", "B"]


@given(SIZES, st.text(max_size=5), st.integers(0, 7))
def test_in_a_shuffled_order_no_choice_keeps_its_letter(n: int, seed: str, place: int) -> None:
    order = shuffled(n, seed)
    assert sorted(order) == list(original_order(n)) and order == shuffled(n, seed)
    assert letter_in(order, LETTERS[place % n]) != LETTERS[place % n]


def test_seeds_give_different_orders_and_more_choices_than_letters_are_refused():
    assert len({shuffled(4, f"item-{n}") for n in range(50)}) == 9  # derangements of four
    assert shuffled(1, "x") == (0,) and shuffled(0, "x") == ()
    # More choices than letters are refused.
    assert with_letters(["x"] * 10).endswith("J. x")
    with pytest.raises(ValueError, match="there are 11 choices, and at most 10 have a letter"):
        with_letters(["x"] * 11)


TWO = "Image1: <ImageHere>, Image2: <ImageHere>\n"


@pytest.mark.parametrize(
    ("question", "n_images", "hint", "text"),
    [
        ("Why?", 0, "", "Why?"),
        ("Why?", 1, "Look.", "<ImageHere>\nHint: Look.\nQuestion: Why?"),
        ("Why?", 2, "", f"{TWO}Why?"),
        # A question says itself where its images are.
        ("Is <ImageHere> like <ImageHere>?", 2, "", "Is <ImageHere> like <ImageHere>?"),
        # It only looks like a hint.
        *((text, 0, "", text) for text in ("Hint: \nQuestion: Why?", "Hint: none")),
    ],
)
def test_the_text_of_a_question(question: str, n_images: int, hint: str, text: str) -> None:
    assert with_hint(question, hint, "Hint", n_images) == text
    assert question_and_hint(text, "Hint", n_images) == (question, hint)


class Choices(NamedTuple):
    """The least that can be placed."""

    answer: str
    distractors: tuple[str, ...]


def choices_of(name: int, n_wrong: int) -> Choices:
    return Choices(f"right {name}", tuple(f"wrong {name} {place}" for place in range(n_wrong)))


MANY = st.lists(st.integers(1, 7), max_size=30).map(
    lambda counts: [choices_of(name, n_wrong) for name, n_wrong in enumerate(counts)]
)


@given(MANY, st.integers(0, 5))
def test_the_key_is_the_letter_of_the_right_choice_and_letters_are_used_equally_often(items, seed):
    found = assign_letters(items, seed)
    used: dict[int, Counter[str]] = {}
    for item, (choices, key) in zip(items, found, strict=True):
        assert choices[LETTERS.index(key)] == item.answer
        assert sorted(choices) == sorted((item.answer, *item.distractors))
        counts = used.setdefault(len(choices), Counter(dict.fromkeys(LETTERS[: len(choices)], 0)))
        counts[key] += 1
        # From the first item on.
        assert max(counts.values()) - min(counts.values()) <= 1
    assert assign_letters(items[:7], seed) == found[:7]


@given(MANY, st.data())
def test_items_keep_their_order_when_others_come_among_them(items, data):
    before = [item for item in items if data.draw(st.booleans())]
    first = dict(zip(before, assign_letters(before, 0), strict=True))
    kept = {place: first[item].key for place, item in enumerate(items) if item in first}
    now = dict(zip(items, assign_letters(items, 0, kept), strict=True))
    assert {item: now[item] for item in before} == first


def test_new_items_fill_up_the_letters_that_kept_ones_left() -> None:
    items = [choices_of(name, 3) for name in range(4)]
    keys = [order.key for order in assign_letters(items, 0, {0: "C", 2: "A"})]
    assert (keys[0], keys[2]) == ("C", "A") and sorted(keys) == list("ABCD")


MMBENCH, MMIU = prompt("mmbench/question"), prompt("mmiu/question")


def asked_item(
    question: str, n_images: int = 1, language: str | None = None, *choices: str
) -> Item:
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


def test_mmbench_asks_in_the_words_of_figure_22_and_in_the_language_of_the_item():
    english = dict.fromkeys((None, "en", "fr"), ENGLISH)
    for language, text in {**english, **dict.fromkeys(("zh", "zh-CN", "ZH_hant"), CHINESE)}.items():
        item = asked_item(HINTED, 1, language)
        assert shown(question_message(item, MMBENCH, "Hint", original_order(2))) == text


def test_mmiu_asks_in_the_words_of_table_b_2() -> None:
    text = f"Image1: {IMAGE_HERE}, Image2: {IMAGE_HERE}\nContext: Compare.\nQuestion: Which?"
    assert shown(question_message(asked_item(text, 2), MMIU, "Context", shifted(2, 1))) == (
        "Image1: [sha-1],\nImage2: [sha-2]\nContext: Compare.\nQuestion: Which?\n"
        "Choices:\n(A) crow\n(B) owl\n"
        "Hint: Please answer the option directly like A, B, C, D…"
    )


def test_a_choice_that_differs_from_the_right_one_in_what_nobody_sees_is_found() -> None:
    assert equal_to_right(["mill", "tower", "mill\u200b\ufe0f"], "A") == "C"
    assert equal_to_right(["caf\u00e9 noir", "cafe\u0301\u00a0 noir"], "A") == "B"
    assert equal_to_right(["mill", "tower"], "A") is None
    # Flags of two regions, and a Persian word with and without a joiner.
    flags = [f"\U0001f3f4\U000e0067{last}\U000e007f" for last in ("\U000e0065", "\U000e0073")]
    assert equal_to_right(flags, "A") is None
    assert (
        equal_to_right(
            ["\u0646\u0627\u0645\u0647\u200c\u0627\u06cc", "\u0646\u0627\u0645\u0647\u0627\u06cc"],
            "A",
        )
        is None
    )


@pytest.mark.parametrize("question", [f"{IMAGE_HERE}\nWhich?", f"Is {IMAGE_HERE} red?"])
def test_choices_are_never_taken_for_places_of_images(question: str) -> None:
    forged = asked_item(question, 1, None, IMAGE_HERE, "{{ question }}")
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
        question_message(asked_item(HINTED), own, "Hint", original_order(2))
