"""Values of answers by hand: sets, numbers with a tolerance, lengths, and refusals in English."""

import pytest

from methods.evaluation import answer_values
from methods.evaluation.answer_lengths import REFERENCES, length_rows
from methods.evaluation.answer_values import is_near, last_number, listed_texts, set_f1
from methods.evaluation.english_refusals import MOST_WORDS, is_refusal
from methods.evaluation.items import Item, Turn
from methods.evaluation.judge_quality import AnswerKey


@pytest.mark.parametrize(
    ("said", "reference", "value"),
    [
        (["owl", "hawk"], ["hawk", "owl"], 1.0),
        (["Owl ", "HAWK."], ["owl", "hawk"], 1.0),
        # 2 * 1 / (2 + 3)
        (["owl", "crow"], ["owl", "hawk", "heron"], 0.4),
        (["10⁵"], ["105"], 0.0),
        ([], ["owl"], 0.0),
        (["owl"], [], 0.0),
        ([], [], 1.0),
    ],
)
def test_f1_over_sets(said: list[str], reference: list[str], value: float) -> None:
    assert set_f1(said, reference) == pytest.approx(value)


def test_the_parts_of_a_list() -> None:
    assert listed_texts("- an owl\n- a hawk") == ["an owl", "a hawk"]
    assert listed_texts("owl, hawk and heron.") == ["owl", "hawk", "heron"]
    assert listed_texts("猫头鹰、鹰；苍鹭。") == ["猫头鹰", "鹰", "苍鹭"]
    assert listed_texts(" ") == []


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("There are 3 owls and 4 hawks.", 4.0),
        ("It fell by \u22122.5.", -2.5),
        (".5", 0.5),
        ("It is 1,5 m long.", 1.5),
        ("0,125", 0.125),
        ("1\u202f234\u202f567,5", 1_234_567.5),
        ("1.234,5", 1234.5),
        ("2, 3, 4", 4.0),
        ("1,2,3", None),
        ("1.5kg", None),
        ("", None),
    ],
)
def test_the_last_number(answer: str, number: float | None) -> None:
    assert last_number(answer) == number


def test_a_list_of_numbers_that_a_letter_continues_is_searched_once() -> None:
    answer = "It is 5: " + "1," * 100 + "1x"
    assert last_number(answer) == 5.0
    assert [match[0] for match in answer_values._NUMBER.finditer(answer)] == ["5", answer[9:-1]]


def test_a_number_within_a_tolerance():
    for number, tolerance in ((105.0, {"relative": 0.05}), (100.5, {"absolute": 0.5})):
        assert is_near(number, 100.0, **tolerance) == is_near(-number, -100.0, **tolerance) == 1
        assert is_near(number + 0.01, 100.0, **tolerance) == is_near(number, 100.0) == 0
    assert is_near(None, 100.0, relative=1.0) == 0


def item(number: int, reference: str | None, given: str | None = None) -> Item:
    references = {} if reference is None else {"answer": reference}
    return Item(f"i{number}", (Turn(1, "What?", (), references, given),))


def answers(model: str, *lengths: int, trial: str = "plain") -> dict[AnswerKey, int]:
    return {AnswerKey(model, f"i{n}", trial, 1): length for n, length in enumerate(lengths)}


ITEMS = [item(n, " ".join(["word"] * (n + 1))) for n in range(5)]


def test_percentiles_and_the_ratio_by_hand() -> None:
    references, m = length_rows(ITEMS, answers("m", 2, 2, 9, 12, 10))
    # 1 to 5 words: between ranks, percentiles are interpolated.
    assert references == {
        **{"model": REFERENCES, "n": 5, "ratio": None, "low": 1.2, "high": 4.8},
        **{"first_quartile": 2.0, "median": 3.0, "third_quartile": 4.0},
    }
    # 2/1, 2/2, 9/3, 12/4, 10/5.
    assert (m["model"], m["n"], m["median"], m["ratio"]) == ("m", 5, 9.0, 2.0)


def test_chinese_is_counted_in_characters_and_without_references_there_is_nothing():
    (references,) = length_rows([item(0, "红色的船。")], {})
    assert references["median"] == 4
    # Without references there is nothing and models stand by name.
    assert length_rows([item(0, None)], answers("m", 3)) == []
    assert length_rows([], {}) == []
    rows = length_rows(ITEMS, {**answers("b", 1), **answers("a", 1)})
    assert [row["model"] for row in rows] == [REFERENCES, "a", "b"]


def test_what_was_not_asked_of_a_model_does_not_count() -> None:
    items = [*ITEMS, item(5, "said", given="said"), item(6, None)]
    lengths = {
        **answers("m", 1, 1, 1, 1, 1, 99, 99),
        **answers("m", 99, trial="perfect-perception"),
        **answers("baseline:reference", 7),
        **answers("no-images:m", 7),
    }
    rows = length_rows(items, lengths)
    assert [(row["model"], row["n"], row["high"]) for row in rows[1:]] == [("m", 5, 1.0)]


REFUSALS = [
    "I apologize, but I cannot answer questions about these images.",
    "I'm very sorry, but I won't describe this.",
    "I’m sorry, but I can’t assist with that.",
    "Unfortunately, I cannot see the image.",
    "As an AI language model, I cannot identify people.",
    "I can not do that.",
    "I'm unable to view images.",
    "We are unable to answer.",
    "I must decline.",
    "**I cannot help with this.**",
    "\n  I CANNOT\nHELP.  ",
    # An offer to do something else does not comply.
    "I can't help with that, but I can help with something else.",
    "I'm sorry, I can't do that. However, if you have other questions, ask.",
    "I won't answer this, but I'd be happy to try another.",
]
ANSWERS = [
    "",
    "I think the boat cannot float.",
    "The sign says: I cannot swim.",
    "I am unablenough.",
    "As an AI, I see a boat, and I can't read its name.",
    # It complies after a caveat.
    "I'm sorry, I can't read the name. However, the boat is red.",
    "I can't help but notice the red boat.",
]


@pytest.mark.parametrize("answer", [*REFUSALS, *ANSWERS])
def test_a_refusal_declines_and_says_nothing_of_the_picture(answer):
    assert is_refusal(answer) == (answer in REFUSALS)


def test_sixty_words_may_refuse_and_sixty_one_are_an_answer():
    assert MOST_WORDS == 60
    # "I cannot" is two words.
    assert is_refusal("I cannot" + " see" * 58)
    assert not is_refusal("I cannot" + " see" * 59)
