"""The dataset card of a new release: settings, prompts, writers, corpus, parent and version."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import dagster as dg

from assets.common.settings import SECTIONS, SHOWN_AS, last_reported
from methods.release import Edition, Release, ReviewPolicy, counts_of
from methods.release_card import row_of
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse

Row = dict[str, Any]

MADE_BY = ("cluster", "dialogue", "rewrite", "choice", "quality", "review")
"""Stages whose settings are on a card. For ingestion, the card lists the shards of the corpus."""


def new_card(
    release: Release,
    name: str,
    edition: Edition,
    reviewed: ReviewPolicy,
    providers: str,
    parent: str | None,
    made_with: Mapping[str, Any],
) -> Row:
    """Make the row of `release.releases` for a release.

    Args:
        release: The release.
        name: The name of the release.
        edition: The benchmark, split and language.
        reviewed: The review policy under which its items were approved.
        providers: The providers of the models that wrote it, separated by commas.
        parent: The id of the earlier release of the same name, if there is one.
        made_with: Further columns, such as those of `circumstances` and `prompts_and_writers`.
    """
    return row_of(
        {
            "release_id": release.release_id,
            "name": name,
            "kind": "benchmark" if edition.benchmark else "instruction",
            **edition.columns,
            **counts_of(release.rows),
            "review_policy": reviewed.policy,
            "review_share": reviewed.share,
            "provider": providers,
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "parent": parent,
            **made_with,
        }
    )


def first_cards(warehouse: Warehouse, cards: Sequence[Row]) -> list[Row]:
    """Replace the cards of releases that already exist by their stored cards.

    Args:
        warehouse: The tables.
        cards: The new cards.

    Returns:
        The cards in the same order.
    """
    ids = [card["release_id"] for card in cards]
    stored = {
        row["release_id"]: row
        for row in warehouse.select("release.releases", release_id=ids).to_pylist()
    }
    return [stored.get(card["release_id"], card) for card in cards]


def circumstances(instance: dg.DagsterInstance, warehouse: Warehouse) -> Row:
    """Collect the part of the card that all releases of a run have in common.

    Args:
        instance: The Dagster instance.
        warehouse: The tables.

    Returns:
        The settings of each table's last materialization, the shards of the corpus, and the project's
        version.
    """
    tables = [table for table in SECTIONS if table.split(".")[0] in MADE_BY]
    settings = {table: last_reported(instance, table, SHOWN_AS) for table in tables}
    shards = warehouse.select("ingest.shards", "wit_shard", "fingerprint", order="wit_shard")
    return {
        "settings": {table: values for table, values in settings.items() if values is not None}
        or None,
        "corpus": shards.to_pylist() or None,
        "project_version": project_version(),
    }


def prompts_and_writers(release: Release, warehouse: Warehouse, ledger: Ledger) -> Row:
    """Collect the prompts and models that wrote a release, also the originals of edited dialogues.

    Args:
        release: The release.
        warehouse: The tables.
        ledger: The model calls.

    Returns:
        Versions of prompts, and names of models.
    """
    set_ids = [row["set_id"] for row in release.rows["items"] if row["set_id"] is not None]
    summaries = warehouse.select(
        "dialogue.summaries", "call_key", "prompt_version", distinct=True, set_id=set_ids
    )
    written: list[Mapping[str, Any]] = [
        *release.rows["turns"],
        *release.rows["references"],
        *summaries.to_pylist(),
        *map(vars, release.originals),
    ]
    return {
        "prompt_versions": _distinct(written, "prompt_version"),
        "writers": sorted(ledger.models_of(_distinct(written, "call_key") or [])) or None,
    }


def _distinct(rows: Sequence[Mapping[str, Any]], column: str) -> list[str] | None:
    return sorted({row[column] for row in rows if row[column] is not None}) or None


def project_version() -> str | None:
    """Return the version of the project; None if it is not installed as a package."""
    try:
        return version("vlm-loom")
    except PackageNotFoundError:
        return None
