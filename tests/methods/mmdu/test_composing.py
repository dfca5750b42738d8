"""What is asked about a set of images, and composing and stacking dialogues: every image once."""

import re
from dataclasses import replace
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu import composing
from methods.mmdu.stacking import stacked_turns, stacks
from methods.mmdu.table_1 import DialogueStatistics, figures_of
from tests.methods.refusals import reason_of


def single(position: int, question="What is in <image-1>?", answer="See <image-1>."):
    return composing.QuestionAnswer(f"s{position}", (position,), question, answer)


def multi(question="Compare <image-1> and <image-2>.", answer="<image-2> is taller.", **of):
    return composing.QuestionAnswer("m", of.get("positions", (1, 2)), question, answer)


@pytest.mark.parametrize(
    ("text", "numbers", "renumbered"),
    [
        # One after the other, 1 -> 2 and then 2 -> 1 would give <image-1> twice.
        ("<image-1> and <image-2>", {1: 2, 2: 1}, "<image-2> and <image-1>"),
        ("<image-12>", {1: 5, 2: 6, 12: 7}, "<image-7>"),
        # Left as it is, it would speak of another image once the dialogue is stacked.
        ("<Image-1> <IMAGE-1>", {1: 3}, "<image-3> <image-3>"),
        *(
            (text, {1: 2}, text)
            for text in ("image-1", "<image-a>", "<image-1", "<ImageHere>", "Image1:")
        ),
    ],
)
def test_every_reference_gets_its_new_number_at_once(text, numbers, renumbered):
    assert composing.renumber(text, numbers) == renumbered


def test_a_dialogue_of_two_images_as_worked_by_hand():
    dialogue = composing.compose([multi(), single(2), single(1)], n_images=2)
    assert [(turn.question_id, turn.question, turn.answer) for turn in dialogue.turns] == [
        ("s1", "Image1: <ImageHere>. What is in <image-1>?", "See <image-1>."),
        # Its question knows it as <image-1>; in the dialogue it is the second to enter.
        ("s2", "Image2: <ImageHere>. What is in <image-2>?", "See <image-2>."),
        ("m", "Compare <image-1> and <image-2>.", "<image-2> is taller."),
    ]
    assert [turn.image_positions for turn in dialogue.turns] == [(1,), (2,), ()]
    assert dialogue.positions == (1, 2)


def test_without_two_images_and_a_question_on_several_there_is_no_dialogue():
    for qas, reason in (
        ([], "too_few_images"),
        ([single(2), single(2)], "too_few_images"),
        ([single(1), single(3)], "no_multi_image_question"),
    ):
        assert reason_of(composing.compose, qas, 3) == reason


@pytest.mark.parametrize(
    ("qa", "reason"),
    [
        (single(2, question="How do <image-1> and <image-2> differ?"), "unknown_image"),
        (multi(answer="Like <image-0>."), "unknown_image"),
        # A place more than there are images: every later image would stand one place too early.
        (single(2, question="<ImageHere> What is this?"), "forged_image"),
        (multi(question="Compare <ImageHere> and <ImageHere>."), "forged_image"),
    ],
)
def test_a_text_with_an_image_it_does_not_have_costs_a_turn_and_no_other(qa, reason):
    kept = [single(1), composing.QuestionAnswer("both", (1, 2), "Both?", "<image-1>, <image-2>.")]
    dialogue = composing.compose([*kept, qa], n_images=2)
    assert [(lost, error.reason) for lost, error in dialogue.lost] == [(qa.question_id, reason)]
    assert dialogue.turns == composing.compose(kept, n_images=2).turns


def test_images_of_groups_enter_with_the_questions_on_them() -> None:
    # MMDU, Figure 10: a question on the first images, then one on others and one of the first.
    asked = [
        multi("How do all of them differ?", "In size.", positions=(1, 2, 3, 4)),
        composing.QuestionAnswer(
            "m2", (1, 4), "And <image-1> with <image-2>?", "<image-2> is larger."
        ),
        single(3),
        composing.QuestionAnswer("m1", (1, 2), "Describe <image-1> and <image-2>.", "An anchor."),
        single(1),
    ]
    dialogue = composing.compose(asked, n_images=4)
    assert [turn.question_id for turn in dialogue.turns] == ["s1", "m1", "s3", "m2", "m"]
    assert [turn.image_positions for turn in dialogue.turns] == [(1,), (2,), (3,), (4,), ()]
    assert dialogue.turns[3].question == "Image4: <ImageHere>. And <image-1> with <image-4>?"
    assert dialogue.turns[3].answer == "<image-4> is larger."
    assert dialogue.positions == (1, 2, 3, 4)


