"""Without the extra `build` a release is imported and models are evaluated."""

from pathlib import Path

import pytest
from PIL import Image

from resources.settings.packages import EXTRA_OF
from resources.warehouse import Warehouse
from tests.e2e.running import command

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

ABSENT = f"""
from importlib.machinery import PathFinder

found = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {sorted(EXTRA_OF)!r} else found(name, path, target)

PathFinder.find_spec = find_spec
"""
"""Python runs a file of this name at its start: in the command and in all processes of it."""

REGISTRY = """
profiles: {only: {judge: judge, evaluate: [careful]}}
models:
  judge: {provider: mock, model: offline-judge}
  careful: {provider: mock, model: offline-careful}
"""


def test_models_are_evaluated(tmp_path: Path) -> None:
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "sitecustomize.py").write_text(ABSENT)
    without_build = {"PYTHONPATH": str(tmp_path / "absent")}
    home = tmp_path / "home"
    for colour in ("red", "blue"):
        Image.new("RGB", (64, 48), colour).save(tmp_path / f"{colour}.png")
    rows = [
        "index\tquestion\tA\tB\tC\tanswer\timage_path",
        "7\tWhich colour?\tred\tblue\tgreen\tA\tred.png",
        "8\tWhich colour?\tred\tblue\tgreen\tB\tblue.png",
    ]
    (tmp_path / "questions.tsv").write_text("\n".join(rows) + "\n")
    words = ["--benchmark", "mmbench", "--split", "dev", "--language", "en", "--name", "colours"]
    imported = command(
        home, "release", "import", str(tmp_path / "questions.tsv"), *words, **without_build
    )
    assert imported.returncode == 0, imported.stderr

    (tmp_path / "models.yaml").write_text(REGISTRY)
    models = {"LOOM_MODELS": str(tmp_path / "models.yaml"), "LOOM_PROFILE": "only"}
    evaluated = command(home, "run", "evaluate", **without_build, **models)

    assert evaluated.returncode == 0, evaluated.stdout + evaluated.stderr
    board = Warehouse(home / "warehouse.duckdb").select("evaluate.leaderboard").to_pylist()
    circular = [row for row in board if row["metric"] == "Circular/micro"]
    assert circular and {row["n_items"] for row in circular} == {2}
    assert "colours" in evaluated.stdout
