"""The files that a critic is trained on: the pairs of one release, and their card."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extras.critic.methods.contamination import PairQuestion, SplitOverlap, shared_content
from extras.critic.methods.export import card, chat_lines
from methods.errors import UserError
from resources.files.atomic import write_atomically
from resources.publishing.releases import release_meant
from resources.warehouse import Warehouse

Row = Mapping[str, Any]


def shared_by_splits(pairs: Sequence[Row]) -> list[SplitOverlap]:
    """Find groups of questions, images and questions that are both in training and in test pairs. A
    correct split has none.
    """
    splits: dict[str, list[PairQuestion]] = {"train": [], "test": [], "external": []}
    for row in pairs:
        question = PairQuestion(row["group_id"], tuple(row["images"]), row["question"])
        splits[row["split"]].append(question)
    return shared_content(splits["train"], splits["test"])


def export_critic(warehouse: Warehouse, release: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Write train.jsonl, test.jsonl, external.jsonl if there are external pairs, and card.json.

    Args:
        warehouse: The tables.
        release: The id or name of the release, or the beginning of its id.
        folder: The folder in which the release's folder is made.

    Returns:
        The folder of the files, and the card.

    Raises:
        UserError: There is no such release, it has no pairs, or both splits have something in common.
    """
    release_id = release_meant(warehouse, release)
    pairs = warehouse.select(
        "evaluate.critic_pairs", order="split, ordinal", release_id=release_id
    ).to_pylist()
    by_split = {
        split: [row for row in pairs if row["split"] == split] for split in ("train", "test")
    }
    for split, rows in by_split.items():
        if not rows:
            raise UserError(
                f"{release_id} has no pairs to {split} a critic: let people score more answers, with "
                "reasons (vlm-loom review demo, vlm-loom result import-scores), and run the job "
                "evaluate."
            )
    if overlaps := shared_by_splits(warehouse.read("evaluate/critic_pairs").to_pylist()):
        raise UserError(
            f"The pairs to test on share the {overlaps[0].kind} {overlaps[0].what[:80]!r} with those "
            "to train on: materialize evaluate/critic_pairs again."
        )
    if external := [row for row in pairs if row["split"] == "external"]:
        by_split["external"] = external
    files = {f"{split}.jsonl": chat_lines(rows) for split, rows in by_split.items()}
    left_out = warehouse.select(
        "evaluate.critic_left_out", order="model, item_id, trial, turn, part", release_id=release_id
    ).to_pylist()
    dataset_card = card(release_id, pairs, left_out, files)
    # The card is written last, as it has the hashes of the other files.
    for name, text in {**files, "card.json": f"{json.dumps(dataset_card, indent=2)}\n"}.items():
        write_atomically(folder / release_id / name, text.encode())
    return folder / release_id, dataset_card
