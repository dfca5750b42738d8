"""Evaluating a few items, imports of predictions and of people's scores, and what results print."""

import json
import re
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from PIL import Image

from assets.evaluate.human_scores import import_scores as import_file
from assets.evaluate.human_scores import imported_scores, stored_scores
from dagster_project import run
from dagster_project.job_runs import run_job
from dagster_project.results import leaderboard_rows, power_of, show_costs, show_results
from methods.evaluation.judge_quality import AnswerKey
from resources.publishing.releases import ReleaseError
from resources.publishing.result_files import ReleaseResults, ResultError
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.dagster_project.conftest import Typed
from tests.dagster_project.test_dry_run import rows

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
def imported(
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


@pytest.mark.slow
def test_a_few_items_are_priced_and_tried_and_every_table_says_that_it_is_partial(
    imported: Warehouse, typed: Typed, monkeypatch: pytest.MonkeyPatch
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
    costs = imported.select("ledger.costs").to_pylist()
    assert {row["stage"]: row["cost_usd"] for row in costs} == pytest.approx(first, abs=1e-4)


def paid(output: str) -> dict[str, float]:
    lines = re.findall(r"^(evaluate\.\w+) .* (\d+\.\d{4})$", output, re.MULTILINE)
    found: dict[str, float] = {}
    for stage, dollars in lines:
        found[stage] = found.get(stage, 0) + float(dollars)
    return found


@pytest.mark.slow
def test_a_file_of_predictions_is_imported_and_removed_by_runs_that_the_ui_lists(
    imported: Warehouse, typed: Typed, tmp_path: Path
) -> None:
    (tmp_path / "preds.csv").write_text("index,prediction\n0,A\n1,B\n0,A\n")
    import_mine = "result import-predictions mmbench-imported"
    said = typed(import_mine, tmp_path / "preds.csv", "mine").out.splitlines()[-1]
    assert said.startswith("file:mine has predictions for 2 items of mmbench-imported-")
    assert said.endswith("Run the job evaluate next, which scores them.")
    assert "from 3 records. 1 records are said again." in said
    assert imported.count("evaluate.predictions") == 2
    remove = "result remove-predictions mmbench-imported mine"
    assert "mine has no predictions on mmbench-imported-" in typed(remove).out
    assert imported.count("evaluate.predictions") == 0
    said = typed(remove, code=2).err.splitlines()[-1]
    assert said.startswith("There are no predictions of file:mine on mmbench-imported-")


@pytest.mark.slow
def test_scores_of_people_are_imported_once_and_replaced_by_a_later_file(
    loom_home: Path, tmp_path: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"question_id": f"1-{n}", "image_path": "", "history": [], "prompt": "What is it?"}
        | {"ref_answer": "A cat.", "task": "Meme", "category": "Perception & Understanding"}
        for n in (0, 1)
    ]
    # The first turn of the last item is given; the second has no answer.
    history = {"history": [{"user": "Is it a cat?", "assistant": "No."}], "ref_answer": ""}
    lines.append({**lines[0], "question_id": "2-0", **history})
    (tmp_path / "metadata.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    said = typed("release import", tmp_path / "metadata.jsonl", "--benchmark=alignmmbench").out
    assert "; 1 of 3 have no answer to be scored by." in said
    tables = Warehouse(loom_home / "warehouse.duckdb")
    (released,) = tables.sql("SELECT release_id FROM release.releases").to_pylist()
    answer = {**released, "trial": "plain", "turn": 1, "model": "a", "status": "answered"}
    answers = [{**answer, "item_id": f"1-{n}", "answer": "A dog."} for n in (0, 1)]
    put(tables, {"evaluate.answers": answers})
    release = "alignmmbench-imported"

    def import_scores(text: str, code: int = 0, name: str = "scores.csv") -> str:
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
        told = import_scores(text, code=2)
        assert "cannot be imported" in told and refusal in told
    assert scores() == {}

    head = "item,model,score,rater"
    records = ["1-0,a,8,ann", "1-0,a,5,bob", "1-1,a,3,ann", "9-9,a,3,ann", "1-1,b,3,ann"]
    said = import_scores("\n".join([head, *records]))
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
    turned = import_scores("\n".join([head, *records[::-1]]))
    assert "They were here already, and nothing changes." in turned
    assert tables.fingerprint("evaluate.human_scores") == before
    assert tables.count("evaluate.human_score_files") == 1
    later = {"question_id": "1-0", "model": "a", "score": 9, "rater": "bob"}
    for n_files, of in enumerate(({}, {"reason": "It is short."}, {"reason": "It is wrong."}), 2):
        said = import_scores(json.dumps({**later, **of}), name="later.jsonl")
        assert "1 replace other scores or reasons by the same rater." in said
        assert scores() == {**first, ("1-0", "bob"): 9}
        assert tables.count("evaluate.human_score_files") == n_files
    # A reason stays with its score.
    for score, reason in ((9, "It is wrong."), (7, None)):
        import_scores(f"{head}\n1-0,a,{score},bob\n")
        stored = tables.select("evaluate.human_scores", rater="bob").to_pylist()
        assert [(row["score"], row["reason"]) for row in stored] == [(score, reason)]

    # Two imports at once keep the scores of both.
    both_have_read = threading.Barrier(2)

    def read_and_wait(*values: Any) -> object:
        stored = stored_scores(*values)
        with suppress(threading.BrokenBarrierError):
            both_have_read.wait(timeout=0.5)
        return stored

    def import_score_of(rater: str) -> None:
        file = tmp_path / f"{rater}.csv"
        file.write_text(f"{head}\n1-1,a,8,{rater}\n")
        import_file(tables, release, file)

    earlier = scores()
    monkeypatch.setitem(import_file.__globals__, "stored_scores", read_and_wait)
    other = threading.Thread(target=import_score_of, args=("cid",))
    other.start()
    import_score_of("dan")
    other.join()
    assert scores() == earlier | {("1-1", "cid"): 8, ("1-1", "dan"): 8}


PLACE = {"judge": "j", "judge_version": "v", "metric": "Overall Score", "aggregation": "micro"}
PLACE |= {"form": "floor"}
SCORE = PLACE | {"benchmark": "mmdu", "place": 0, "subset_label": "", "model": "a"}


def pair(first: str, detectable: float, n_clusters: int = 30) -> dict[str, Any]:
    of = {"first": first, "second": "z", "method": "m"}
    return PLACE | of | {"detectable": detectable, "n_clusters": n_clusters}


NEVER = "9999-01-01T00:00:00.000+00:00"
"""A start after all calls."""
NONE = pa.table({})


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Pairs of models of a release of MMDU, whose scores are from 10 to 100."""
    pairs: list[dict[str, Any]] = []
    monkeypatch.setattr("resources.publishing.releases.release_meant", lambda _, release: release)
    monkeypatch.setattr(
        "resources.publishing.result_files.read_results",
        lambda *_: ReleaseResults(
            pa.Table.from_pylist([SCORE]), pa.Table.from_pylist(pairs), NONE, NONE, NONE
        ),
    )
    return pairs


@pytest.mark.parametrize("difference", [90.1, 500, 1e308])
def test_a_difference_that_no_two_models_can_have_is_refused(given, difference: float) -> None:
    given.append(pair("a", 5.0))
    with pytest.raises(ResultError, match=r"at most 90 apart in Overall Score.* from 10 to 100"):
        power_of("r", difference, 1)
    assert "a true difference of 90 is found" in power_of("r", 90, 1)


def test_one_pair_that_needs_more_than_can_be_counted_leaves_the_others_theirs(given) -> None:
    given += [pair("a", 4.0), pair("a2", 4.0), pair("b", 6.0), pair("c", 1e6)]
    # A baseline, and a row of an earlier version, are no pilots.
    given += [{**pair("d", 0.5), "second": "baseline:empty"}, {**pair("e", 0.5), "method": None}]
    said = power_of("r", 4.0, 1)
    # The first pair shows 4 on the 30 that it has.
    assert "(30 to more than 10,000,000 by pair of models)" in said
    middle = int(said.split(" independent")[0].rpartition(" ")[2])
    assert 60 <= middle <= 68 and "r has 30 and shows 6.00 (4.00 to " in said
    given[:] = [pair("c", 1e6)]
    assert "on more than 10,000,000 independent" in power_of("r", 4.0, 1)


def test_the_number_has_the_interval_of_its_pilot_and_is_larger_for_more_comparisons(given) -> None:
    given.append(pair("a", 4.0))
    text = power_of("r", 4.0, 1)
    # The variance is 0.54 to 2.44 times that of 30 clusters, and the number about as many times 30.
    assert "on 30 independent dialogues" in text and "two models by themselves" in text
    assert "an estimate from 30: the 95% interval of the number is 18 to 69." in text
    of_ten = power_of("r", 4.0, 10)
    assert "p < 0.05 after Holm's adjustment for 10 comparisons" in of_ten
    # With the quantile t_{1 - 0.005/2}, 3.04, in place of t_{1 - 0.05/2}, 2.05.
    assert "on 51 independent dialogues" in of_ten and "r has 30 and shows 5.42" in of_ten


def test_results_that_were_lost_are_counted_where_their_release_is_in_force(tables, capsys):
    lost = {"model": "m", "asked": "m", "stage": "answers", "why": "9 unreachable \x1b]0;x\x07"}
    lacking = [{**lost, "release_id": each} for each in ("now", "earlier")]
    lacking.append({**lacking[0], "asked": "j"})
    current = [{"name": "mmdu", "release_id": "now"}]
    put(tables, {"release.current": current, "evaluate.missing": lacking})
    assert show_results([]) == 2
    printed = capsys.readouterr().out
    assert "m on now: the results of answers were not taken" in printed
    assert "m on now with j: the results of answers" in printed
    assert "\x1b" not in printed


def test_one_release_is_shown_in_force_or_not(tables, capsys):
    names = {"now": "mmdu-now", "earlier": "mmdu-earlier"}
    score = {
        **{"place": 0, "form": "floor", "subset_label": "", "subset_value": ""},
        **{"judge": "rule", "value": 50.0, "ci_low": 40.0, "ci_high": 60.0, "n_turns": 9},
    }
    releases = [
        {"release_id": each, "name": "mmdu", "kind": "benchmark", "origin": "imported"}
        | {"review_policy": "none"}
        for each in names.values()
    ]
    scores = [
        {**score, "release_id": release_id, "model": f"model-{when}"}
        for when, release_id in names.items()
    ]
    current = {"release.current": releases[:1], "evaluate.scores": scores}
    put(tables, {"release.releases": releases, **current})
    for said, shown in (("", "now"), ("mmdu", "now"), ("mmdu-earl", "earlier")):
        show_results([], said)
        printed = capsys.readouterr().out
        assert [when for when in names if f"model-{when}" in printed] == [shown]
        assert [row["release"] for row in leaderboard_rows(said)] == [names[shown]]
    with pytest.raises(ReleaseError, match="There is no release mmbench; "):
        show_results([], "mmbench")
    # By the judges of the profile, whose versions are named where there are two.
    judges = (("panel", "v"), ("j", "v"), ("k", "v"), ("k", "w"), ("other", "v"))
    rows = [{**scores[0], "judge": judge, "judge_version": version} for judge, version in judges]
    put(tables, {"evaluate.scores": rows})
    show_results(["j", "k"])
    named = re.findall(r"judge (.+), provider", capsys.readouterr().out)
    assert sorted(named) == ["j", "k v", "k w", "panel"]
    put(tables, {"evaluate.scores": []})
    for said, named in (("", "the current releases"), ("mmdu", "the release mmdu")):
        show_results([], said)
        sentence = f"There are no scores of {named}: run vlm-loom run evaluate."
        assert capsys.readouterr().out.strip() == sentence


def test_costs_of_a_run_name_candidates_by_labels_and_have_answers_that_came_in_a_batch_during_it(
    tables: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two entries of one model, whose calls have the model's name alone, and a judge."""
    answers = [
        {"model": name, "release_id": "r", "item_id": "i", "turn": 1, "status": "refused"}
        | {"call_key": name, "settings": [("model", "m"), ("temperature", temperature)]}
        for name, temperature in (("cold", "0"), ("warm", "0.7"))
    ]
    # On another release this entry is alone and needs no longer name.
    answers.append({**answers[0], "release_id": "s", "call_key": "elsewhere"})
    judgment = {"release_id": "r", "item_id": "i", "judge": "strict", "call_key": "other"}
    # A call that gave nothing, by a judge that is no candidate.
    failures = [
        {"stage": "judgments", "item_id": "k", "asked": "judge-2", "call_key": "lost"},
        {"stage": "answers", "item_id": "k", "asked": "cold", "call_key": "cold failed"}
        | {"release_id": "r"},
    ]

    def call(key: str, model: str = "m", via: str = "live", day: int = 2) -> dict[str, Any]:
        made = {"key": key, "model": model, "run": "run-1", "stage": "evaluate.answers", "via": via}
        made |= {"status": "answered", "seconds": 1.0, "attempts": 1, "cost_usd": 0.5}
        return made | {"created_at": datetime(2026, 3, day, tzinfo=UTC)}

    calls = [call("cold"), call("warm"), call("other", "judge"), call("lost", "judge")]
    calls.append(call("cold failed"))
    tables_of_run = {"evaluate.judgments": [judgment], "ledger.calls": calls}
    put(tables, {"evaluate.answers": answers, "evaluate.failed": failures, **tables_of_run})
    show_costs("run-1", NEVER)
    rows = [re.split(" {2,}", line)[1] for line in capsys.readouterr().out.splitlines()[2:-1]]
    assert {*rows} == {"cold (T=0)", "judge-2", "strict", "warm (T=0.7)"}
    show_costs("run-2", NEVER)
    assert capsys.readouterr().out == "\nNo answer of a model was paid for in this run.\n"

    # An earlier run's batch came during the run.
    later = (("batch", 1), ("live", 3), ("batch", 3))
    calls = [call(f"{via} {day}", "m", via, day) for via, day in later]
    generation = {**call("generation", via="batch", day=3), "stage": "dialogue.answers"}
    put(tables, {"ledger.calls": [*calls, generation]})
    show_costs("run-2", "2026-03-02T00:00:00.000+00:00")
    *_, total = capsys.readouterr().out.splitlines()
    assert (total.split()[1], total.split()[-1]) == ("1", "0.5000")
