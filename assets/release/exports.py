"""Exports: releases as folders for people and other tools.

What belongs here: what of a release goes into its folder. Writing it is
`resources/reports/release_folder.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_READY
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.release.in_force import ReleaseError
from assets.release.releases import releases
from methods.naming import listed
from resources.home import releases_path
from resources.images.store import FETCH_ANEW, ImageNotStored, ImageStore
from resources.reports.addresses import address
from resources.reports.release_folder import write_release
from resources.reports.release_rows import rows_of_release
from resources.settings import Settings
from resources.warehouse import Warehouse


class ExportsSettings(Settings):
    """How the files of a release are written."""

    mark_formulas: bool = Field(
        True,
        description="Whether cells of TSV and CSV files that a spreadsheet would compute (=, +, -, @) "
        "get an apostrophe, and a column marked_cells that imports undo it by. False: cells are exact.",
    )


@table_asset(
    "release.exports",
    settings=ExportsSettings,
    kinds={"json"},
    deps=[releases],
    automation_condition=WHEN_READY,
)
def exports(
    settings: ExportsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Releases as folders: published forms (MMDU: JSON and TSV), images, attribution, card, rows."""
    rows = []
    for release in warehouse.read("release/all").to_pylist():
        in_force, release_id = release.pop("in_force"), release["release_id"]
        # Folders of earlier releases get what an earlier version did not write into them.
        if in_force or (releases_path() / release_id).exists():
            tables = rows_of_release(warehouse, release_id)
            try:
                files = write_release(
                    releases_path(),
                    release,
                    tables,
                    image_store,
                    mark_formulas=settings.mark_formulas,
                )
            except ImageNotStored as error:
                raise ReleaseError(_without_picture(release, tables["images"], error)) from error
            rows += [{"release_id": release_id, **file._asdict()} for file in files]
    table = rows_to_arrow("release.exports", rows)
    warehouse.replace(
        "release.exports", table, {"release_id": sorted({r["release_id"] for r in rows})}
    )
    cards = {
        release_id: dg.MetadataValue.url(address(f"{releases_path().name}/{release_id}/card.json"))
        for release_id in sorted({row["release_id"] for row in rows})
    }
    return report(table, cards)


def _without_picture(
    release: Mapping[str, Any], images: Sequence[Mapping[str, Any]], error: ImageNotStored
) -> str:
    """The sentence of a release with a picture that cannot be read: which item's, and what to do."""
    items = sorted({row["item_id"] for row in images if row["image_id"] == error.image_id})
    todo = (
        f"import {release['name']} again (vlm-loom release import)"
        if release["origin"] == "imported"
        else FETCH_ANEW
    )
    return (
        f"The folder of release {release['release_id']} was not written, as the file of picture "
        f"{error.image_id} of {listed(items)} is missing or damaged: {todo}."
    )
