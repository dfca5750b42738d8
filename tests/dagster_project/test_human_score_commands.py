"""The command that imports scores of people, as a person types it."""

import json
import shutil
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from assets.evaluate.human_scores import import_scores, imported_scores, stored_scores
from dagster_project.cli import main as loom
from methods.evaluation.judge_quality import AnswerKey
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.dagster_project.conftest import import_into

pytestmark = pytest.mark.slow

RELEASE = "alignmmbench-imported"
FIRST = "item,model,score,rater\n1-0,a,8,ann\n1-0,a,5,bob\n1-1,a,3,ann\n9-9,a,3,ann\n1-1,b,3,ann\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a release of two questions and the answers of one model; not to be changed."""
    folder = tmp_path_factory.mktemp("scored")
    lines = [
        {"question_id": f"1-{n}", "image_path": "", "history": [], "prompt": "What is it?"}
        | {"ref_answer": "A cat.", "task": "Meme", "category": "Perception & Understanding"}
        for n in (0, 1)
    ]
    (folder / "metadata.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    import_into(folder / "home", str(folder / "metadata.jsonl"), "--benchmark", "alignmmbench")
    warehouse = warehouse_of(folder)
    (released,) = warehouse.sql("SELECT release_id FROM release.releases").to_pylist()
    answer = {**released, "trial": "plain", "turn": 1, "model": "a", "status": "answered"}
    answers = [{**answer, "item_id": f"1-{n}", "answer": "A dog."} for n in (0, 1)]
    put(warehouse, {"evaluate.answers": answers})
    return folder


@pytest.fixture
def folder(base: Path, loom_home: Path) -> Path:
    return Path(shutil.copytree(base, loom_home.parent, dirs_exist_ok=True))


def warehouse_of(folder: Path) -> Warehouse:
    return Warehouse(folder / "home" / "warehouse.duckdb")


def imported(file: Path) -> int:
    return loom(["result", "import-scores", RELEASE, str(file)])


def scores(folder: Path) -> dict[tuple[str, str], float]:
    rows = warehouse_of(folder).sql("FROM evaluate.human_scores").to_pylist()
    return {(row["item_id"], row["rater"]): row["score"] for row in rows}


def test_scores_are_imported_once_and_replaced_by_a_later_file(folder: Path, capsys) -> None:
    (folder / "scores.csv").write_text(FIRST)
    assert imported(folder / "scores.csv") == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith(f"3 scores of 2 answers on {RELEASE}-")
    assert "from 5 records. 1 records are of an item that the release does not have." in said
    assert "1 records are of a model that has no answers on the release." in said
    first = scores(folder)
    assert first == {("1-0", "ann"): 8, ("1-0", "bob"): 5, ("1-1", "ann"): 3}
    (source,) = warehouse_of(folder).sql("FROM evaluate.human_score_files").to_pylist()
    assert dict(source["counts"]) == {"unknown_item": 1, "unknown_model": 1}
    of = imported_scores(warehouse_of(folder), source["release_id"])
    assert of[AnswerKey("a", "1-0", "plain", 1)] == {"Rating": 6.5}

    # The same scores in another order.
    before = warehouse_of(folder).fingerprint("evaluate.human_scores")
    head, *records = FIRST.splitlines()
    (folder / "turned.csv").write_text("\n".join([head, *records[::-1]]) + "\n")
    assert imported(folder / "turned.csv") == 0
    assert "They were here already, and nothing changes." in capsys.readouterr().out
    assert warehouse_of(folder).fingerprint("evaluate.human_scores") == before
    assert warehouse_of(folder).count("evaluate.human_score_files") == 1

    later = [{"question_id": "1-0", "model": "a", "score": 9, "rater": "bob"}]
    (folder / "later.jsonl").write_text("\n".join(map(json.dumps, later)))
    assert imported(folder / "later.jsonl") == 0
    assert "1 replace other scores or reasons by the same rater." in capsys.readouterr().out
    assert scores(folder) == {**first, ("1-0", "bob"): 9}
    assert warehouse_of(folder).count("evaluate.human_score_files") == 2


def test_two_imports_at_once_keep_the_scores_of_both(folder: Path, monkeypatch) -> None:
    both_have_read = threading.Barrier(2)

    def read_and_wait(warehouse: Warehouse, release_id: str) -> object:
        stored = stored_scores(warehouse, release_id)
        with suppress(threading.BrokenBarrierError):
            both_have_read.wait(timeout=0.5)
        return stored

    def imported_by(rater: str) -> None:
        file = folder / f"{rater}.csv"
        file.write_text(f"item,model,score,rater\n1-0,a,8,{rater}\n")
        import_scores(warehouse_of(folder), RELEASE, file)

    monkeypatch.setitem(import_scores.__globals__, "stored_scores", read_and_wait)
    other = threading.Thread(target=imported_by, args=("bob",))
    other.start()
    imported_by("ann")
    other.join()
    assert scores(folder) == {("1-0", "ann"): 8, ("1-0", "bob"): 8}


def test_a_file_that_cannot_be_taken_is_one_sentence(folder: Path, capsys) -> None:
    for text, said in (
        ("item,model,score\n9,a,1\n", "None of its 1 records is a score of an answer"),
        ("item,score\n1-0,1\n", "It has no column model"),
        ("", "it has no records"),
    ):
        (folder / "scores.csv").write_text(text)
        assert imported(folder / "scores.csv") == 2
        told = capsys.readouterr().err.splitlines()[-1]
        assert "cannot be imported" in told and said in told
    assert scores(folder) == {}
