"""Lengths of answers by hand: which count, and how much longer than the references they are."""

from methods.evaluation.answer_lengths import REFERENCES, length_rows
from methods.evaluation.items import Item, Turn
from methods.evaluation.judge_quality import AnswerKey


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
