"""The command that writes a critic's training pairs, as a person types it."""

import json
from pathlib import Path

import pytest

from assets.common.tables import rows_to_arrow
from dagster_project.cli import main as loom
from resources.warehouse import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A home with a release and two pairs of it."""
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "home"))
    warehouse = Warehouse(tmp_path / "home" / "warehouse.duckdb")
    release = {"release_id": "align-1", "name": "align", "kind": "benchmark", "origin": "built"}
    release |= {"benchmark": "alignmmbench", "provider": "x", "created_at": "2026-01-01T00:00:00Z"}
    release |= {"review_policy": "none", "review_share": 0.0}
    release |= {"n_items": 2, "n_turns": 2, "n_images": 0}
    warehouse.replace("release.releases", rows_to_arrow("release.releases", [release]))
    pairs = [
        {"benchmark": "alignmmbench", "release_id": "align-1", "pair_id": split, "split": split}
        | {"ordinal": 1, "category": "c", "block": split, "seed": 0, "model": "m", "item_id": split}
        | {"trial": "plain", "turn": 1, "part": "answer", "group_id": split, "images": []}
        | {"question": f"{split}?", "score": 7, "chosen": "ann", "raters": ["ann"]}
        | {"origin": "external", "source": "file", "system": "Rate.", "prompt": "A cat."}
        | {"reply": '{"Rating": 7}', "prompt_version": "p", "judge_version": "v"}
        for split in ("train", "test")
    ]
    warehouse.replace("evaluate.critic_pairs", rows_to_arrow("evaluate.critic_pairs", pairs))
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
def test_what_cannot_be_done_is_one_sentence(
    arguments: list[str], said: str, warehouse: Warehouse, capsys
) -> None:
    assert loom(["result", "export-critic", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
