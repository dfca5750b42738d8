"""HTML page of the clustering (`cluster.pictures`): the map of entries and all other plots."""

import dagster as dg

from assets.cluster.cohesion import cohesion
from assets.cluster.map import entry_map
from assets.cluster.near_pairs import near_pairs
from assets.common.tables import report, table_asset, write_rows
from resources.files.home import relative_to_home, reports_path
from resources.images.store import ImageStore
from resources.reports.benchmark_report import write_report
from resources.reports.cluster_page import ClusterPageInput, MapPoint, render_clusters
from resources.warehouse import Warehouse
from resources.web.addresses import address

N_LISTED = 20
"""Rows of each table on the page."""
EMPTY_SHAPE = {"n_entries": 0, "n_groups": 0, "n_clusters": 0, "n_grouped": 0, "n_clustered": 0}


@table_asset("cluster.pictures", kinds={"html"}, deps=[entry_map, cohesion, near_pairs])
def pictures(
    warehouse: dg.ResourceParam[Warehouse], image_store: dg.ResourceParam[ImageStore]
) -> dg.MaterializeResult:
    """One HTML page: the map, cluster sizes, near pairs, the least cohesive clusters and frequent
    categories.
    """
    points = [MapPoint(**row) for row in warehouse.read("cluster/map_points").to_pylist()]
    sizes = warehouse.select("cluster.cohesion", "size", order="size DESC")["size"].to_pylist()
    columns = warehouse.read("cluster/categories").to_pydict()
    categories = dict(zip(*columns.values(), strict=True))
    (shape,) = warehouse.read("cluster/shape").to_pylist() or [EMPTY_SHAPE]
    clustering = ClusterPageInput(
        shape,
        points,
        sizes,
        near_pairs=warehouse.read("cluster/nearest_pairs", {"n_rows": N_LISTED}).to_pylist(),
        loosest=warehouse.read("cluster/loosest", {"n_rows": N_LISTED}).to_pylist(),
        categories=categories,
    )
    page = render_clusters(clustering, image_store)
    path = reports_path() / "cluster" / "pictures.html"
    inside = relative_to_home(path)
    row = {
        "path": inside,
        "sha256": write_report(path, page.html),
        "n_points": len(points),
        "n_thumbnails": page.n_thumbnails,
    }
    table = write_rows(warehouse, {"cluster.pictures": [row]})
    return report(table, {"page": dg.MetadataValue.url(address(inside))})
