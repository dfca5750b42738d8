"""Exports: releases as folders for people and other tools.

What belongs here: what of a release goes into its folder. Writing it is
`resources/reports/release_folder.py`.
"""

from itertools import groupby

import dagster as dg

from assets.common.tables import WHEN_READY, report, rows_to_arrow, table_asset
from assets.release.releases import releases
from methods.mmdu.export import mmdu_record
from resources.home import releases_path
from resources.images.store import ImageStore
from resources.reports.release_folder import image_name, write_release
from resources.warehouse import Warehouse


@table_asset("release.exports", kinds={"json"}, deps=[releases], automation_condition=WHEN_READY)
def exports(
    warehouse: dg.ResourceParam[Warehouse], image_store: dg.ResourceParam[ImageStore]
) -> dg.MaterializeResult:
    """Releases as folders: MMDU JSON, images, attribution, card."""
    rows = []
    for release in warehouse.read("release/current").to_pylist():
        where = {"release_id": release["release_id"]}
        images = warehouse.read("release/images_of", where).to_pylist()
        paths: dict[str, list[str]] = {}
        for image in images:
            paths.setdefault(image["item_id"], []).append(
                image_name(image_store, image["image_id"])
            )
        turns = warehouse.read("release/dialogues_of", where).to_pylist()
        records = [
            mmdu_record(item_id, paths[item_id], [(t["question"], t["reference"]) for t in group])
            for item_id, group in groupby(turns, key=lambda turn: turn["item_id"])
        ]
        files = write_release(
            releases_path(), release["release_id"], records, images, release, image_store
        )
        rows += [{**where, **file._asdict()} for file in files]
    table = rows_to_arrow("release.exports", rows)
    warehouse.replace(
        "release.exports", table, {"release_id": sorted({r["release_id"] for r in rows})}
    )
    return report(table, {"folder": dg.MetadataValue.path(releases_path())})
