"""Training files of a critic: chat rows, and a card that describes them."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from methods.json_text import json_line

Row = Mapping[str, Any]
FORM = "critic-pairs@1"


def chat_lines(pairs: Sequence[Row]) -> str:
    """Write one line for each pair, `{"pair_id": …, "messages": [system, user, assistant]}`.

    A prompt without a system part has no system message. The id is that in `evaluate.critic_pairs`.
    """
    return "".join(
        json_line(
            {
                "pair_id": pair["pair_id"],
                "messages": [
                    {"role": role, "content": pair[column]}
                    for role, column in (
                        ("system", "system"),
                        ("user", "prompt"),
                        ("assistant", "reply"),
                    )
                    if pair[column]
                ],
            }
        )
        for pair in pairs
    )


def card(
    release_id: str, pairs: Sequence[Row], left_out: Sequence[Row], files: Mapping[str, str]
) -> dict[str, Any]:
    """Make the card that describes exported files.

    Args:
        release_id: The release.
        pairs: The exported pairs, at least one.
        left_out: The answers without a pair.
        files: The texts of the files by name.
    """
    by_category: dict[str, dict[str, int]] = {}
    for pair in pairs:
        counts = by_category.setdefault(pair["category"], {"train": 0, "test": 0})
        counts[pair["split"]] = counts.get(pair["split"], 0) + 1
    return {
        "form": FORM,
        "release": release_id,
        "benchmark": pairs[0]["benchmark"],
        "judge_version": pairs[0]["judge_version"],
        "prompt_versions": sorted({pair["prompt_version"] for pair in pairs}),
        "seed": pairs[0]["seed"],
        "n_pairs": dict(Counter(pair["split"] for pair in pairs)),
        "n_blocks": len({pair["block"] for pair in pairs}),
        "by_category": dict(sorted(by_category.items())),
        "scores": dict(sorted(Counter(pair["score"] for pair in pairs).items())),
        "left_out": dict(sorted(Counter(row["reason"] for row in left_out).items())),
        "sha256": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
    }
