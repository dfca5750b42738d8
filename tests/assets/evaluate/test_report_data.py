"""What a report is made of, read from tables with a few rows."""

from pathlib import Path
from typing import Any

import pytest

from assets.evaluate.report_data import choice_data, metric_row, report_data
from methods.benchmarks import BENCHMARKS
from methods.choice.passes import PassCounts
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.evaluation.metrics.mean import Mean
from methods.mmbench import Mmbench
from methods.results.methods_paragraph import EvaluationCalls
from resources.images.store import ImageStore
from resources.llm.registry import Profile
from resources.reports.benchmark_report import render_report
from resources.reports.report_index import line_of
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.methods.choice.questions import item
from tests.resources.reports.report_rows import Page

JUDGE, VERSION = "judge-1", "mmdu/judge@4bf65a46"
NO_CALLS = EvaluationCalls([], {})
PROFILE = Profile.model_validate(
    {"writer": "w", "judges": ["judge-1", "judge-2"], "evaluate": ["good", "late"]}
)
Row = dict[str, Any]


@pytest.fixture
def warehouse(empty_warehouse: Warehouse) -> Warehouse:
    """Two current releases: a benchmark of one dialogue that was evaluated, and an instruction set."""
    tables = released("mmdu-1", "benchmark")
    for table, rows in released("instruct-1", "instruction").items():
        tables[table] += rows
    # An earlier release was evaluated as well.
    results = {
        table: rows + evaluated("mmdu-0")[table] for table, rows in evaluated("mmdu-1").items()
    }
    put(empty_warehouse, {**tables, **results})
    return empty_warehouse


def released(release_id: str, kind: str) -> dict[str, list[Row]]:
    here = {"release_id": release_id}
    name = release_id.partition("-")[0]
    of_item = {**here, "item_id": "i"}
    card = {"name": name, "kind": kind, "benchmark": name if kind == "benchmark" else None}
    card |= {"origin": "built", "review_policy": "none", "created_at": "2026-03-02T09:14:55+00:00"}
    page = {"title": "Boat", "page_url": "https://example.org/1"}
    questions = {1: "Which <ImageHere>?", 2: "And <ImageHere>?"}
    return {
        "release.releases": [{**here, **card, "n_turns": 2, "n_images": 2, "provider": "openai"}],
        "release.current": [{"name": name, **here}],
        "release.items": [{**of_item, "ordinal": 1, "revision": 1, "reviewers": ["ana"]}],
        "release.turns": [
            {**of_item, "turn": turn, "question": question, "image_positions": [turn]}
            for turn, question in questions.items()
        ],
        "release.references": [
            {**of_item, "turn": turn, "kind": "answer", "reference": "It is red."}
            for turn in (1, 2)
        ],
        "release.images": [
            # Each release has pictures of its own, of the same pages.
            {**of_item, "position": position, "image_id": f"{position}{kind[0]}" * 32}
            | {**page, "page_url": f"https://example.org/{position}"}
            for position in (1, 2)
        ],
        "ingest.pages": [{**page, "wit_shard": release_id, "categories": ["Boats"]}],
    }


def evaluated(release_id: str) -> dict[str, list[Row]]:
    here = {"benchmark": "mmdu", "release_id": release_id, "model": "good", "provider": "openai"}
    place = {**here, "item_id": "i", "trial": "plain"}
    answer = {"prompt_version": "dialogue@1", "status": "answered"}
    by = {"judge_version": VERSION, "metric": "Overall Score", "aggregation": "micro"}
    score = {**here, **by, "judge": JUDGE, "place": 0, "value": 70.0, "n_turns": 2}
    score |= dict.fromkeys(("n_failed", "n_refused", "n_truncated"), 0)
    score |= {"n_reasoning_only": 0, "n_empty": 0}
    judged = {"replicate": 0, "part": "turn", "prompt_version": VERSION, "judge_version": VERSION}
    judged |= {"turn": 1, "scores": {"Overall Score": 7}, "score": 7, "call_key": "j"}
    lost = {"stage": "judgments", "asked": "judge-1", "turn": 2, "reason": "timeout"}
    unranked = {"rank": None, "coverage": 0.5, "why": "Too little was judged."}
    pair = {"judge": JUDGE, "first": "good", "second": "other", "n_units": 0, "n_clusters": 0}
    return {
        "evaluate.answers": [
            {**place, **answer, "turn": turn, "answer": f"Answer {turn}.", "call_key": f"a{turn}"}
            for turn in (1, 2)
        ],
        "evaluate.judgments": [
            {**place, **judged, "judge": judge, "answer_call_key": given}
            | {"explanation": f"{judge} likes it."}
            # The third is of an answer that was replaced.
            for judge, given in (("judge-2", "a1"), ("judge-1", "a1"), ("judge-3", "old"))
        ],
        "evaluate.failed": [{**place, **lost, "detail": "It took too long."}],
        "evaluate.scores": [
            {**score, "form": form, "subset_label": label, "subset_value": value}
            for form in ("floor", "judged")
            for label, value in (("", ""), ("turn", "1"))
        ],
        "evaluate.ranks": [{**here, **by, **unranked, "judge": JUDGE}],
        "evaluate.comparisons": [
            {**here, **by, **pair, "form": form} for form in ("floor", "common")
        ],
    }


