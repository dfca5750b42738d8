"""Benchmarks of installed packages, and the templates of the guide."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from methods.benchmarks import BENCHMARKS, installed_benchmarks, published_forms
from methods.evaluation.asking import Answer, AskingLimits, ReferenceTurn, Transcript
from methods.evaluation.benchmark import GROUP
from methods.evaluation.item_dry_run import ItemDryRunError, dry_run_item
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import Observation
from resources.files.home import REPO_ROOT
from resources.settings import prompts
from resources.settings.prompts import prompt

TEMPLATE = REPO_ROOT / "docs" / "guides" / "own-benchmark"


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The template of the guide, as if its package were installed."""
    monkeypatch.syspath_prepend(str(TEMPLATE))
    yield import_module("counting")
    del sys.modules["counting"]
    sys.modules.pop("open_vqa", None)


def point(value: str = "counting:benchmark", name: str = "counting") -> EntryPoint:
    return EntryPoint(name, value, GROUP)


def test_the_template_of_the_guide_is_a_benchmark_with_published_forms(counting, monkeypatch):
    found = installed_benchmarks([point()])
    assert found.benchmarks == {"counting": counting.benchmark} and not found.refused
    monkeypatch.setitem(BENCHMARKS, "counting", counting.benchmark)  # type: ignore[arg-type]
    forms = published_forms("counting")
    assert forms is not None
    text = (TEMPLATE / "questions.jsonl").read_text()
    items = list(forms.read_published("questions.jsonl", text.splitlines()))
    (written,) = forms.write_published(items, lambda _: b"").values()
    assert list(forms.read_published("counting.jsonl", written)) == items
    for of in items:
        dry_run_item(counting.benchmark, Item(of.item_id, of.turns, of.images), AskingLimits())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (point("nowhere:benchmark"), "cannot be imported (ModuleNotFoundError: No module named"),
        (
            point("counting:CountingBenchmark"),
            "counting:CountingBenchmark is a class: name an object of it",
        ),
        (point("counting:RIGHT"), "has no name, answer_version, "),
        (point(name="other"), "is called other and its name is 'counting'"),
        (point(name="mmdu"), "the project has a benchmark of this name"),
        (point(name="../x"), "has to be of lower-case letters, digits and underscores"),
    ],
)
def test_one_that_cannot_be_used_costs_itself_alone(counting, entry, reason):
    found = installed_benchmarks([entry, *([point()] if entry.name != "counting" else [])])
    assert reason in found.refused[entry.name]
    assert found.refused[entry.name].startswith(f"The benchmark {entry.name} is left out: ")
    assert list(found.benchmarks) == ([] if entry.name == "counting" else ["counting"])
    # Two of one name are one, and a refusal.
    twice = installed_benchmarks([point(), point()])
    assert list(twice.benchmarks) == ["counting"]
    assert "two packages have a benchmark of this name" in twice.refused["counting"]


def test_its_prompts_stand_beside_its_module_and_a_users_file_replaces_them(monkeypatch, tmp_path):
    (tmp_path / "graded.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    there_are = EntryPoints([point("graded:benchmark")])
    monkeypatch.setattr(prompts, "entry_points", there_are.select)
    (tmp_path / "prompts").mkdir()
    text = "---\ntask: grade\n---\n=== system ===\nGrade.\n=== user ===\n{{ answer }}\n"
    (tmp_path / "prompts" / "by_people.md").write_text(text)
    assert "Grade." in prompt("counting/by_people").text
    (tmp_path / "mine" / "counting").mkdir(parents=True)
    replaced = tmp_path / "mine" / "counting" / "by_people.md"
    replaced.write_text(text.replace("Grade.", "Be strict."))
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path / "mine"))
    assert "Be strict." in prompt("counting/by_people").text


ITEM = Item("pears", (Turn(1, "<ImageHere>How many?", (1,), {"answer": "1"}),), ("ab",))


def yields(*steps: object) -> Any:
    def ask(item: Item, limits: AskingLimits) -> Iterator[object]:
        yield from steps

    return ask


def returns(observations: object) -> Any:
    def judge(item: Item, transcript: object) -> Iterator[object]:
        yield from ()
        return observations

    return judge


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"item": replace(ITEM, turns=(replace(ITEM.turns[0], question="How many?"),))},
            "cannot be asked (ValueError: The text has 0 placeholders for images, but 1 images were",
        ),
        ({"ask": yields("How many?")}, "cannot be asked (`ask` yields a str)"),
        ({"judge": returns(None)}, "(`judge` returns something else than a list of observations)"),
        (
            {"judge": returns([Observation("wrong", "plain", 1, "judged", 1.0)])},
            "cannot be judged (`judge` observes 'wrong', which is none of `dimensions`)",
        ),
        ({"judge": lambda item, transcript: 1 / 0}, "cannot be judged (ZeroDivisionError: "),
        # It does not end.
        (
            {"ask": yields(*[ReferenceTurn("plain", 1, "x")] * 2_000)},
            "yields more than 1,000 times",
        ),
    ],
)
def test_what_is_wrong_with_an_item_or_a_benchmark_is_said_before_a_model_is_asked(
    counting, change, says
):
    known = {name: getattr(counting.benchmark, name) for name in ("ask", "judge", "dimensions")}
    benchmark = SimpleNamespace(metrics=counting.benchmark.metrics, **{**known, **change})
    with pytest.raises(ItemDryRunError) as raised:
        dry_run_item(benchmark, change.get("item", ITEM), AskingLimits())  # type: ignore[arg-type]
    assert says in str(raised.value)


POINT = point("open_vqa:benchmark", "open_vqa")
TURN = Turn(1, "<ImageHere>What does she hold?", (1,), {"answer": "an umbrella"})
UMBRELLA = Item("q", (TURN,), ("sha",))


def test_it_is_a_benchmark_whose_judge_reads_question_reference_and_answer(counting, monkeypatch):
    monkeypatch.setattr(prompts, "entry_points", EntryPoints([POINT]).select)
    open_vqa = import_module("open_vqa")
    found = installed_benchmarks([POINT])
    assert found.benchmarks == {"open_vqa": open_vqa.benchmark} and not found.refused
    dry_run_item(open_vqa.benchmark, UMBRELLA, AskingLimits())
    answer = Answer("answered", "A parasol.", "call")
    (request,) = next(open_vqa.benchmark.judge(UMBRELLA, Transcript({("plain", 1): answer})))
    messages = prompt(request.prompt).render(images=request.images, **request.data)
    text = str(messages[-1])
    assert all(part in text for part in ("What does she hold?", "an umbrella", "A parasol."))
    assert request.schema["properties"]["Rating"]["enum"] == [1, 2, 3, 4, 5]
