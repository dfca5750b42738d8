"""What several tests of model calls use."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resources.images.store import ImageStore
from resources.llm.budget import Budget
from resources.llm.budget_store import ChainBudget
from resources.llm.ledger import Ledger
from tests.doubles.openai_api import ScriptedApi, scripted

NewBudget = Callable[[float], Budget]


@pytest.fixture
def images(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with scripted() as running:
        yield running


@pytest.fixture
def new_budget(tmp_path: Path) -> Iterator[NewBudget]:
    """Makes budgets of so many US dollars, each of a run of its own, and closes them at the end."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    budgets: list[Budget] = []

    def make(limit_usd: float) -> Budget:
        budgets.append(Budget(limit_usd, ChainBudget(tmp_path / "limits.sqlite", ledger, "")))
        return budgets[-1]

    yield make
    for budget in budgets:
        budget.close()
    ledger.close()
