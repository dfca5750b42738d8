"""What the rules find of planted faults and of texts held out, and what they name without a fault."""

import pytest

from methods.quality.outcome import RULES
from methods.quality.rules import RuleLimits, by_rules
from tests.methods.quality.clean_pairs import clean
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
