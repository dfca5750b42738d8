"""The stand-in's checks of pairs: what it finds of planted faults, and how it answers unseen."""

import pytest

from methods.prompts.parsing import parse_numbered
from methods.quality.reading import read_marks
from tests.methods.quality.planted import Found
from tests.resources.offline.checked_pairs import FINDERS, figures, replied
from tests.resources.offline.quality_figures import PAGE, page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def measured() -> dict[str, Found]:
    return {found.check: found for found in figures()}


@pytest.mark.parametrize("check", FINDERS)
def test_it_finds_most_faults_and_names_nothing_else(
    measured: dict[str, Found], check: str
) -> None:
    found = measured[check]
    assert found.n_planted == 8 and found.n_wrong == 0
    assert found.recall >= 0.75, found


def test_unseen_it_says_what_is_known_or_agrees_with_a_leading_question_or_guesses() -> None:
    asked = ["What is the boiling point of water?", "Is the mill in <image-1> red?", "What is it?"]
    answers = parse_numbered(replied("quality/unseen", [], n_words=80, questions=asked), "A", 3)
    assert answers[0].startswith("Water boils at 100 degrees")
    assert answers[1] == "Yes: Is the mill in <image-1> red, as the question says."
    assert answers[2].startswith("It is probably an ordinary view")


def test_marks_follow_the_facts_that_both_state() -> None:
    def mark(reference: str, answer: str) -> int:
        pair = {"question": "What is it?", "reference": reference, "answer": answer}
        return read_marks(replied("quality/marks", [], pairs=[pair]), 1)[0]

    right = "The picture is mostly red, in landscape format, with a single round form."
    assert mark(right, right) == 10
    assert mark(right, "It is an ordinary view of its kind.") == 0
    assert mark(right, "I'm sorry, but I can't help with that.") == 0
    assert 0 < mark(right, "It is mostly red.") < 10


@pytest.mark.nightly
def test_the_guide_has_the_figures_that_the_code_makes() -> None:
    """Where this fails: python -m tests.resources.offline.quality_figures."""
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(written)
