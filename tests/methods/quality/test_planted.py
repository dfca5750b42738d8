"""What the rules find of planted faults and of texts held out, and what they name without a fault."""

import pytest

from methods.quality.outcome import RULES
from methods.quality.rules import RuleLimits, by_rules
from tests.methods.quality import held_out
from tests.methods.quality.clean_pairs import clean
from tests.methods.quality.faults import FAULTS
from tests.methods.quality.planted import MOST_ALIKE, Found, figures

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def measured() -> dict[str, Found]:
    return {found.check: found for found in figures()}


@pytest.mark.parametrize("check", RULES)
def test_each_rule_finds_most_of_its_faults_and_names_nothing_else(measured, check):
    found = measured[check]
    assert found.n_planted >= 6
    assert found.recall >= 0.85, found
    assert found.precision >= 0.95, found


def test_what_looks_like_a_fault_and_is_none_passes() -> None:
    found = by_rules(clean(), RuleLimits(most_alike=MOST_ALIKE))
    assert len(found) > 60
    assert [evidence for evidence in found.values() if any(evidence.values())] == []


LEAST_RECALL = {"refusal": 0.55, "material": 0.8}
"""Of texts held out, for the checks whose faults have no end of words; the others find more."""


def test_of_texts_that_no_rule_was_tuned_on_most_are_told_right() -> None:
    found = {each.check: each for each in held_out.figures()}
    assert len(held_out.FAULTS) + len(held_out.CLEAN) >= 150
    for check, each in found.items():
        assert each.precision >= 0.9, each
        assert each.recall >= LEAST_RECALL.get(check, 0.9), each


def test_no_text_that_is_held_out_is_one_of_those_the_rules_were_tuned_on() -> None:
    tuned = {fault.change("") for fault in FAULTS}
    assert not tuned & {example.text for example in (*held_out.FAULTS, *held_out.CLEAN)}
