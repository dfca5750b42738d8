"""Trying an evaluation small, and importing predictions and scores of people, as a person types it."""

import json
import re
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from PIL import Image

from assets.evaluate.human_scores import imported_scores
from dagster_project import run
from dagster_project.job_runs import run_job
from methods.evaluation.judge_quality import AnswerKey
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.dagster_project.conftest import Typed
from tests.dagster_project.test_dry_run import rows

pytestmark = pytest.mark.slow

N_ITEMS, N_CHOICES = 3, 2
REGISTRY = """
profiles: {only: {judge: judge, evaluate: [careful]}}
models:
  judge: {provider: mock, model: offline-judge, price: {prompt: 1, completion: 1}}
  careful: {provider: mock, model: offline-careful, price: {prompt: 1, completion: 1}}
"""
PRINTED = [
    dg.AssetKey(["evaluate", name])
    for name in ("answers", "judgments", "observations", "scores", "comparisons", "leaderboard")
]
"""The assets whose rows the command prints."""


@pytest.fixture
def tables(
    loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> Warehouse:
    """Of a home with an imported release, and a profile that only evaluates."""
    Image.new("RGB", (20, 10), "red").save(tmp_path / "red.png")
    header = "index\tquestion\tA\tB\tanswer\tcategory\timage_path"
    lines = [
        f"{n}\tWhich {n}?\tred\tblue\tA\t{'ocr' if n % 2 else 'celebrity_recognition'}\tred.png"
        for n in range(N_ITEMS)
    ]
    (tmp_path / "q.tsv").write_text("\n".join([header, *lines]) + "\n")
    (tmp_path / "models.yaml").write_text(REGISTRY)
    monkeypatch.setenv("LOOM_MODELS", str(tmp_path / "models.yaml"))
    monkeypatch.setenv("LOOM_PROFILE", "only")
    typed("release import", tmp_path / "q.tsv", "--benchmark=mmbench")
    return Warehouse(loom_home / "warehouse.duckdb")


def test_a_few_items_are_priced_and_tried_and_every_table_says_that_it_is_partial(
    tables: Warehouse, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = rows(typed("dry-run --limit 2").out)
    assert {stage for stage, _ in told} <= {"evaluate.answers", "evaluate.second_readings", "all"}
    # Each item is asked once in each order of its choices.
    assert told["evaluate.answers", "careful"][0] == 2 * N_CHOICES
    assert told["evaluate.answers", "careful"][4] > 0, "dollars"

    def run_few(job: dg.JobDefinition, *given: Any, **more: Any) -> dg.ExecuteInProcessResult:
        few = {"assets": PRINTED} if job.name == "evaluate" else {}
        return run_job(job, *given, **more, **few)

    monkeypatch.setattr(run, "run_job", run_few)
    done = typed("run evaluate --limit 2").out
    assert f"*: careful: 2 of {N_ITEMS} items were asked." in done
    for shown in (
        "release show mmbench-imported",
        "result export mmbench-imported --as submission",
    ):
        assert f"careful is partial: 2 of {N_ITEMS} items were asked." in typed(shown).out
    first = paid(done)
    assert first["evaluate.answers"] > 0
    costs = tables.select("ledger.costs").to_pylist()
    assert {row["stage"]: row["cost_usd"] for row in costs} == pytest.approx(first, abs=1e-4)


def paid(output: str) -> dict[str, float]:
    """Dollars by stage."""
    lines = re.findall(r"^(evaluate\.\w+) .* (\d+\.\d{4})$", output, re.MULTILINE)
    found: dict[str, float] = {}
    for stage, dollars in lines:
        found[stage] = found.get(stage, 0) + float(dollars)
    return found


def test_a_file_of_predictions_is_imported_and_removed_by_runs_that_the_ui_lists(
    tables: Warehouse, typed: Typed, tmp_path: Path
) -> None:
    (tmp_path / "preds.csv").write_text("index,prediction\n0,A\n1,B\n0,A\n")
    import_mine = "result import-predictions mmbench-imported"
    said = typed(import_mine, tmp_path / "preds.csv", "mine").out.splitlines()[-1]
    assert said.startswith("file:mine has predictions for 2 items of mmbench-imported-")
    assert said.endswith("Run the job evaluate next, which scores them.")
    assert "from 3 records. 1 records are said again." in said
    assert tables.count("evaluate.predictions") == 2
    remove = "result remove-predictions mmbench-imported mine"
    assert "mine has no predictions on mmbench-imported-" in typed(remove).out
    assert tables.count("evaluate.predictions") == 0
    said = typed(remove, code=2).err.splitlines()[-1]
    assert said.startswith("There are no predictions of file:mine on mmbench-imported-")


def test_scores_of_people_are_imported_once_and_replaced_by_a_later_file(
    loom_home: Path, tmp_path: Path, typed: Typed
) -> None:
    lines = [
        {"question_id": f"1-{n}", "image_path": "", "history": [], "prompt": "What is it?"}
        | {"ref_answer": "A cat.", "task": "Meme", "category": "Perception & Understanding"}
        for n in (0, 1)
    ]
    (tmp_path / "metadata.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    typed("release import", tmp_path / "metadata.jsonl", "--benchmark=alignmmbench")
    tables = Warehouse(loom_home / "warehouse.duckdb")
    (released,) = tables.sql("SELECT release_id FROM release.releases").to_pylist()
    answer = {**released, "trial": "plain", "turn": 1, "model": "a", "status": "answered"}
    answers = [{**answer, "item_id": f"1-{n}", "answer": "A dog."} for n in (0, 1)]
    put(tables, {"evaluate.answers": answers})
    release = "alignmmbench-imported"

    def imported(text: str, code: int = 0, name: str = "scores.csv") -> str:
        (tmp_path / name).write_text(text)
        done = typed(f"result import-scores {release}", tmp_path / name, code=code)
        return str((done.err if code else done.out).splitlines()[-1])

    def scores() -> dict[tuple[str, str], float]:
        rows = tables.sql("FROM evaluate.human_scores").to_pylist()
        return {(row["item_id"], row["rater"]): row["score"] for row in rows}

    for text, refusal in (
        ("item,model,score\n9,a,1\n", "None of its 1 records is a score of an answer"),
        ("item,score\n1-0,1\n", "It has no column model"),
        ("", "it has no records"),
    ):
        told = imported(text, code=2)
        assert "cannot be imported" in told and refusal in told
    assert scores() == {}

    head = "item,model,score,rater"
    records = ["1-0,a,8,ann", "1-0,a,5,bob", "1-1,a,3,ann", "9-9,a,3,ann", "1-1,b,3,ann"]
    said = imported("\n".join([head, *records]))
    assert said.startswith(f"3 scores of 2 answers on {release}-")
    assert "from 5 records. 1 records are of an item that the release does not have." in said
    assert "1 records are of a model that has no answers on the release." in said
    first = scores()
    assert first == {("1-0", "ann"): 8, ("1-0", "bob"): 5, ("1-1", "ann"): 3}
    (source,) = tables.sql("FROM evaluate.human_score_files").to_pylist()
    assert dict(source["counts"]) == {"unknown_item": 1, "unknown_model": 1}
    of = imported_scores(tables, source["release_id"])
    assert of[AnswerKey("a", "1-0", "plain", 1)] == {"Rating": 6.5}

    # The same scores in another order.
    before = tables.fingerprint("evaluate.human_scores")
    turned = imported("\n".join([head, *records[::-1]]))
    assert "They were here already, and nothing changes." in turned
    assert tables.fingerprint("evaluate.human_scores") == before
    assert tables.count("evaluate.human_score_files") == 1
    later = {"question_id": "1-0", "model": "a", "score": 9, "rater": "bob"}
    said = imported(json.dumps(later), name="later.jsonl")
    assert "1 replace other scores or reasons by the same rater." in said
    assert scores() == {**first, ("1-0", "bob"): 9}
    assert tables.count("evaluate.human_score_files") == 2
