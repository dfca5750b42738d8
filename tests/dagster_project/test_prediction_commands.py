"""The commands on predictions, as a person types them."""

import shutil
from pathlib import Path

import pytest
from PIL import Image

from dagster_project.cli import main as loom
from resources.warehouse import Warehouse
from tests.dagster_project.conftest import import_into

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a release of two questions; not to be changed."""
    folder = tmp_path_factory.mktemp("predicted")
    Image.new("RGB", (20, 10), "red").save(folder / "red.png")
    rows = ["index\tquestion\tA\tB\tanswer\timage_path"]
    rows += [f"{n}\tWhich {n}?\tred\tblue\tA\tred.png" for n in (1, 2)]
    (folder / "q.tsv").write_text("\n".join(rows) + "\n")
    (folder / "preds.csv").write_text("index,prediction\n1,A\n2,B\n1,A\n")
    import_into(folder / "home", str(folder / "q.tsv"), "--benchmark", "mmbench")
    return folder


@pytest.fixture
def folder(base: Path, loom_home: Path) -> Path:
    return Path(shutil.copytree(base, loom_home.parent, dirs_exist_ok=True))


def n_rows(folder: Path) -> int:
    return Warehouse(folder / "home" / "warehouse.duckdb").count("evaluate.predictions")


def test_a_file_is_imported_and_removed_by_runs_that_the_ui_lists(folder: Path, capsys) -> None:
    given = ["mmbench-imported", str(folder / "preds.csv"), "mine"]
    assert loom(["result", "import-predictions", *given]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("file:mine has predictions for 2 items of mmbench-imported-")
    assert said.endswith("Run the job evaluate next, which scores them.")
    assert "from 3 records. 1 records are said again." in said
    assert n_rows(folder) == 2

    assert loom(["result", "remove-predictions", "mmbench-imported", "mine"]) == 0
    assert "mine has no predictions on mmbench-imported-" in capsys.readouterr().out
    assert n_rows(folder) == 0
    assert loom(["result", "remove-predictions", "mmbench-imported", "mine"]) == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith("There are no predictions of file:mine on mmbench-imported-")
    )
