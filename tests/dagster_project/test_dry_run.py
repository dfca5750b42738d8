"""A dry run tells what the main job would ask and cost, and asks and writes nothing; dialogue-shape."""

import re
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dagster_project import dry_run
from dagster_project.dry_run import copied_workspace, workspace_at
from resources.files import object_storage as shared_files
from resources.files.home import home
from resources.stores import address
from resources.warehouse import lake_connection
from resources.warehouse.configured import warehouse_of_home
from tests.assets.corpus import mini_corpus
from tests.assets.filled import put
from tests.dagster_project.conftest import Commanded, Typed
from tests.doubles.remembering_embedder import RememberingEmbedder

pytestmark = pytest.mark.slow

REGISTRY = """
profiles: {p: {writer: w, judge: j, evaluate: [a, "no-images:a"]}}
models:
  w: {provider: openai, api_key_env: NOBODY_HAS_IT, base_url: "http://127.0.0.1:9/v1", price: {prompt: 1, completion: 10}}
  j: {provider: openai, api_key_env: NOBODY_HAS_IT, base_url: "http://127.0.0.1:9/v1", mode: batch, price: {prompt: 2, completion: 4}}
  a: {provider: openai, api_key_env: NOBODY_HAS_IT, base_url: "http://127.0.0.1:9/v1"}
"""  # noqa: E501
SETTINGS = """
dialogue:
  questions: {per_image: 1, per_set: 3}
  instructions: {n_instructions: 1}
choice:
  items: {n_items: 3}
  mmiu_items: {n_derived: 1, tasks: [multiple-image-captioning], unanswerable_per_task: 1}
rewrite:
  rewrites: {n_rewrites: 1}
  seeds: {n_seeds: 1}
  seed_rewrites: {n_rewrites: 1, n_spare: 0}
  contexts: {n_dialogues: 1}
"""
"""A few items of each kind: every stage asks something."""


def rows(output: str) -> dict[tuple[str, str], list[float]]:
    """(stage, model) -> calls, reused, prompt tokens, answer tokens, likely and highest cost."""
    found = {}
    for line in output.splitlines():
        match = re.fullmatch(r"([a-z]+\.[a-z_]+|all) +([a-z:-]*) +((?:[\d.,]+ *){6})", line)
        if match:
            numbers = [float(number.replace(",", "")) for number in match[3].split()]
            found[match[1], match[2]] = numbers
    return found


