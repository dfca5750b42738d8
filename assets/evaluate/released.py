"""Releases to evaluate on (the current releases of the benchmarks), and their items."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import dagster as dg

from methods.batched import batched
from methods.benchmarks import Benchmarks
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item
from methods.naming import nearest
from methods.release_items import items_of_release
from resources.publishing.releases import rows_of_release
from resources.warehouse import Warehouse

Row = dict[str, Any]
ITEMS_AT_ONCE = 1_000
"""Items of a batch. Releases with at most this many items are cached."""
_KEPT: WeakKeyDictionary[Warehouse, dict[str, list[Item]]] = WeakKeyDictionary()
"""Cache of items by release, for as long as the warehouse object exists."""
_ORDERS = {
    "items": "ordinal",
    "turns": "item_id, turn",
    "choices": "item_id, position",
    "references": "item_id, turn, kind",
    "images": "item_id, position",
}


class EvaluatedRelease(NamedTuple):
    """A release and its benchmark."""

    benchmark: Benchmark
    release_id: str

    @property
    def columns(self) -> dict[str, str]:
        """The columns that say which release it is."""
        return {"benchmark": self.benchmark.name, "release_id": self.release_id}


def evaluated_releases(
    warehouse: Warehouse, benchmarks: Benchmarks, also: Sequence[str] = ()
) -> list[EvaluatedRelease]:
    """List the current releases of the benchmarks, and further releases by their ids.

    A benchmark may have several current releases: a built one, and one for each import.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks by name.
        also: The ids of further releases.

    Returns:
        The releases, each with its benchmark.

    Raises:
        dg.Failure: No release is current, or one of `also` does not exist or belongs to no benchmark.
    """
    current = _of_benchmarks(current_of(warehouse, benchmarks), benchmarks)
    named = releases_named(warehouse, benchmarks, also)
    releases = {release.release_id: release for release in [*current, *named]}
    missing = [release_id for release_id in also if release_id not in releases]
    if missing:
        raise unknown_release(warehouse, benchmarks, missing[0])
    if not releases:
        names = ", ".join(benchmarks)
        raise dg.Failure(
            f"There is no release of {names} to evaluate on; run the job `build` first.",
            allow_retries=False,
        )
    return list(releases.values())


def current_of(warehouse: Warehouse, benchmarks: Benchmarks) -> list[Row]:
    """Read the current releases of the benchmarks.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks by name.

    Returns:
        Their rows of `release.releases`.
    """
    rows: list[Row] = warehouse.read(
        "release/current_of", {"benchmarks": sorted(benchmarks)}
    ).to_pylist()
    return rows


def unknown_release(warehouse: Warehouse, benchmarks: Benchmarks, release_id: str) -> dg.Failure:
    """Make the failure for a release that does not exist.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks.
        release_id: The unknown id.

    Returns:
        The failure, which names the most similar release.
    """
    rows = warehouse.read("release/all").to_pylist()
    ids = [row["release_id"] for row in rows if row["benchmark"] in benchmarks]
    return dg.Failure(
        f"There is no benchmark release {release_id}; {nearest(release_id, ids)}.",
        allow_retries=False,
    )


def releases_named(
    warehouse: Warehouse, benchmarks: Benchmarks, release_ids: Sequence[str]
) -> list[EvaluatedRelease]:
    """List releases by their ids, without those of benchmarks that are not installed.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks by name.
        release_ids: The ids.

    Returns:
        The releases, each with its benchmark.
    """
    rows = warehouse.read("release/named", {"release_ids": list(release_ids)}).to_pylist()
    return _of_benchmarks(rows, benchmarks)


def _of_benchmarks(rows: Sequence[Row], benchmarks: Benchmarks) -> list[EvaluatedRelease]:
    return [
        EvaluatedRelease(benchmarks[row["benchmark"]], row["release_id"])
        for row in rows
        if row["benchmark"] in benchmarks
    ]


def items_of(warehouse: Warehouse, release_id: str) -> list[Item]:
    """Read the items of a release. A small release is read once in a run: releases never change.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The items in order.
    """
    items_by_release = _KEPT.setdefault(warehouse, {})
    if release_id in items_by_release:
        return [*items_by_release[release_id]]
    with warehouse.kept_open():
        language = language_of(warehouse, release_id)
        rows = rows_of_release(warehouse, release_id)
    items = items_of_release(rows, language)
    if 0 < len(items) <= ITEMS_AT_ONCE:
        items_by_release[release_id] = items
    return [*items]


def language_of(warehouse: Warehouse, release_id: str) -> str | None:
    """Read the language of a release.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The language; None if it is not known.
    """
    named = warehouse.read("release/named", {"release_ids": [release_id]}).to_pylist()
    return next((row["language"] for row in named), None)


def items_in_batches(warehouse: Warehouse, release_id: str) -> Iterator[Item]:
    """Iterate over the items of a release, read in batches: all of them may not fit in memory.

    Args:
        warehouse: The tables.
        release_id: The release.

    Yields:
        The items in order.
    """
    all_ids = item_ids(warehouse, release_id)
    if len(all_ids) <= ITEMS_AT_ONCE:
        yield from items_of(warehouse, release_id)
        return
    language = language_of(warehouse, release_id)
    for ids in batched(all_ids, ITEMS_AT_ONCE):
        yield from items_named(warehouse, release_id, ids, language)


def writers_of(warehouse: Warehouse, release_id: str) -> list[str]:
    """Read the models that wrote a release.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        Their names; empty if the release does not record them.
    """
    rows = warehouse.select("release.releases", "writers", release_id=release_id).to_pylist()
    return next((row["writers"] or [] for row in rows), [])


def item_ids(warehouse: Warehouse, release_id: str) -> list[str]:
    """Read the ids of the items of a release.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The ids in the order of the items.
    """
    ids: list[str] = warehouse.select(
        "release.items", "item_id", order="ordinal", release_id=release_id
    )["item_id"].to_pylist()
    return ids


def items_named(
    warehouse: Warehouse, release_id: str, ids: Sequence[str], language: str | None
) -> list[Item]:
    """Read some items of a release.

    Args:
        warehouse: The tables.
        release_id: The release.
        ids: The ids of the items.
        language: The language of the release.

    Returns:
        The items in order.
    """
    with warehouse.kept_open():
        rows = {
            table: warehouse.select(
                f"release.{table}", order=order, release_id=release_id, item_id=ids
            ).to_pylist()
            for table, order in _ORDERS.items()
        }
    for item in rows["items"]:
        item["labels"] = dict(item["labels"])
    return items_of_release(rows, language)
