"""What a benchmark's built releases consist of, whatever the benchmark.

What belongs here: the form in which `built_*.py` give their releases to
`releases.py`, which freezes them, and what they read alike.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from methods.release import Edition, Origin, Release
from resources.warehouse import Warehouse

Row = dict[str, Any]


class Built(NamedTuple):
    """A release to be frozen: `providers` wrote its texts; `quality` counts what checks found in it."""

    name: str
    edition: Edition
    release: Release
    providers: Sequence[str]
    quality: Mapping[str, int] | None = None


class BuiltReleases(NamedTuple):
    """The releases that can be made of what is approved, and by name why another one cannot.

    `counts` says in numbers what was left out of them.
    """

    made: Sequence[Built]
    absent: Mapping[str, str]
    counts: Mapping[str, int] = {}


def sources(warehouse: Warehouse) -> dict[tuple[str, str], Row]:
    """Source columns of `release.images`, by (set id, image id)."""
    return {
        (row.pop("set_id"), row.pop("image_id")): row
        for row in warehouse.read("release/sources").to_pylist()
    }


def picture_sources(warehouse: Warehouse) -> dict[str, Row]:
    """Source columns of `release.images` of what is about single pictures, by image id."""
    rows = warehouse.read("release/picture_sources").to_pylist()
    return {row.pop("image_id"): row for row in rows}


def origin(call: Row, text: str | None, generated: str | None) -> Origin:
    """The call that made a text, if nobody changed it."""
    return Origin(call["call_key"], call["prompt_version"]) if text == generated else Origin()
