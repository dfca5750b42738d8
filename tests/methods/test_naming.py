"""Names in sentences: what is like a name that there is not, and the first of many."""

import string

import pytest

from methods.naming import listed, nearest, number_of

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
        ("EVALUATE", JOBS, "the nearest is evaluate"),
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