@pytest.mark.parametrize("earlier", ["Describe <image-9>.", None])
def test_a_question_that_goes_on_from_a_lost_one_is_lost_and_else_stays(earlier):
    lost = [composing.QuestionAnswer("m1", (1, 2), earlier, "Red.")] if earlier else []
    follow_up = composing.QuestionAnswer("m2", (1, 2), "Why does it?", "Rust.", follows="m1")
    dialogue = composing.compose([*lost, multi(), follow_up], n_images=2)
    assert [turn.question_id for turn in dialogue.turns] == ["m"]
    assert dict(dialogue.lost)["m2"].reason == "lost_earlier_turn"
    dialogue = composing.compose([multi(), replace(follow_up, follows="m")], n_images=2)
    assert [turn.question_id for turn in dialogue.turns] == ["m", "m2"]


weights = st.dictionaries(st.integers(0, 5), st.integers(1, 9), min_size=1)


def only(number: int) -> composing.Weights:
    return {number: 1}


def test_a_small_set_is_asked_about_as_a_whole_and_a_large_one_in_groups_first() -> None:
    shape = composing.shape_of(3, only(1), only(3), 27, 6, 0, "s")
    assert shape.singles == (1, 1, 1) and shape.n_turns == 6
    assert shape.together == (composing.MultiImageQuestions((1, 2, 3), 3),)
    # As in Figure 10 of MMDU: the first images, then others with one that is known.
    shape = composing.shape_of(9, only(0), only(7), 27, 4, 0, "s")
    first, second, third, whole = shape.together
    assert first == composing.MultiImageQuestions((1, 2, 3), 2)
    assert second.positions[1:] == (4, 5, 6) and second.positions[0] in (1, 2, 3)
    assert third.positions[1:] == (7, 8, 9) and third.positions[0] in range(1, 7)
    assert whole == composing.MultiImageQuestions(tuple(range(1, 10)), 1)
    assert [group.n_questions for group in shape.together] == [2, 2, 2, 1]
    assert composing.even_parts("abcdefghij", 4) == ["abcd", "efg", "hij"]
    assert composing.even_parts("abc", 3) == ["abc"]


def test_a_sampled_number_depends_on_what_it_is_of_and_on_its_weight():
    numbers = [
        composing.seeded_integer(composing.equal_weights(2, 5), "set", n) for n in range(400)
    ]
    assert set(numbers) == {2, 3, 4, 5}
    assert 3.3 < mean(numbers) < 3.7
    assert composing.seeded_integer(composing.equal_weights(2, 5), "set", 7) == numbers[7]
    assert composing.seeded_integer(only(4), "x") == 4
    # A number is sampled as often as its weight says.
    numbers = [composing.seeded_integer({3: 1, 8: 2, 20: 7}, n) for n in range(1000)]
    assert [round(numbers.count(number) / 100) for number in (3, 8, 20)] == [1, 2, 7]


@given(
    st.integers(2, 20),
    weights,
    weights.map(lambda each: {number + 1: weight for number, weight in each.items()}),
    st.integers(1, 30),
    st.integers(3, 20),
    st.integers(),
    st.text(),
)
def test_a_shape_keeps_its_limits(n, per_image, per_set, most, together, seed, set_id) -> None:
    shape = composing.shape_of(n, per_image, per_set, most, together, seed, set_id)
    assert shape == composing.shape_of(n, per_image, per_set, most, together, seed, set_id)
    assert len(shape.singles) == n and shape.n_turns <= most
    assert all(0 <= count <= max(per_image) for count in shape.singles)
    n_together = sum(each.n_questions for each in shape.together)
    assert min(min(per_set), most) <= n_together <= max(per_set)
    assert all(each.n_questions >= 1 for each in shape.together)
    *groups, whole = [each.positions for each in shape.together]
    assert whole == tuple(range(1, n + 1))
    assert all(2 <= len(group) <= together and sorted(set(group)) == [*group] for group in groups)
    # Each group has new images, and each after the first has one of an earlier group.
    known: set[int] = set()
    for group in groups:
        assert len(known & {*group}) == bool(known) and min({*group} - known) == len(known) + 1
        known |= {*group}