def data_of(warehouse: Warehouse, release_id: str) -> Row:
    releases = warehouse.read("evaluate/reported_releases").to_pylist()
    (release,) = (row for row in releases if row["release_id"] == release_id)
    return report_data(warehouse, BENCHMARKS, release, PROFILE, {}, NO_CALLS)


def test_an_evaluated_release_has_scores_ranks_and_what_every_judge_said(warehouse, tmp_path):
    data = data_of(warehouse, "mmdu-1")

    assert {(row["form"], row["subset_label"]) for row in data["scores"]} == {
        ("floor", ""),
        ("judged", ""),
        ("floor", "turn"),
    }
    assert {row["why"] for row in data["scores"]} == {"Too little was judged."}
    assert [row["form"] for row in data["comparisons"]] == ["floor"]
    assert data["unscored"] == ["late"]
    assert [(row["asked"], row["n"]) for row in data["failures"]] == [("judge-1", 1)]
    assert data["page_categories"] == [{"category": "Boats", "n": 1}]
    assert dict(data["shares"][0].counts) == {"one image": 2}
    first, second = data["examples"][0]["turns"]
    (answer,) = first["answers"]
    assert [each["judge"] for each in answer["judgments"]] == ["judge-1", "judge-2"]
    assert second["answers"][0]["judgments"] == [] and second["answers"][0]["reason"] == "timeout"
    assert answer["reason"] is None, "nothing was lost in the first turn"
    assert first["references"][0]["kind"] == "answer"
    assert data["benchmark"]["grades"] == (1, 10)
    words = Page(render_report(data, ImageStore(tmp_path / "images"))).words
    assert "No rank: Too little was judged." in words and "judge-2 likes it." in words
    assert line_of(data, "mmdu-1.html").n_models == 1


def test_a_release_that_nobody_was_asked_on_has_its_statistics_and_examples(warehouse, tmp_path):
    data = data_of(warehouse, "instruct-1")
    assert data["benchmark"] is None and data["scores"] == data["unscored"] == []
    assert [each.name for each in data["distributions"]][:2] == [
        "Turns per dialogue",
        "Images per dialogue",
    ]
    html = render_report(data, ImageStore(tmp_path / "images"))
    assert 'id="leaderboard"' not in html and "Dialogue 1" in Page(html).words


def test_what_a_rule_observed_stands_in_place_of_a_judgment(warehouse: Warehouse) -> None:
    place = {"release_id": "mmdu-1", "model": "good", "item_id": "i", "trial": "plain", "turn": 2}
    observed = {**place, "judge": "rule", "status": "judged", "value": 1.0, "answer_call_key": "a2"}
    rows = [
        {**observed, "metric": name, "part": "", "replicate": 0} for name in ("reads", "accuracy")
    ]
    put(warehouse, {"evaluate.observations": rows})
    (answer,) = data_of(warehouse, "mmdu-1")["examples"][0]["turns"][1]["answers"]
    (said,) = answer["judgments"]
    assert said["scores"] == {"accuracy": 1.0, "reads": 1.0}
    assert (said["judge"], said["score"], said["call_key"]) == ("rule", None, None)


def test_the_ends_of_a_scale_are_those_of_the_shown_number() -> None:
    spread = metric_row(GroupSpread(name="alignment", observation="score", lowest=0.5))
    assert (spread["low"], spread["high"], spread["inverse"]) == (2.0, None, True)
    accuracy = metric_row(Mean(name="accuracy", lowest=0.0, highest=100.0))
    assert (accuracy["low"], accuracy["high"]) == (0.0, 100.0)


