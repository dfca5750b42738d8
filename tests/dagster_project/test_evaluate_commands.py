"""Trying an evaluation small: its price before and after, some items first, then the rest."""

import re
import shutil
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import dagster as dg
import pytest
from PIL import Image

from dagster_project import run
from dagster_project.job_runs import run_job
from resources.warehouse import Warehouse
from tests.dagster_project.conftest import Commanded
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


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, commanded: Commanded) -> Path:
    """A home with an imported release, and a profile that only evaluates; not to be changed."""
    folder = tmp_path_factory.mktemp("small")
    Image.new("RGB", (20, 10), "red").save(folder / "red.png")
    header = "index\tquestion\tA\tB\tanswer\tcategory\timage_path"
    lines = [
        f"{n}\tWhich {n}?\tred\tblue\tA\t{'ocr' if n % 2 else 'celebrity_recognition'}\tred.png"
        for n in range(N_ITEMS)
    ]
    (folder / "q.tsv").write_text("\n".join([header, *lines]) + "\n")
    (folder / "models.yaml").write_text(REGISTRY)
    wanted = ("release", "import", str(folder / "q.tsv"), "--benchmark", "mmbench")
    done = commanded(folder / "home", *wanted, **settings(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(base: Path, tmp_path: Path) -> Path:
    shutil.copytree(base, tmp_path, dirs_exist_ok=True)
    return tmp_path


def settings(folder: Path) -> dict[str, str]:
    return {"LOOM_MODELS": str(folder / "models.yaml"), "LOOM_PROFILE": "only"}


def test_a_profile_that_only_evaluates_is_priced(folder: Path, commanded: Commanded) -> None:
    done = commanded(folder / "home", "dry-run", "--limit", "2", **settings(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    told = rows(done.stdout)
    assert {stage for stage, _ in told} <= {
        *("evaluate.answers", "evaluate.second_readings", "all"),
    }
    # Each item is asked once in each order of its choices.
    assert told["evaluate.answers", "careful"][0] == 2 * N_CHOICES
    assert told["evaluate.answers", "careful"][4] > 0, "dollars"


def test_a_few_items_are_tried_the_price_is_printed_and_every_table_says_that_it_is_partial(
    folder: Path, commanded: Commanded, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_few(job: dg.JobDefinition, *given: Any, **more: Any) -> dg.ExecuteInProcessResult:
        few = {"assets": PRINTED} if job.name == "evaluate" else {}
        return run_job(job, *given, **more, **few)

    monkeypatch.setattr(run, "run_job", run_few)
    tables = Warehouse(folder / "home" / "warehouse.duckdb")
    done = commanded(folder / "home", "run", "evaluate", "--limit", "2", **settings(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"*: careful: 2 of {N_ITEMS} items were asked." in done.stdout
    shown = commanded(folder / "home", "release", "show", "mmbench-imported", **settings(folder))
    assert f"careful is partial: 2 of {N_ITEMS} items were asked." in shown.stdout
    exported = commanded(
        *(folder / "home", "result", "export", "mmbench-imported", "--as", "submission"),
        **settings(folder),
    )
    assert f"careful is partial: 2 of {N_ITEMS} items were asked." in exported.stdout
    first = paid(done.stdout)
    assert first["evaluate.answers"] > 0
    costs = tables.select("ledger.costs").to_pylist()
    assert {row["stage"]: row["cost_usd"] for row in costs} == pytest.approx(first, abs=1e-4)


def test_a_file_of_predictions_is_imported_and_removed_by_runs_that_the_ui_lists(
    folder: Path, commanded: Commanded
) -> None:
    tables = Warehouse(folder / "home" / "warehouse.duckdb")
    (folder / "preds.csv").write_text("index,prediction\n0,A\n1,B\n0,A\n")

    def result(name: str, *words: str) -> CompletedProcess[str]:
        return commanded(folder / "home", "result", name, "mmbench-imported", *words)

    done = result("import-predictions", str(folder / "preds.csv"), "mine")
    said = done.stdout.splitlines()[-1]
    assert said.startswith("file:mine has predictions for 2 items of mmbench-imported-")
    assert said.endswith("Run the job evaluate next, which scores them.")
    assert "from 3 records. 1 records are said again." in said
    assert (done.returncode, tables.count("evaluate.predictions")) == (0, 2)

    done = result("remove-predictions", "mine")
    assert "mine has no predictions on mmbench-imported-" in done.stdout
    assert (done.returncode, tables.count("evaluate.predictions")) == (0, 0)
    done = result("remove-predictions", "mine")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "There are no predictions of file:mine on mmbench-imported-"
    )


def paid(output: str) -> dict[str, float]:
    """Dollars by stage."""
    lines = re.findall(r"^(evaluate\.\w+) .* (\d+\.\d{4})$", output, re.MULTILINE)
    found: dict[str, float] = {}
    for stage, dollars in lines:
        found[stage] = found.get(stage, 0) + float(dollars)
    return found
