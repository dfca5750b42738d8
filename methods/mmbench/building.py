"""Approved items of MMBench's form as a release.

What belongs here: their labels. The rows are made by `methods/choice/building.py`; which item is in
which split is `splits.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from methods.choice.building import ApprovedItem, build_release
from methods.mmbench.published import HINT
from methods.mmbench.taxonomy import L3, abilities
from methods.release import Edition, Release, ReviewPolicy


def build_split(
    name: str,
    edition: Edition,
    items: Sequence[ApprovedItem],
    reviewed: ReviewPolicy,
    sources: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Release:
    """The release of one split; `sources` has the source columns of `images`, by (set id, image id)."""

    def labels(item: ApprovedItem) -> dict[str, str]:
        named = {L3: item.category, **({"split": edition.split} if edition.split else {})}
        return {**abilities(named), **named}

    return build_release(
        name,
        edition,
        items,
        reviewed,
        hint_name=HINT,
        labels=labels,
        source=lambda item, image_id: sources[item.set_id or "", image_id],
    )