def test_what_was_answered_without_a_reference_is_known_by_the_candidate(warehouse):
    assert data_of(warehouse, "mmdu-1")["unjudgeable"] == []
    # No judge judges a turn without a reference, so that nothing is observed of its answer.
    put(warehouse, {"release.references": []}, {"release_id": "mmdu-1", "turn": 2})
    assert data_of(warehouse, "mmdu-1")["unjudgeable"] == ["good"]


def test_the_page_of_a_held_out_split_shows_no_answer_and_nothing_that_tells_it(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    (row,) = warehouse.select("release.releases", release_id="mmdu-1").to_pylist()
    put(warehouse, {"release.releases": [{**row, "split": "test"}]}, {"release_id": "mmdu-1"})
    data = data_of(warehouse, "mmdu-1")
    turns = data["examples"][0]["turns"]
    assert [turn["references"] for turn in turns] == [[], []]
    assert [turn["answers"] for turn in turns] == [[], []]
    page = render_report(data, ImageStore(tmp_path / "images"))
    assert "It is red." not in page and "Answer 1." not in page
    assert "The references of this split are held out" in page
    # The sample browser has no items of one model.
    assert 'href="items/mmdu-1.html"' in page and "items/mmdu-1.html#" not in page


RELEASE = "mmbench-1"
ITEMS = [item("A", *"abcd", item_id="q1"), item("B", *"ab", item_id="q2")]


def answer(model: str, item_id: str, shift: int, status: str = "answered") -> dict[str, Any]:
    place = {"benchmark": "mmbench", "release_id": RELEASE, "model": model, "item_id": item_id}
    text = "It is this one." if status == "answered" else None
    of_call = {"status": status, "answer": text, "call_key": f"{model}-{item_id}-{shift}"}
    return {**place, "trial": f"shift-{shift}", "turn": 1, **of_call}


def reading(of: dict[str, Any], value: str | None, **changed: Any) -> dict[str, Any]:
    read = {"extractor": "rule", "value": value, "answer_call_key": of["call_key"]}
    return {**of, **read, "call_key": None, **changed}


@pytest.fixture
def choices(empty_warehouse: Warehouse) -> Warehouse:
    """`m` is right in both passes of q2, misses the second one of q1; a pass of `n` was lost."""
    m = [answer("m", "q1", 0), answer("m", "q1", 1), answer("m", "q2", 0), answer("m", "q2", 1)]
    n = [answer("n", "q1", 0), answer("n", "q1", 1, "failed"), answer("n", "q2", 0, "refused")]
    # After its miss `m` was asked no more.
    m.append(answer("m", "q1", 2, "not_asked"))
    rule = answer("baseline:reference", "q1", 0)
    letters = ("A", "A", "B", "A")
    readings = [reading(of, letter) for of, letter in zip(m, letters, strict=False)]
    # This one is of an answer that was replaced.
    readings += [reading(n[0], "C", answer_call_key="old"), reading(rule, "A")]
    answers = [*m, *n, rule]
    # On another release all answers are C.
    answers += [{**row, "release_id": "mmbench-2"} for row in answers]
    readings += [{**row, "release_id": "mmbench-2", "value": "C"} for row in readings]
    put(empty_warehouse, {"evaluate.answers": answers, "evaluate.extractions": readings})
    return empty_warehouse


def test_letters_are_compared_with_keys_and_passes_are_counted(choices: Warehouse) -> None:
    """The letters are those of the answers that there are: of the first pass, and of all passes."""
    data = choice_data(choices, Mmbench(), ITEMS, RELEASE)
    assert data is not None
    assert {model: dict(of.counts) for model, of in data["shares"].items()} == {
        "m": {"A": 1, "B": 1},
        "n": {"none": 2},
    }
    keys = {"A": 1, "B": 1}
    assert (data["letters"], dict(data["keys"]), data["n_held_out"]) == ("ABCD", keys, 0)
    of_m, of_n = data["circular_shares"]["m"], data["circular_shares"]["n"]
    # Under shift 1 the key of q1 is D, that of q2 A. Named: A, A, B, A; right: A, D, B, A.
    assert (dict(of_m.counts), of_m.compared) == ({"A": 3, "B": 1}, 4)
    assert of_m.distance.value == 0.25
    assert (dict(of_n.counts), of_n.compared) == ({"none": 3}, 0)
    # q1 has four passes and q2 two: `m` misses the second of four. After the lost pass of `n` two are
    # still to be asked, and what it declined is a miss.
    assert data["passes"] == {"m": PassCounts(6, 4, 2, 0), "n": PassCounts(6, 3, 1, 2)}
