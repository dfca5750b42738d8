"""Words and names: counted, searched by, and listed in sentences."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.components import components
from methods.naming import listed, nearest, number_of
from methods.search_words import words_of
from methods.words import n_words


def test_words_stand_between_spaces_and_a_chinese_or_japanese_character_is_one() -> None:
    expected = {
        "  Two\n words ": 2,
        "It's <image-1>.": 2,
        "well-known e.g. 3.5": 3,
        "他说：“你好！”": 4,
        "GPT的answer是A。": 5,
        "データ・ベース": 6,
        "ﾃﾞｰﾀ": 4,
        "人々は2台のカメラを": 10,
        "무엇이 다릅니까": 2,
        "ＡＢＣ １２３": 2,
        "𠀀𠀁": 2,
    }
    assert {text: n_words(text) for text in expected} == expected


@given(st.text(), st.text())
def test_the_words_of_two_lines_are_those_of_each(first: str, second: str) -> None:
    assert n_words(f"{first}\n{second}") == n_words(first) + n_words(second)


def test_words() -> None:
    expected = {
        "The owl’s 2nd nest, re-built.": {"the", "owl", "s", "2nd", "nest", "re", "built"},
        "ÉCOLE Ｆｕｌｌ ﬁn": {"école", "full", "fin"},
        "红苹果 and りんご": {"红", "苹", "果", "and", "り", "ん", "ご"},
        # A vowel sign is a part of its word.
        "हिन्दी भाषा": {"हिन्दी", "भाषा"},
        "x" * 50: {"x" * 40},
        "<b>!?</b>": {"b"},
    }
    assert {text: words_of(text) for text in expected} == expected


JOBS = ("build", "cluster", "dialogue", "evaluate", "ledger")
TABLES = (
    "evaluate.judgments",
    "evaluate.judge_bias_tests",
    "review.decisions",
    "main.schema_version",
)
MODELS = [f"model-{number}" for number in range(14)]


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("evaluat", JOBS, "the nearest is evaluate"),
        ("judgement", TABLES, "the nearest is evaluate.judgments"),
        ("review/decision", TABLES, "the nearest is review.decisions"),
        ("dialogue.judgments", TABLES, "the nearest is evaluate.judgments"),
        # Nothing is like it: all that there are, while they are few.
        ("xyz", JOBS, "there are build, cluster, dialogue, evaluate, ledger"),
        ("xyz", MODELS, f"there are {', '.join(sorted(MODELS)[:10])} and 4 more"),
        ("model-2", MODELS[3:6], "the nearest are model-3, model-4, model-5"),
        ("", (), "there are none"),
    ],
)
def test_the_nearest_are_named_and_nothing_else(name, known, said):
    assert nearest(name, known) == said


def test_many_are_listed_to_the_tenth_and_counted() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([*string.ascii_lowercase]) == "a, b, c, d, e, f, g, h, i, j and 16 more"
    assert (number_of(1, "row"), number_of(2, "row")) == ("1 row", "2 rows")


def test_things_are_in_one_component_if_links_lead_from_one_to_the_other() -> None:
    found = components([("a", "b"), ("c", "d"), ("e", "e"), ("d", "b")])
    assert list(found) == ["a", "b", "c", "d", "e"]
    assert found["a"] == found["b"] == found["c"] == found["d"] != found["e"]
    assert components([]) == {}