def vectors_without_a_model(_: object, texts: Sequence[str]) -> NDArray[np.float32]:
    """A direction for each text: a dry run counts calls, whatever texts are near to each other."""
    drawn = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=8) for text in texts]
    vectors = np.reshape(drawn, (len(texts), 8)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def times(home: Path) -> dict[Path, int]:
    """When each file of the home was written; looking at the ledger makes one for its locks."""
    files = (path for path in home.rglob("*") if path.is_file())
    return {path: path.stat().st_mtime_ns for path in files if path.suffix != ".flights"}


def test_a_home_without_image_sets_begins_with_each_shard_and_its_clusters(
    loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loom_home.mkdir()
    (tmp_path / "corpus").mkdir()
    for name in ("a", "b"):
        (tmp_path / "corpus" / f"{name}.tsv").touch()
    monkeypatch.setenv("LOOM_CORPUS", str(tmp_path / "corpus"))
    first, second, third, *later = dry_run._runs()
    assert [first, second] == [("ingest", "a", None), ("ingest", "b", None)]
    assert third == ("cluster", None, None)
    put(warehouse_of_home(), {"cluster.image_sets": [{"set_id": "s", "kind": "benchmark"}]})
    assert dry_run._runs() == later


def test_it_tells_calls_tokens_and_dollars_by_stage_and_model_and_asks_and_leaves_nothing(
    small_home: Path, tmp_path: Path, commanded: Commanded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a home with three image sets, for models whose servers and keys are not there."""
    home = Path(shutil.copytree(small_home, tmp_path / "home"))
    (home / "settings.yaml").write_text(SETTINGS)
    (tmp_path / "models.yaml").write_text(REGISTRY)
    before = times(home)
    monkeypatch.setattr(RememberingEmbedder, "encode", vectors_without_a_model)
    models = {"LOOM_MODELS": str(tmp_path / "models.yaml"), "LOOM_PROFILE": "p"}
    done = commanded(home, "dry-run", **models)
    assert done.returncode == 0, done.stdout + done.stderr
    assert times(home) == before
    told = rows(done.stdout)
    # Rules read all letters of the mock model, and of a real model perhaps none.
    *none, extraction = told.pop(("evaluate.answers", "j"))
    assert none == [0] * 5 and extraction > 0
    letters = r"evaluate.answers asks j up to ([\d,]+) times more, where no rule"
    n_letters = re.search(letters, done.stdout)
    assert n_letters and int(n_letters[1].replace(",", "")) > 0

    assert list(dict.fromkeys(stage for stage, _ in told)) == [
        *("dialogue.summaries", "dialogue.instructions", "dialogue.questions"),
        *("dialogue.three_turns", "dialogue.answers", "dialogue.turn_references"),
        *("rewrite.rewrites", "rewrite.contexts", "rewrite.seeds", "rewrite.seed_rewrites"),
        *("choice.items", "choice.mmiu_items", "choice.translations", "quality.checks"),
        # The last are letters that a rule has read, a few of them.
        *("evaluate.answers", "evaluate.judgments", "evaluate.second_readings", "all"),
    ]
    candidates = {name for stage, name in told if stage == "evaluate.answers"}
    assert candidates == {"a", "no-images:a"}
    judges = {
        name for stage, name in told if stage in ("evaluate.judgments", "evaluate.second_readings")
    }
    assert judges == {"j"}
    assert all(name == "w" for stage, name in told if not stage.startswith(("evaluate", "all")))
    for (stage, _), (calls, _, prompt, answer, likely, at_most) in told.items():
        assert calls > 0 and prompt > 0 and likely <= at_most
        if stage == "dialogue.summaries":
            assert answer == 180 * calls, "120 words were asked for"
        elif stage == "dialogue.questions":
            assert calls * 47 <= answer <= calls * 3 * 47, "31 words for each of one to 3 questions"
        elif stage == "dialogue.answers":
            assert answer == 750 * calls, "500 words for each question"
        elif stage == "evaluate.answers":
            # Nothing was ever answered here: a dialogue's answer counts as 500 tokens, a letter as 15.
            assert (answer - 15 * calls) % (500 - 15) == 0 and 15 * calls < answer < 500 * calls
        elif stage == "evaluate.second_readings":
            assert answer == 15 * calls, "a letter was asked for"
        elif stage != "all":
            assert answer == 500 * calls
    calls, _, prompt, answer, likely, _ = told["dialogue.answers", "w"]
    assert likely == pytest.approx((prompt * 1 + answer * 10) / 1e6, abs=5e-5)
    calls, _, prompt, answer, likely, _ = told["evaluate.judgments", "j"]
    assert likely == pytest.approx((prompt * 2 + answer * 4) / 2e6, abs=5e-5), "half in batches"
    n_asked = told["evaluate.answers", "a"][0]
    # Without images, two turns with the same words are the same request.
    assert 0 < told["evaluate.answers", "no-images:a"][0] <= n_asked
    # All turns of dialogues are judged, two answers to each; letters are read by rule. Conversations
    # of three turns are compared in both orders, each turn and the whole.
    assert calls % 2 == 0
    assert calls / 2 < 2 * n_asked
    parts = [row for (stage, _), row in told.items() if stage != "all"]
    totals = [sum(column) for column in zip(*parts, strict=True)]
    assert told["all", ""][:4] == totals[:4]
    assert told["all", ""][5] == pytest.approx(totals[5] + extraction, abs=1e-3)


def test_a_wrong_file_of_the_home_is_named_where_it_is_and_no_table_follows(loom_home, refused):
    loom_home.mkdir()
    answers = "settings.yaml: evaluate.answers.context_policy is 'trunc', but "
    for name, text, said in (
        ("review.yaml", "default: {sample: 7}", "review.yaml"),
        ("settings.yaml", "evaluate: {answers: {context_policy: trunc}}", answers),
    ):
        (loom_home / name).write_text(text)
        assert f"{loom_home}/{said}" in refused("dry-run")
        (loom_home / name).unlink()


def test_the_copy_has_the_settings_and_rules_of_the_home_and_the_home_is_the_homes_again(loom_home):
    loom_home.mkdir()
    written = {
        "settings.yaml": "cluster: {clusters: {tau: 0.6}}",
        "review.yaml": "default: {sample: 0.5}",
    }
    for name, text in written.items():
        (loom_home / name).write_text(text)

    with copied_workspace() as ledger:
        copy = home()
        assert copy != loom_home
        assert {name: (copy / name).read_text() for name in written} == written
        (copy / "settings.yaml").write_text("cluster: {clusters: {tau: 0.1}}")
        assert not ledger.path.is_relative_to(loom_home), "there is none to read"
    assert home() == loom_home and not copy.exists()
    assert {path.name: path.read_text() for path in loom_home.iterdir()} == written


def test_what_a_copy_writes_is_shared_with_nobody(loom_home, tmp_path, monkeypatch):
    """Neither a dry run's releases in the bucket, nor mock answers in the ledger of all machines."""
    of_all = {
        "LOOM_STORES": "postgresql://user@host/db",
        "LOOM_WAREHOUSE": "ducklake:postgres:dbname=db",
        "LOOM_FILES": "s3://bucket/prefix",
    }
    for name, value in of_all.items():
        monkeypatch.setenv(name, value)
    named = address.database, lake_connection.lake_address, shared_files.shared_files
    with workspace_at(tmp_path):
        assert home() == tmp_path
        assert [each() for each in named] == [None] * 3
    assert home() == loom_home
    assert None not in [each() for each in named]


SHAPE = """
cluster: {image_sets: {benchmark_sizes: [3], instruction_sizes: [2]}}
dialogue: {questions: {per_image: 1, per_set: {benchmark: 12, instruction: [5, 7]}}}
"""


def test_a_wrong_settings_file_of_a_shape_is_named(tmp_path: Path, typed: Typed) -> None:
    words = tmp_path / "words.yaml"
    words.write_text("root:x:0:0:root:/root:/bin/bash")
    assert f"{words}: " in typed("dialogue-shape --settings", words, code=2).err
    gone = tmp_path / "nope.yaml"
    said = typed("dialogue-shape --settings", gone, code=2).err
    assert f"dialogue-shape: --settings: Path '{gone}' does not exist." in said


@pytest.mark.nightly
def test_a_page_has_figures_of_both_kinds_and_costs_of_the_papers_numbers(tmp_path, commanded):
    (tmp_path / "models.yaml").write_text(REGISTRY)
    (tmp_path / "settings.yaml").write_text(SHAPE)
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
