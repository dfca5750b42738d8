"""What every benchmark of the registry holds to, and that no shared code knows its name."""

import re

import pytest

from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import Answer, AnswerRequest, AskingLimits, ReferenceTurn, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import replay
from resources.files.home import REPO_ROOT
from resources.settings.prompts import prompt
from tests.methods.evaluation.driving import drive

ITEM = Item(
    "item",
    (
        Turn(1, "Image1: <ImageHere>. Which colour is it?", (1,), {"answer": "Red.", "key": "A"}),
        Turn(2, "And why?", (), {"answer": "Paint.", "key": "A"}),
        Turn(3, "Write a line about it.", (), {"answer": "Red as paint.", "key": "A"}),
    ),
    ("sha-a",),
    ("red", "green", "blue"),
    labels={"n_choices": "3"},
)
SHARED = (
    "assets/evaluate",
    "assets/common",
    "methods/evaluation",
    "resources/importing",
    "resources/publishing",
    "resources/reports",
    "sql/evaluate",
)
"""Folders that evaluate whatever benchmark there is."""
INSTRUCTION_SETS = "resources/publishing/release_folder.py"
"""It names the form that instruction sets are written in."""
ATTRIBUTION = ("assets/evaluate/error_attribution.py", "assets/evaluate/report_data.py")
"""Following items through settings with given turns, which one benchmark has: its method is there. The
releases are found by their trials, whatever benchmark they are of."""


@pytest.fixture(params=list(BENCHMARKS.values()), ids=list(BENCHMARKS))
def benchmark(request: pytest.FixtureRequest) -> Benchmark:
    of: Benchmark = request.param
    return of


def asked(benchmark: Benchmark, answer: Answer) -> Transcript:
    steps = drive(benchmark.ask(ITEM, AskingLimits(prompt=prompt)), lambda _: answer)
    answers = {(s.trial, s.turn): answer for s in steps if isinstance(s, AnswerRequest)}
    given = {
        (s.trial, s.turn): Answer("given", s.text) for s in steps if isinstance(s, ReferenceTurn)
    }
    assert answers, "something is asked"
    return Transcript({**answers, **given})


def test_it_has_its_name_and_prompts_and_metrics_with_ranges_about_what_it_observes(
    benchmark: Benchmark,
) -> None:
    assert BENCHMARKS[benchmark.name] is benchmark
    for name in (*benchmark.judge_prompts, *benchmark.extractor_prompts):
        assert prompt(name).task, name
    for name in benchmark.question_prompts:
        assert prompt(name).name == name
    named = [(metric.name, metric.aggregation) for metric in benchmark.metrics]
    assert len(set(named)) == len(named) > 0
    assert all(metric.lowest != metric.highest for metric in benchmark.metrics)
    observed = {each.metric for each in replay(benchmark.judge(ITEM, asked(benchmark, YES)), {})}
    assert observed == set(benchmark.dimensions)


YES = Answer("answered", "The answer is A.", "call")


def test_asking_is_the_same_each_time(benchmark: Benchmark) -> None:
    steps = [
        drive(benchmark.ask(ITEM, AskingLimits(prompt=prompt)), lambda _: YES) for _ in range(2)
    ]
    assert [str(step) for step in steps[0]] == [str(step) for step in steps[1]]


def test_what_is_too_long_is_asked_with_less_under_a_permitted_policy_and_comes_to_an_end(
    benchmark: Benchmark,
) -> None:
    for policy in ("fail", *benchmark.context_policies):
        steps = drive(
            benchmark.ask(ITEM, AskingLimits(policy, prompt)),
            lambda ask: Answer("failed", too_long=True) if ask.turn > 1 else YES,
        )
        asks = [step for step in steps if isinstance(step, AnswerRequest)]
        for ask, after in zip(asks, [*asks[1:], None], strict=True):
            if ask.turn > 1 and ask.can_be_shorter:
                assert after is not None and (after.trial, after.turn) == (ask.trial, ask.turn)
        assert policy != "fail" or not any(ask.can_be_shorter for ask in asks)
        recorded = [(a.trial, a.turn) for a in asks if a.turn == 1 or not a.can_be_shorter]
        assert len(set(recorded)) == len(recorded), "an answer is recorded once"


@pytest.mark.parametrize("status", ["failed", "truncated", "refused", "empty"])
def test_what_fails_is_observed_and_never_as_a_value(benchmark: Benchmark, status: str) -> None:
    transcript = asked(benchmark, Answer(status))
    found = replay(benchmark.judge(ITEM, transcript), {})
    assert {each.status for each in found} >= {status}
    assert all(each.value is None for each in found)


def test_an_item_without_references_is_nobodys_failure(benchmark: Benchmark) -> None:
    bare = Item("item", (Turn(1, "What is it?"),), ())
    found = replay(benchmark.judge(bare, Transcript({("plain", 1): YES})), {})
    assert {each.status for each in found} == {"no_reference"}


def test_no_shared_code_names_a_benchmark() -> None:
    named = re.compile("|".join(BENCHMARKS), re.IGNORECASE)
    # Docstrings and comments may give examples and sources.
    prose = re.compile(r'"""[\s\S]*?"""|#[^\n]*|--[^\n]*|COMMENT ON[^\n]*')
    found = [
        str(path.relative_to(REPO_ROOT))
        for folder in SHARED
        for path in sorted((REPO_ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".sql", ".html") and named.search(prose.sub("", path.read_text()))
    ]
    assert set(found) <= {INSTRUCTION_SETS, *ATTRIBUTION}
