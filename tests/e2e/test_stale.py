"""What is out of date is seen: a changed shard, prompt or setting marks its asset, and nothing else.

The UI notices the change by itself, without a click.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.home import REPO_ROOT
from tests.e2e.running import Run
from tests.e2e.ui import Ui, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1200)]

SAMPLE = REPO_ROOT / "resources" / "sample_corpus"
PROMPTS = REPO_ROOT / "methods"

CAUSES = """
{ assetNodes { assetKey { path } partitionDefinition { name }
  staleCauses { category reason dependency { path } } } }
"""
OF_PARTITIONS = """
query ($key: AssetKeyInput!, $partition: String!) {
  assetNodeOrError(assetKey: $key) {
    ... on AssetNode { staleCauses(partition: $partition) { category reason } }
  }
}
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the corpus and of the prompts, which the tests change."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copytree(SAMPLE, folder / "corpus", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for method in PROMPTS.glob("*/prompts"):
        shutil.copytree(method, folder / "prompts" / method.parent.name)
    return folder


@pytest.fixture(scope="module")
def ui(main_job: Run, inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    home = tmp_path_factory.mktemp("stale") / "home"
    shutil.copytree(main_job.home, home)
    settings = {"LOOM_CORPUS": str(inputs / "corpus"), "LOOM_PROMPTS": str(inputs / "prompts")}
    with serving(home, **settings) as served:
        assert stale(served) == {}, "after the main job everything is as it should be"
        yield served


def test_a_changed_setting_marks_its_asset(ui: Ui) -> None:
    (ui.run.home / "settings.yaml").write_text("cluster: {image_sets: {seed: 7}}")
    assert seen(ui) == {"cluster/image_sets": ["has a new code version"]}
    (ui.run.home / "settings.yaml").unlink()
    assert seen(ui, nothing=True) == {}


def test_a_changed_prompt_marks_the_assets_that_ask_with_it(ui: Ui, inputs: Path) -> None:
    judge = inputs / "prompts" / "mmdu" / "judge.md"
    kept = judge.read_text()
    judge.write_text(kept + "\nBe strict.\n")
    # The training pairs of a critic have what the judge is sent.
    made_with = ("evaluate/judgments", "evaluate/judge_probes", "evaluate/critic_pairs")
    assert seen(ui) == dict.fromkeys(made_with, ["has a new code version"])
    judge.write_text(kept)
    assert seen(ui, nothing=True) == {}


def test_a_changed_shard_marks_its_partition_alone(ui: Ui, inputs: Path) -> None:
    shard = inputs / "corpus" / "shards" / "sample-a.tsv"
    lines = shard.read_text().splitlines(keepends=True)
    shard.write_text("".join(lines[:-1]))
    ui.until(lambda: bool(of_shard(ui, "sample-a")))
    assert of_shard(ui, "sample-a") == ["has a new data version"]
    assert of_shard(ui, "sample-b") == []


def seen(ui: Ui, *, nothing: bool = False) -> dict[str, list[str]]:
    """What is stale, once something is, or once nothing is any more."""
    ui.until(lambda: bool(stale(ui)) != nothing)
    return stale(ui)


def stale(ui: Ui) -> dict[str, list[str]]:
    """Assets without partitions that are stale, and why."""
    return {
        "/".join(node["assetKey"]["path"]): [cause["reason"] for cause in node["staleCauses"]]
        for node in ui.ask(CAUSES)["assetNodes"]
        if node["staleCauses"]
    }


def of_shard(ui: Ui, shard: str) -> list[str]:
    """Why a shard's rows are stale."""
    node = ui.ask(OF_PARTITIONS, key={"path": ["ingest", "wit_rows"]}, partition=shard)
    return [cause["reason"] for cause in node["assetNodeOrError"]["staleCauses"]]
