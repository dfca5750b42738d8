"""Open questions with a matching score from 1 to 5: a template of the guide (MMBench, Table 7)."""

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType

import pytest

from methods.benchmarks import installed_benchmarks
from methods.evaluation.asking import Answer, AskingLimits, Transcript
from methods.evaluation.benchmark import GROUP
from methods.evaluation.item_dry_run import dry_run_item
from methods.evaluation.items import Item, Turn
from resources.files.home import REPO_ROOT
from resources.settings import prompts
from resources.settings.prompts import prompt

POINT = EntryPoint("open_vqa", "open_vqa:benchmark", GROUP)
TURN = Turn(1, "<ImageHere>What does she hold?", (1,), {"answer": "an umbrella"})
ITEM = Item("q", (TURN,), ("sha",))


@pytest.fixture
def open_vqa(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(REPO_ROOT / "docs" / "guides" / "own-benchmark"))
    monkeypatch.setattr(prompts, "entry_points", EntryPoints([POINT]).select)
    yield import_module("open_vqa")
    del sys.modules["open_vqa"], sys.modules["counting"]


def test_it_is_a_benchmark_whose_judge_reads_question_reference_and_answer(open_vqa):
    found = installed_benchmarks([POINT])
    assert found.benchmarks == {"open_vqa": open_vqa.benchmark} and not found.refused
    dry_run_item(open_vqa.benchmark, ITEM, AskingLimits())
    answer = Answer("answered", "A parasol.", "call")
    (request,) = next(open_vqa.benchmark.judge(ITEM, Transcript({("plain", 1): answer})))
    messages = prompt(request.prompt).render(images=request.images, **request.data)
    text = str(messages[-1])
    assert all(part in text for part in ("What does she hold?", "an umbrella", "A parasol."))
    assert request.schema["properties"]["Rating"]["enum"] == [1, 2, 3, 4, 5]
