"""The command that writes a critic's training pairs, as a person types it."""

import json
from pathlib import Path

import pytest

from dagster_project.cli import main as loom
from resources.warehouse import Warehouse
from tests.assets.filled import put


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A home with a release and two pairs of it."""
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "home"))
    warehouse = Warehouse(tmp_path / "home" / "warehouse.duckdb")
    release = {"release_id": "align-1", "name": "align", "kind": "benchmark"}
    release |= {"origin": "built", "review_policy": "none"}
    of = {"release_id": "align-1", "ordinal": 1, "system": "Rate.", "prompt": "A cat."}
    of |= {"origin": "external", "raters": ["ann"]}
    pairs = [
        {**of, "pair_id": split, "split": split, "reply": '{"Rating": 7}'}
        | {"block": split, "item_id": split, "group_id": split, "question": f"{split}?"}
        for split in ("train", "test")
    ]
    put(warehouse, {"release.releases": [release], "evaluate.critic_pairs": pairs})
    return warehouse


def test_the_files_are_in_the_home(warehouse: Warehouse, capsys) -> None:
    assert loom(["result", "export-critic", "align"]) == 0
    folder = warehouse.path.parent / "critic" / "align-1"
    assert capsys.readouterr().out == (
        f"1 pairs to train on and 1 to test on in {folder}; left out: none.\n"
    )
    assert json.loads((folder / "train.jsonl").read_text()) == {
        "pair_id": "train",
        "messages": [
            {"role": "system", "content": "Rate."},
            {"role": "user", "content": "A cat."},
            {"role": "assistant", "content": '{"Rating": 7}'},
        ],
    }
    assert sorted(path.name for path in folder.iterdir()) == [
        *("card.json", "test.jsonl", "train.jsonl")
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "vlm-loom result export-critic: say RELEASE, too.\n"),
        (["other"], "There is no release other; there are align, align-1.\n"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments, said, warehouse, capsys) -> None:
    assert loom(["result", "export-critic", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
