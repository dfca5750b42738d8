"""Current release of each name: the pinned release, or else the latest. Pins are in settings.yaml."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

import dagster as dg
from pydantic import Field

from assets.common.settings import SECTIONS, AssetConfig, schema_of
from assets.common.tables import rows_to_arrow
from methods.ids import content_id
from methods.licences.terms import Term
from resources.publishing.releases import ReleaseError, cards_of, current_releases
from resources.settings.asset_settings import lock_settings, read_sections, write_sections
from resources.warehouse import TableWrite, Warehouse

TABLE = "release.releases"
CURRENT = "release.current"


class ReleaseSettings(AssetConfig):
    """Pinned releases, which stay current if newer ones are frozen, and licences to leave out."""

    pinned: dict[str, str] = Field(
        {},
        description="The id of the release that stays current, by name, for example "
        "{mmdu: mmdu-2d8ad9af1a}.",
    )
    licences_left_out: dict[str, list[Annotated[Any, schema_of(Term)]]] = Field(
        {},
        description="Terms of licences for which an item is left out, by name of the release, for "
        "example {mmdu-instruct: [unknown, ND, NC, share-alike]}. Instruction sets that are not named "
        "leave out unknown and ND, benchmarks nothing.",
    )


def write_current(releases: Mapping[str, str], retired: Collection[str] = ()) -> TableWrite:
    """Make the table write that changes the current releases.

    Args:
        releases: The new current release by name; other names keep their current release.
        retired: Names that no longer have a current release.
    """
    rows = [{"name": name, "release_id": release_id} for name, release_id in releases.items()]
    where = {"name": sorted({*releases, *retired})}
    return TableWrite(CURRENT, rows_to_arrow(CURRENT, rows), where)


def version_of_releases(warehouse: Warehouse) -> dg.DataVersion:
    """Return the data version of `release/releases`, which also depends on the current releases."""
    return dg.DataVersion(content_id(warehouse.fingerprint(TABLE), warehouse.fingerprint(CURRENT)))


def pin(warehouse: Warehouse, release_id: str) -> str:
    """Make a release current, and pin it in `settings.yaml`.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The name of the release.

    Raises:
        ReleaseError: There is no such release; nothing is changed.
    """
    (card,) = cards_of(warehouse, [release_id])
    _write_pin(card["name"], release_id)
    warehouse.replace_all([write_current({card["name"]: release_id})])
    return str(card["name"])


def unpin(name: str) -> None:
    """Remove the pin of a name. The current release stays until `release/releases` is materialized.

    Raises ReleaseError if the name is not pinned.
    """
    pinned = pins()
    if name not in pinned:
        there_are = f"pinned are {', '.join(pinned)}" if pinned else "no name is"
        raise ReleaseError(f"{name} is not pinned; {there_are}.")
    _write_pin(name, None)


def retire(warehouse: Warehouse, name: str) -> str:
    """Make the release of a name no longer current, and remove its pin. Its rows stay.

    If this workspace builds releases of the name, the next one becomes current again.

    Args:
        warehouse: The tables.
        name: The name, or the id of its current release.

    Returns:
        The id of the release.

    Raises:
        ReleaseError: No release of the name is current.
    """
    current = current_releases(warehouse)
    name_of_id = {release_id: current_name for current_name, release_id in current.items()}
    name = name_of_id.get(name, name)
    if name not in current:
        there_are = f"current releases are {', '.join(current)}" if current else "no release is"
        raise ReleaseError(f"No release of {name} is current; {there_are}.")
    _write_pin(name, None)
    warehouse.replace_all([write_current({}, [name])])
    return current[name]


def pins() -> dict[str, str]:
    """Read the id of each pinned release from `settings.yaml`, by name."""
    return dict(read_sections(SECTIONS)[TABLE].get("pinned", {}))


def _write_pin(name: str, release_id: str | None) -> None:
    """Pin a release for a name, or remove the pin; other settings stay."""
    with lock_settings():
        sections = read_sections(SECTIONS)
        section = dict(sections[TABLE])
        pinned = {**section.pop("pinned", {}), name: release_id}
        if release_id is None:
            del pinned[name]
        if pinned:
            section["pinned"] = pinned
        write_sections(SECTIONS, {**sections, TABLE: section})
