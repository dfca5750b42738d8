"""Sample browser: HTML pages with every item of a release, its answers and judgments."""

import dagster as dg

from assets.common.isolation import Isolation
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.reports import reports
from assets.evaluate.site_data import SiteData
from methods.benchmarks import Benchmarks
from resources.files.home import relative_to_home
from resources.files.object_storage import shared_files
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.llm.registry import Profile
from resources.site.pictures import SiteImages
from resources.site.sample_browser import (
    is_written,
    keep_releases,
    site_path,
    write_data,
    write_page,
    write_program,
)
from resources.warehouse import Warehouse
from resources.web.addresses import address


@table_asset("evaluate.site", kinds={"html"}, deps=[reports])
def site(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    profile: dg.ResourceParam[Profile],
    benchmarks: dg.ResourceParam[Benchmarks],
    ledger: dg.ResourceParam[Ledger],
) -> dg.MaterializeResult:
    """The sample browser: an HTML page for each current or evaluated release, with all items: images,
    questions, references, answers of all models next to each other, judgments, calls, prompts and
    sources.

    An unchanged release is not written again. Held-out references, and everything that reveals them,
    are left out.
    """
    isolation = Isolation("evaluate.site")
    shared = shared_files()
    if shared:
        shared.fetch(relative_to_home(site_path()), site_path())
    pictures = SiteImages(site_path(), image_store)
    rows, shown = [], set[str]()
    write_program()
    releases = warehouse.read("evaluate/reported_releases").to_pylist()
    for number, release in enumerate(releases, start=1):
        release_id = release["release_id"]
        with isolation.release(release_id):
            data = SiteData(warehouse, benchmarks, release, profile.judges, pictures, ledger)
            stored = data.pictures
            shown |= stored.keys()
            fingerprint = data.fingerprint()
            if not is_written(release_id, fingerprint):
                context.log.info(
                    f"{release_id}: {release['n_items']} items, {number} of {len(releases)}"
                )
                write_data(release_id, fingerprint, data.contents())
            page = write_page(release, fingerprint)
            rows.append(
                {
                    "release_id": release_id,
                    "path": relative_to_home(page),
                    "fingerprint": fingerprint,
                    "n_items": release["n_items"],
                    "n_pictures": len(stored),
                    "n_missing": len(data.image_ids) - len(stored),
                }
            )
    keep_releases([release["release_id"] for release in releases])
    # If a release failed, its earlier page stays, so no images are removed.
    if not isolation.lost:
        pictures.keep(shown)
    if shared:
        shared.publish(relative_to_home(site_path()), site_path())
    table = write_rows(warehouse, {"evaluate.site": rows})
    links = {row["release_id"]: dg.MetadataValue.url(address(row["path"])) for row in rows}
    return isolation.finish(warehouse, report(table, links))
