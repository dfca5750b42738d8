"""What a report is made of, read from tables with a few rows."""

from pathlib import Path
from typing import Any

import pytest

from assets.common.tables import rows_to_arrow
from assets.evaluate.report_data import metric_row, report_data
from methods.benchmarks import BENCHMARKS
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.evaluation.metrics.mean import Mean
from methods.results.methods_paragraph import EvaluationCalls
from resources.images.store import ImageStore
from resources.llm.registry import Profile
from resources.reports.benchmark_report import render_report
from resources.reports.report_index import line_of
from resources.warehouse import Warehouse
from tests.resources.reports.report_rows import Page

JUDGE, VERSION = "judge-1", "mmdu/judge@4bf65a46"
NO_CALLS = EvaluationCalls([], {})
PROFILE = Profile.model_validate(
    {"writer": "w", "judges": ["judge-1", "judge-2"], "evaluate": ["good", "late"]}
)
Row = dict[str, Any]


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """Two current releases: a benchmark of one dialogue that was evaluated, and an instruction set."""
    made = Warehouse(tmp_path / "warehouse.duckdb")
    tables: dict[str, list[Row]] = {}
    for release_id, kind in (("mmdu-1", "benchmark"), ("instruct-1", "instruction")):
        for table, rows in released(release_id, kind).items():
            tables.setdefault(table, []).extend(rows)
    for table, rows in {**tables, **evaluated("mmdu-1")}.items():
        made.replace(table, rows_to_arrow(table, rows))
    return made


def released(release_id: str, kind: str) -> dict[str, list[Row]]:
    here = {"release_id": release_id}
    name = release_id.partition("-")[0]
    of_item = {**here, "item_id": "i"}
    made = {"call_key": None, "prompt_version": None}
    return {
        "release.releases": [
            {
                **here,
                "name": name,
                "kind": kind,
                "benchmark": name if kind == "benchmark" else None,
                "origin": "built",
                "n_items": 1,
                "n_turns": 2,
                "n_images": 2,
                "review_policy": "none",
                "review_share": 0.0,
                "provider": "openai",
                "created_at": "2026-03-02T09:14:55+00:00",
                "parent": None,
                "settings": None,
                "prompt_versions": None,
                "writers": None,
                "corpus": None,
                "project_version": None,
            }
        ],
        "release.current": [{"name": name, **here}],
        "release.items": [
            {
                **of_item,
                "set_id": "s",
                "ordinal": 1,
                "revision": 1,
                "reviewers": ["ana"],
                "labels": [],
            }
        ],
        "release.turns": [
            {
                **of_item,
                "turn": 1,
                "question": "Which <ImageHere>?",
                "image_positions": [1],
                **made,
            },
            {**of_item, "turn": 2, "question": "And <ImageHere>?", "image_positions": [2], **made},
        ],
        "release.references": [
            {**of_item, "turn": turn, "kind": "answer", "reference": "It is red.", **made}
            for turn in (1, 2)
        ],
        "release.images": [
            {
                **of_item,
                "position": position,
                "image_id": str(position) * 64,
                "page_url": f"https://example.org/{position}",
                "title": "Boat",
                "attribution": None,
                "licence": None,
                "licence_url": None,
                "artist": None,
            }
            for position in (1, 2)
        ],
        "ingest.pages": [
            {
                "wit_shard": release_id,
                "page_id": "1",
                "page_url": "https://example.org/1",
                "title": "Boat",
                "language": "en",
                "page_text": "",
                "categories": ["Boats"],
                "topics": [],
            }
        ],
    }


