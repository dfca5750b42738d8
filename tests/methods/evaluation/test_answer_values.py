"""F1 over sets and numbers with a tolerance, worked by hand."""

import pytest

from methods.evaluation.answer_values import is_near, last_number, listed_texts, set_f1


@pytest.mark.parametrize(
    ("said", "reference", "value"),
    [
        (["owl", "hawk"], ["hawk", "owl"], 1.0),
        (["Owl ", "HAWK."], ["owl", "hawk"], 1.0),
        # 2 * 1 / (2 + 3)
        (["owl", "crow"], ["owl", "hawk", "heron"], 0.4),
        (["owl", "owl"], ["owl"], 1.0),
        (["crow"], ["owl"], 0.0),
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
        ("About 1,234,567.5 in all", 1_234_567.5),
        ("It fell by \u22122.5.", -2.5),
        ("-7 %", -7.0),
        ("1.5e3 metres", 1500.0),
        (".5", 0.5),
        ("It is 1,5 m long.", 1.5),
        ("0,125", 0.125),
        ("1 000 owls", 1000.0),
        ("10'000", 10_000.0),
        ("1\u202f234\u202f567,5", 1_234_567.5),
        ("1.234,5", 1234.5),
        ("1.234.567", 1_234_567.0),
        ("2, 3, 4", 4.0),
        ("2019-2020", 2020.0),
        ("1,2,3", None),
        ("1,23,456", None),
        ("1.5kg", None),
        ("room B2 and no number", None),
        ("", None),
    ],
)
def test_the_last_number(answer: str, number: float | None) -> None:
    assert last_number(answer) == number


@pytest.mark.parametrize(
    ("said", "tolerance", "value"),
    [
        (105.0, {"relative": 0.05}, 1.0),
        (105.1, {"relative": 0.05}, 0.0),
        (100.5, {"absolute": 0.5}, 1.0),
        (100.5, {}, 0.0),
        (100.0, {}, 1.0),
        (None, {"relative": 1.0}, 0.0),
        (104.0, {"relative": 0.01, "absolute": 5.0}, 1.0),
    ],
)
def test_a_number_within_a_tolerance(said, tolerance, value):
    assert is_near(said, 100.0, **tolerance) == value
