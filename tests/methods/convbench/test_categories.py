"""Names of tasks and their categories: numbers worked by hand."""

import numpy as np
import pytest

from methods.convbench.drafting import TaskNameMatch, categories_of, task_name
from methods.errors import UserError


def at(*degrees: float) -> np.ndarray:
    """Unit vectors in a plane."""
    angles = np.deg2rad(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("travel plan writing", "Travel Plan Writing"),
        ("Formulating A  Travel\nPlan.", "Formulating a Travel Plan"),
        ('"the Making of OCR"', "The Making of OCR"),
        ("...", ""),
    ],
)
def test_a_name_has_its_usual_form(written: str, name: str) -> None:
    assert task_name(written) == name
    assert task_name(name) == name


def test_synonyms_are_one_category_called_as_most_turns_are() -> None:
    # 0 and 30 degrees: cosine 0.866; 80 degrees: 0.643 to the one, 0.174 to the other.
    plan, travel, poem = "Formulating a Travel Plan", "Travel Plan Writing", "Poem Writing"
    found = categories_of({plan: 1, poem: 4, travel: 3}, at(0, 80, 30), 0.75)
    by_name = {each.name: each for each in found}
    categories = {name: each.category for name, each in by_name.items()}
    assert categories == {plan: travel, travel: travel, poem: poem}
    assert by_name[plan].similarity == pytest.approx(0.866, abs=1e-3)
    for name, nearest, similarity in ((plan, poem, 0.174), (poem, travel, 0.643)):
        assert by_name[name].nearest == nearest
        assert by_name[name].nearest_similarity == pytest.approx(similarity, abs=1e-3)


def test_the_shortest_of_equal_names_stands_for_all_and_no_chain_makes_two_tasks_one():
    found = categories_of({"Text Reading": 2, "OCR": 2, "Reading": 1}, at(0, 1, 2), 0.9)
    assert {each.category for each in found} == {"OCR"}
    # No chain of pairs makes two tasks one.
    # 40 degrees apart each, cosine 0.766: the middle one has two neighbours, the outer ones one.
    counts = dict.fromkeys(("A", "B", "C", "D"), 1)
    found = {each.name: each.category for each in categories_of(counts, at(0, 40, 80, 120), 0.75)}
    assert len(set(found.values())) == 2
    assert found["A"] != found["D"]


def test_a_single_name_is_its_category_and_has_no_other() -> None:
    (alone,) = categories_of({"OCR": 3}, at(10), 0.75)
    assert alone == TaskNameMatch("OCR", 3, "OCR", 1.0, None, None)
    assert categories_of({}, at(), 0.75) == []
    with pytest.raises(UserError, match="tau"):
        categories_of({"OCR": 3}, at(10), 1.5)
