"""HTML page about the corpus: reads the tables and writes `corpus.html` of the site."""

from datetime import UTC, datetime
from pathlib import Path

from resources.files.home import reports_path
from resources.images.store import ImageStore
from resources.reports.benchmark_report import write_report
from resources.reports.report_corpus import CorpusPageInput, render_corpus
from resources.warehouse import Warehouse

PAGE = "corpus.html"
QUERIES = (
    *("counts", "languages", "licences", "shards", "clusters", "sets"),
    *("left_out", "checks", "review", "costs"),
)
SHOWN = {
    "n_shards": 20,
    "n_clusters": 12,
    "n_sets": 4,
    "n_examples": 3,
    "n_days": 7,
}
"""Largest number of rows of each kind on the page, as parameters of the queries."""


def write_corpus(warehouse: Warehouse, image_store: ImageStore) -> Path:
    """Write the page about the corpus from the current tables.

    Args:
        warehouse: The tables.
        image_store: The images.

    Returns:
        The path of the page.

    Raises:
        WarehouseError: The tables cannot be read.
        ImageDamaged: A stored image is damaged.
    """
    with warehouse.kept_open():
        rows = warehouse.read_rows("evaluate/corpus_{}", QUERIES, SHOWN)
        corpus = CorpusPageInput(
            counts=rows["counts"][0],
            languages=rows["languages"],
            licences=rows["licences"],
            shards=rows["shards"],
            clusters=rows["clusters"],
            sets=rows["sets"],
            left_out=rows["left_out"],
            checks=rows["checks"],
            review=rows["review"],
            costs=rows["costs"],
            set_sizes=warehouse.select("cluster.set_counts", order="kind, n_images").to_pylist(),
            agreement=warehouse.select(
                "review.agreement", order="kind, dimension, measure", raters="all"
            ).to_pylist(),
            effort=warehouse.select("review.effort", order="kind, round, reviewer").to_pylist(),
        )
    path = reports_path() / PAGE
    generated = datetime.now(UTC).isoformat(timespec="seconds")
    write_report(path, render_corpus(corpus, image_store, generated))
    return path