def evaluated(release_id: str) -> dict[str, list[Row]]:
    here = {"benchmark": "mmdu", "release_id": release_id, "model": "good"}
    place = {**here, "item_id": "i", "trial": "plain"}
    answer = {"provider": "openai", "prompt_version": "dialogue@1", "finish_reason": None}
    by = {"judge_version": VERSION, "metric": "Overall Score", "aggregation": "micro"}
    counts = dict.fromkeys(
        ("n_failed", "n_refused", "n_truncated", "n_reasoning_only", "n_empty"), 0
    )
    judged = {"replicate": 0, "provider": "openai", "part": "turn", "prompt_version": VERSION}
    judged["judge_version"] = VERSION
    return {
        "evaluate.answers": [
            {
                **place,
                **answer,
                "turn": turn,
                "status": "answered",
                "answer": f"Answer {turn}.",
                "reasoning": None,
                "call_key": f"a{turn}",
            }
            for turn in (1, 2)
        ],
        "evaluate.judgments": [
            {
                **place,
                **judged,
                "judge": judge,
                "turn": 1,
                "scores": {"Overall Score": 7},
                "score": 7,
                "explanation": f"{judge} likes it.",
                "answer_call_key": given,
                "call_key": "j",
            }
            # The third is of an answer that was replaced.
            for judge, given in (("judge-2", "a1"), ("judge-1", "a1"), ("judge-3", "old"))
        ],
        "evaluate.failed": [
            {
                **place,
                "stage": "judgments",
                "asked": "judge-1",
                "turn": 2,
                "reason": "timeout",
                "detail": "It took too long.",
                "call_key": None,
            }
        ],
        "evaluate.scores": [
            {
                **here,
                **by,
                **counts,
                "judge": JUDGE,
                "provider": "openai",
                "place": 0,
                "form": form,
                "subset_label": label,
                "subset_value": value,
                "value": 70.0,
                "ci_low": None,
                "ci_high": None,
                "n_units": 1,
                "n_items": 1,
                "n_turns": 2,
                "n_judged": 1,
            }
            for form, label, value in (
                ("floor", "", ""),
                ("judged", "", ""),
                ("floor", "turn", "1"),
                ("judged", "turn", "1"),
            )
        ],
        "evaluate.ranks": [
            {
                **here,
                **by,
                "judge": JUDGE,
                "rank": None,
                "rank_low": None,
                "rank_high": None,
                "coverage": 0.5,
                "why": "Too little was judged.",
            }
        ],
        "evaluate.comparisons": [
            {
                **{name: here[name] for name in ("benchmark", "release_id")},
                **by,
                "judge": JUDGE,
                "form": form,
                "first": "good",
                "second": "other",
                **dict.fromkeys(("difference", "ci_low", "ci_high", "p", "p_holm", "detectable")),
                "n_units": 0,
                "n_clusters": 0,
            }
            for form in ("floor", "common")
        ],
    }


def data_of(warehouse: Warehouse, release_id: str) -> Row:
    releases = warehouse.read("evaluate/reported_releases").to_pylist()
    (release,) = (row for row in releases if row["release_id"] == release_id)
    return report_data(warehouse, BENCHMARKS, release, PROFILE, {}, NO_CALLS)


def test_an_evaluated_release_has_scores_ranks_and_what_every_judge_said(
    warehouse: Warehouse, tmp_path: Path
) -> None:
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
    assert first["references"][0]["kind"] == "answer"
    assert data["benchmark"]["grades"] == (1, 10)
    assert data["benchmark"]["metrics"][0] == {
        "name": "Overall Score",
        "in_words": "the mean over all turns of Overall Score",
        "decimals": 1,
        "aggregation": "micro",
        "low": 10.0,
        "high": 100.0,
        "higher_is_better": True,
        "inverse": False,
        "refusals_are_right": False,
    }
    words = Page(render_report(data, ImageStore(tmp_path / "images"))).words
    assert "No rank: Too little was judged." in words and "judge-2 likes it." in words
    assert line_of(data, "mmdu-1.html").n_models == 1


