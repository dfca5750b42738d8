"""The page of dialogues at a shape: their figures beside the paper's, and what they would cost."""

import re
from pathlib import Path

import pytest

from dagster_project.cli import main as loom
from tests.assets.corpus import mini_corpus
from tests.dagster_project.conftest import Commanded
from tests.dagster_project.test_dry_run import REGISTRY

pytestmark = pytest.mark.slow

SETTINGS = """
cluster: {image_sets: {benchmark_sizes: [3], instruction_sizes: [2]}}
dialogue: {questions: {per_image: 1, per_set: {benchmark: 12, instruction: [5, 7]}}}
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope.yaml", "dialogue-shape: --settings: Path '{file}' does not exist."),
        ("words.yaml", "{file}: "),
    ],
)
def test_a_wrong_settings_file_is_named(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "words.yaml").write_text("root:x:0:0:root:/root:/bin/bash")
    file = str(tmp_path / name)
    assert loom(["dialogue-shape", "--settings", file]) == 2
    assert message.format(file=file) in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.slow
def test_a_page_has_figures_of_both_kinds_and_costs_of_the_papers_numbers(
    tmp_path: Path, commanded: Commanded
) -> None:
    (tmp_path / "models.yaml").write_text(REGISTRY)
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    page = tmp_path / "page.md"

    done = commanded(
        tmp_path / "home",
        *("dialogue-shape", "--settings", str(tmp_path / "settings.yaml"), "--out", str(page)),
        LOOM_MODELS=str(tmp_path / "models.yaml"),
        LOOM_PROFILE="p",
        LOOM_CORPUS=str(mini_corpus(tmp_path / "corpus").folder),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "home").exists(), "it is in a home that is thrown away"
    text = page.read_text()
    benchmark, instruction = text.split("## Cost")[0].split("## Instruction")
    # Two sets of three images; a question about each, twelve about all.
    assert "2 dialogues" in benchmark and "| Turns, mean | 15 | 15.0 |" in benchmark
    assert "| Questions on several images | 62.9 % | 80.0 % |" in benchmark
    assert "2 dialogues" in instruction and "| Images, most | 5 | 2 |" in instruction
    costs = text.split("## Cost")[1]
    assert "110 dialogues (benchmark)" in costs and "45,000 dialogues (instruction)" in costs
    row = re.search(r"\| dialogue.answers \| w \| (.*) \|\n", costs)
    # Each of 110 dialogues: one call for each of three and twelve answers of 750 tokens.
    assert row is not None and row[1].split(" | ")[0] == "1,650"
    assert row[1].split(" | ")[2] == f"{110 * 15 * 750:,}"