def turn(question: str, answer: str) -> dict[str, str]:
    return {"question_id": question[:4], "question": question, "answer": answer}


BALLOONS = (
    2,
    [
        turn("Image1: <ImageHere>. What is <image-1>?", "<image-1> is red."),
        turn("Image2: <ImageHere>. Compare <image-1> and <image-2>.", "<image-2> is larger."),
    ],
)
THREE = "Image1: <ImageHere>, Image2: <ImageHere>, Image3: <ImageHere>. "
LAKES = (3, [turn(THREE + "<image-1>, <image-2> or <image-3>?", "<image-3>, as Image1: said.")])


def test_a_stack_worked_by_hand() -> None:
    turns = stacked_turns([BALLOONS, LAKES, BALLOONS])
    assert turns[:2] == BALLOONS[1]
    assert turns[2]["question"] == (
        "Image3: <ImageHere>, Image4: <ImageHere>, Image5: <ImageHere>. "
        "<image-3>, <image-4> or <image-5>?"
    )
    # What is no place of an image stays as it was written.
    assert turns[2]["answer"] == "<image-5>, as Image1: said."
    assert turns[4]["question"] == "Image7: <ImageHere>. Compare <image-6> and <image-7>."
    assert [each["question_id"] for each in turns] == ["Imag"] * 5


def test_any_length_can_be_reached_and_stacks_are_filled():
    turns = stacked_turns([BALLOONS, LAKES] * 30)
    text = " ".join(each["question"] for each in turns)
    places = [int(found) for found in re.findall(r"Image(\d+): <ImageHere>", text)]
    assert places == list(range(1, 151)) and len(turns) == 90
    # Dialogues without common images fill their stacks.
    images_of = {str(n): {f"{n}a", f"{n}b"} for n in range(10)}
    made = stacks(images_of, {3: 1}, 0)
    assert [*map(len, made)] == [3, 3, 3, 1] and made != stacks(images_of, {3: 1}, 1)


dialogues = st.dictionaries(
    st.text(min_size=1, max_size=3), st.frozensets(st.integers(0, 12), min_size=2, max_size=4)
)


@given(dialogues, st.integers(1, 5), st.integers(0, 3), st.integers())
def test_every_dialogue_is_in_one_stack_and_no_image_twice(of, least, more, seed) -> None:
    images_of = {name: {str(image) for image in images} for name, images in of.items()}
    made = stacks(images_of, composing.equal_weights(least, least + more), seed)
    assert sorted(name for stack in made for name in stack) == sorted(images_of)
    assert made == stacks(images_of, composing.equal_weights(least, least + more), seed)
    for stack in made:
        shown = [image for name in stack for image in images_of[name]]
        assert len(shown) == len(set(shown)) and len(stack) <= least + more


def built(n_turns, n_images, n_several, tokens=100, n_some=0, n_following=0) -> DialogueStatistics:
    questions, answers = ["What is it?"] * n_turns, ["It is red."] * n_turns
    return DialogueStatistics(n_images, questions, answers, n_several, n_some, n_following, tokens)


def test_figures_worked_by_hand() -> None:
    found = figures_of(
        [
            built(10, 2, 5, 1000),
            built(11, 3, 10),
            built(20, 10, 20, 100, 17),
            built(27, 11, 16, 4000, 0, 5),
        ]
    )
    expected = {
        "Turns, mean": "17.0",
        "Dialogues of up to 10 turns": "25.0 %",
        "Dialogues of 11 to 15 turns": "25.0 %",
        "Dialogues of 16 to 20 turns": "25.0 %",
        "Dialogues of more than 20 turns": "25.0 %",
        "Images, mean": "6.5",
        "Dialogues of 2 images": "25.0 %",
        "Dialogues of 3 to 10 images": "50.0 %",
        "Dialogues of more than 10 images": "25.0 %",
        # 51 of 68, 17 of 68 and 5 of 68.
        "Questions on several images": "75.0 %",
        "Questions on some images of a larger set": "25.0 %",
        "Questions that go on from an earlier turn": "7.4 %",
        "Image and text tokens, mean": "1,300",
        "Words of an answer, mean": "3",
    }
    assert len(found) == 21 and expected.items() <= found.items()