def test_a_release_that_nobody_was_asked_on_has_its_statistics_and_examples(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    data = data_of(warehouse, "instruct-1")
    assert data["benchmark"] is None and data["scores"] == data["unscored"] == []
    assert [each.name for each in data["distributions"]][:2] == [
        "Turns per dialogue",
        "Images per dialogue",
    ]
    html = render_report(data, ImageStore(tmp_path / "images"))
    assert 'id="leaderboard"' not in html and "Dialogue 1" in Page(html).words


def test_what_a_rule_observed_stands_in_place_of_a_judgment(warehouse: Warehouse) -> None:
    observed = {
        "benchmark": "mmdu",
        "release_id": "mmdu-1",
        "model": "good",
        "judge": "rule",
        "judge_version": "choices@1",
        "replicate": 0,
        "item_id": "i",
        "trial": "plain",
        "turn": 2,
        "part": "",
        "status": "judged",
        "value": 1.0,
        "call_key": None,
        "answer_call_key": "a2",
    }
    rows = [{**observed, "metric": name} for name in ("reads", "accuracy")]
    warehouse.replace("evaluate.observations", rows_to_arrow("evaluate.observations", rows))
    (answer,) = data_of(warehouse, "mmdu-1")["examples"][0]["turns"][1]["answers"]
    (said,) = answer["judgments"]
    assert said["scores"] == {"accuracy": 1.0, "reads": 1.0}
    assert (said["judge"], said["score"], said["call_key"]) == ("rule", None, None)


def test_a_release_keeps_its_report_when_it_is_not_in_force_any_more(warehouse: Warehouse) -> None:
    warehouse.replace("release.current", rows_to_arrow("release.current", []))
    reported = warehouse.read("evaluate/reported_releases").to_pylist()
    assert [(row["release_id"], row["is_current"]) for row in reported] == [("mmdu-1", False)]
    row = {"release_id": "instruct-1", "path": "reports/x.html", "sha256": "0", "n_models": 0}
    warehouse.replace("evaluate.reports", rows_to_arrow("evaluate.reports", [row]))
    reported = warehouse.read("evaluate/reported_releases").to_pylist()
    assert [row["release_id"] for row in reported] == ["instruct-1", "mmdu-1"]


def test_the_ends_of_a_scale_are_those_of_the_shown_number() -> None:
    spread = metric_row(GroupSpread(name="alignment", observation="score", lowest=0.5))
    assert (spread["low"], spread["high"], spread["inverse"]) == (2.0, None, True)
    accuracy = metric_row(Mean(name="accuracy", lowest=0.0, highest=100.0))
    assert (accuracy["low"], accuracy["high"]) == (0.0, 100.0)


def test_what_was_answered_without_a_reference_is_known_by_the_candidate(
    warehouse: Warehouse,
) -> None:
    assert data_of(warehouse, "mmdu-1")["unjudgeable"] == []
    # No judge judges a release without references, so that nothing is observed of its answers.
    references = rows_to_arrow("release.references", [])
    warehouse.replace("release.references", references, {"release_id": "mmdu-1"})
    assert data_of(warehouse, "mmdu-1")["unjudgeable"] == ["good"]


def test_the_page_of_a_held_out_split_shows_no_answer_and_nothing_that_tells_it(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    (row,) = warehouse.select("release.releases", release_id="mmdu-1").to_pylist()
    table = rows_to_arrow("release.releases", [{**row, "split": "test"}])
    warehouse.replace("release.releases", table, {"release_id": "mmdu-1"})
    data = data_of(warehouse, "mmdu-1")
    turns = data["examples"][0]["turns"]
    assert [turn["references"] for turn in turns] == [[], []]
    assert [answer["judgments"] for turn in turns for answer in turn["answers"]] == [[], []]
    page = render_report(data, ImageStore(tmp_path / "images"))
    assert "It is red." not in page and "Answer 1." in page


def test_an_image_of_several_items_counts_once_in_the_categories_of_pages(
    warehouse: Warehouse,
) -> None:
    """So a category never has more images than the release."""
    images = warehouse.sql("FROM release.images").to_pylist()
    again = [{**row, "item_id": "j"} for row in images]
    warehouse.replace("release.images", rows_to_arrow("release.images", [*images, *again]))

    counts = warehouse.read(
        "evaluate/page_categories_of", {"release_id": "mmdu-1", "n_categories": 20}
    )
    assert counts.to_pylist() == [{"category": "Boats", "n": 1}]
