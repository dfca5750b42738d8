"""Dialogues stacked to a budget of tokens: nothing is lost, cut or shown at another place."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation.items import Turn
from methods.exports.rows import (
    CreditedImage,
    ExportedItem,
    ExportedMessage,
    messages,
    shown_images,
)
from methods.exports.stacking import (
    TokenBudget,
    estimate_tokens,
    join_dialogues,
    stacking_summary,
    stacks,
    tokens_of,
)

HERE = "<ImageHere>"
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=12)


def dialogue(name: str, *said: tuple[str, tuple[int, ...], str], pictures: str = ""):
    turns = [
        Turn(place, question, positions, {"answer": answer})
        for place, (question, positions, answer) in enumerate(said, start=1)
    ]
    return ExportedItem(name, tuple(turns), tuple(map(CreditedImage, pictures)))


LAKES = dialogue(
    "lakes",
    (f"Image1: {HERE}, Image2: {HERE}. Is <image-1> <image-2>?", (1, 2), "<image-2> is."),
    (f"Image3: {HERE}. And <IMAGE-3>? Image1: no.", (3,), "No."),
    pictures="abc",
)
OWLS = dialogue("owls", (f"{HERE}Who is <image-1>?", (1,), "An owl."), pictures="d")
TALK = dialogue("talk", ("Why?", (), "Because."))


def test_images_count_on_through_a_record() -> None:
    stack = join_dialogues([OWLS, LAKES, TALK])
    assert [each.text("[]") for each in messages(stack)] == [
        *("[]Who is <image-1>?", "An owl."),
        *("Image2: [], Image3: []. Is <image-2> <image-3>?", "<image-3> is."),
        *("Image4: []. And <image-4>? Image1: no.", "No."),
        *("Why?", "Because."),
    ]
    assert [picture.image_id for picture in stack.pictures] == list("dabc")
    assert shown_images(messages(stack)) == [0, 1, 2, 3]
    assert stack.stacked == ("owls", "lakes", "talk") and join_dialogues([OWLS]) is OWLS


def test_tokens_are_those_of_texts_pictures_and_messages() -> None:
    assert [estimate_tokens(text) for text in ("", "abcd", "大", "大人")] == [0, 2, 1, 2]
    # "Who is <image-1>?" has 17 bytes, "An owl." 7: 6 + 3 tokens, one picture, two messages.
    assert tokens_of(OWLS, estimate_tokens, TokenBudget(100, 50)) == 6 + 3 + 50 + 2 * 5


def test_a_dialogue_stands_in_the_first_record_with_room_for_it() -> None:
    one, other, small = (
        dialogue(name, ("x" * n, (), "y")) for name, n in zip("abc", (60, 60, 3), strict=True)
    )
    made = stacks([one, other, small], len, TokenBudget(90, 0))
    assert [[item.item_id for item in stack.items] for stack in made] == [["a", "c"], ["b"]]
    assert [stack.tokens for stack in made] == [71 + 14, 71]


def test_what_is_longer_or_names_what_it_does_not_show_stands_alone_and_whole() -> None:
    lost = dialogue("lost", ("Where is <image-7>?", (), "Nowhere."))
    endless = dialogue("endless", ("?", (), "<image-" + "9" * 5_000 + ">"))
    long = dialogue("long", ("x" * 200, (), "y"))
    made = stacks([lost, TALK, long, OWLS, endless], len, TokenBudget(150, 0))
    records = [["lost"], ["talk", "owls"], ["long"], ["endless"]]
    assert [[item.item_id for item in stack.items] for stack in made] == records
    assert [stack.whole for stack in made] == [True, True, False, False]
    assert join_dialogues(made[2].items) == long
    # No picture has two numbers in a record.
    again = replace(OWLS, item_id="again")
    apart = stacks([OWLS, again, TALK], len, TokenBudget(10_000, 0))
    assert [len(stack.items) for stack in apart] == [2, 1]


@st.composite
def dialogues(draw: st.DrawFn) -> list[ExportedItem]:
    made = []
    for place in range(draw(st.integers(1, 6))):
        n_pictures = draw(st.integers(0, 3))
        turns: list[tuple[str, tuple[int, ...], str]] = []
        left = list(range(1, n_pictures + 1))
        while left or not turns:
            n_here = draw(st.integers(min(len(left), 1), len(left)))
            here, left = left[:n_here], left[n_here:]
            text = "".join(draw(WORDS) + HERE for _ in here) + draw(WORDS)
            known = n_pictures - len(left)
            name = f"<image-{draw(st.integers(1, known))}>" if known else ""
            turns.append((text + name, tuple(here), draw(WORDS) + name))
        pool = "abcdefghijklmnopqr"[place * 3 :]
        made.append(dialogue(f"d{place}", *turns, pictures=pool[:n_pictures]))
    return made


def seen(said: list[ExportedMessage], pictures: tuple[CreditedImage, ...]) -> str:
    """A reader's view: texts, pictures by what they are, and names by the picture they are of."""
    entered: list[str] = []

    def shown(part: int | str) -> str:
        if isinstance(part, int):
            entered.append(pictures[part].image_id)
            return f"[{entered[-1]}]"
        return re.sub(r"<image-(\d+)>", lambda name: f"({entered[int(name[1]) - 1]})", part)

    return "".join("".join(map(shown, each.parts)) + f"/{each.role}/" for each in said)


@given(dialogues(), st.integers(1, 200), st.integers(0, 40))
def test_every_dialogue_is_in_one_record_as_it_was(items, tokens, picture_tokens):
    def size(*of: ExportedItem) -> int:
        return sum(tokens_of(item, estimate_tokens, budget) for item in of)

    budget = TokenBudget(tokens, picture_tokens)
    made = stacks(items, estimate_tokens, budget)
    stacked = sorted(item.item_id for stack in made for item in stack.items)
    assert stacked == sorted(item.item_id for item in items)
    for stack in made:
        record = join_dialogues(stack.items)
        assert stack.tokens == size(*stack.items)
        assert stack.whole == (stack.tokens <= tokens) and (stack.whole or len(stack.items) == 1)
        alone = "".join(seen(messages(item), item.pictures) for item in stack.items)
        assert seen(messages(record), record.pictures) == alone
        ids = [record.pictures[number].image_id for number in shown_images(messages(record))]
        assert len(set(ids)) == len(ids)
    # Of two records, the later one's first dialogue did not fit into the earlier one.
    for place, stack in enumerate(made):
        first = items.index(stack.items[0])
        for earlier in made[:place]:
            before = [item for item in earlier.items if items.index(item) < first]
            assert size(*before, stack.items[0]) > tokens


@pytest.mark.parametrize("n_longer", [0, 2])
def test_a_page_says_how_it_was_counted_and_what_is_longer(n_longer: int) -> None:
    said = stacking_summary(TokenBudget(8192, 576, "/m/tokenizer.json"), [3, 1], n_longer)
    assert "4 dialogues in 2 records of at most 8192 tokens by the tokenizer /m/tokenizer.j" in said
    assert ("2 longer dialogues are whole records of their own." in said) == bool(n_longer)
