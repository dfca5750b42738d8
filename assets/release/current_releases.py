"""Which release of a name is current: the pinned one, else the one frozen last."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

import dagster as dg
from pydantic import Field

from assets.common.settings import SECTIONS, AssetConfig, schema_of
from assets.common.tables import rows_to_arrow
from methods.ids import content_id
from methods.licences.terms import Term
from resources.publishing.releases import ReleaseError, cards_of, current_releases
from resources.settings.asset_settings import read_sections, write_sections
from resources.warehouse import TableWrite, Warehouse

TABLE = "release.releases"
CURRENT = "release.current"


class ReleaseSettings(AssetConfig):
    """Which releases stay current when newer ones are frozen, and what is left out of new ones."""

    pinned: dict[str, str] = Field(
        {},
        description="The id of the release that stays current, by name, for example "
        "{mmdu: mmdu-1198c7be75}.",
    )
    licences_left_out: dict[str, list[Annotated[Any, schema_of(Term)]]] = Field(
        {},
        description="Terms of licences for which an item is left out, by name of the release, for "
        "example {mmdu-instruct: [unknown, ND, NC, share-alike]}. Instruction sets that are not named "
        "leave out unknown and ND, benchmarks nothing.",
    )


def require_pinnable(warehouse: Warehouse, pinned: Mapping[str, str]) -> None:
    """Check that releases can be pinned.

    Args:
        warehouse: The tables.
        pinned: The id of a release by name.

    Raises:
        ReleaseError: A release does not exist or has another name.
    """
    for name, card in zip(pinned, cards_of(warehouse, list(pinned.values())), strict=True):
        if card["name"] != name:
            raise ReleaseError(
                f"{card['release_id']} is a release of {card['name']} and cannot be pinned for {name}."
            )


def write_current(releases: Mapping[str, str], retired: Collection[str] = ()) -> TableWrite:
    """Make the write that changes the current releases.

    Args:
        releases: The new current release of each name; other names keep theirs.
        retired: Names that have no current release any more.

    Returns:
        The write.
    """
    rows = [{"name": name, "release_id": release_id} for name, release_id in releases.items()]
    where = {"name": sorted({*releases, *retired})}
    return TableWrite(CURRENT, rows_to_arrow(CURRENT, rows), where)


def version_of_releases(warehouse: Warehouse) -> dg.DataVersion:
    """The data version of `release/releases`: what follows depends on which releases are current."""
    return dg.DataVersion(content_id(warehouse.fingerprint(TABLE), warehouse.fingerprint(CURRENT)))


def pin(warehouse: Warehouse, release_id: str) -> str:
    """Make a release current, and keep it current by a pin in `settings.yaml`.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The name of the release.

    Raises:
        ReleaseError: There is no such release; nothing is changed.
    """
    (card,) = cards_of(warehouse, [release_id])
    _write_pins({**pins(), card["name"]: release_id})
    warehouse.replace_all([write_current({card["name"]: release_id})])
    return str(card["name"])


def unpin(name: str) -> None:
    """Make the newest release of a name the current one again. Raises ReleaseError if it is not pinned.

    The current release stays until `release/releases` is materialized.
    """
    pinned = pins()
    if name not in pinned:
        there_are = f"pinned are {', '.join(pinned)}" if pinned else "no name is"
        raise ReleaseError(f"{name} is not pinned; {there_are}.")
    _write_pins({other: pinned[other] for other in pinned if other != name})


def retire(warehouse: Warehouse, name: str) -> str:
    """Take the release of a name off the current releases, and remove its pin. Its rows stay.

    Where this workspace builds releases of the name, its next one is current again.

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
    _write_pins({other: release_id for other, release_id in pins().items() if other != name})
    warehouse.replace_all([write_current({}, [name])])
    return current[name]


def pins() -> dict[str, str]:
    """The id of each pinned release by name, as `settings.yaml` has them."""
    return dict(read_sections(SECTIONS)[TABLE].get("pinned", {}))


def _write_pins(pinned: Mapping[str, str]) -> None:
    sections = read_sections(SECTIONS)
    others = {name: value for name, value in sections[TABLE].items() if name != "pinned"}
    section = {**others, "pinned": dict(pinned)} if pinned else others
    write_sections(SECTIONS, {**sections, TABLE: section})
