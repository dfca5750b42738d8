"""Wikipedia pages of a shard (`ingest.pages`), and pages whose text changed (`ingest.changes`)."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from assets.common.automation import WHEN_SHARD_READY
from assets.common.partitions import wit_shards
from assets.common.previews import preview
from assets.common.tables import FRESH_EVERY_WEEK, report, table_asset
from assets.ingest.left_out import DropRecorder
from assets.ingest.wit_rows import corpus_files, wit_rows
from methods.ids import content_id
from methods.ingest.topics import topics_of
from methods.ingest.wit import FREE_CHARACTERS, MOST_TIMES, SEEN, outgrows
from resources.corpus.corpus import Corpus
from resources.corpus.enrichment import Enricher
from resources.corpus.settings import CorpusSettings
from resources.files.rows import RowsFile, first_rows, n_rows, portions, staging_folder
from resources.warehouse import Parquet, TableWrite, Warehouse, arrow_schema

PAGES_AT_ONCE = 10_000
WITHOUT_TEXT = "None of its rows has a text of the page or of a section."
TOO_LONG = (
    "Its text and categories are not taken: its entries, which all repeat them, would have over "
    f"{MOST_TIMES} times the characters of its rows and categories. Shorten them."
)
NO_TOPIC = "It matches none of the corpus's topics."


@table_asset(
    "ingest.pages",
    side_tables=["ingest.changes", "ingest.left_out"],
    deps=[wit_rows, corpus_files.key],
    partitions_def=wit_shards,
    automation_condition=WHEN_SHARD_READY,
    freshness_policy=FRESH_EVERY_WEEK,
    pool="fetching",
)
def pages(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
) -> dg.MaterializeResult:
    """Wikipedia pages of a shard in the corpus's languages, with text, categories and topics.

    `ingest.left_out` has pages without text, pages without a topic if the corpus has topics, and rows
    in other languages.
    """
    shards = list(context.partition_keys)
    settings, enricher = corpus.settings, Enricher(corpus)
    languages = {"shards": shards, "languages": settings.languages}
    others = warehouse.read("ingest/other_languages_of_shards", languages).to_pylist()
    with staging_folder("ingest.pages", *shards) as folder:
        sources = warehouse.export(
            "ingest/pages_of_shards", {**languages, "seen": SEEN}, folder / "found.parquet"
        )
        left_out = DropRecorder(folder / "left_out.parquet", "pages")
        file = RowsFile(folder / "pages.parquet", arrow_schema("ingest.pages"))
        with file, left_out:
            for other in others:
                left_out.add(other, f"language {other['language']}", *_other(other, settings))
            for portion in portions(sources, PAGES_AT_ONCE):
                for page in enricher.enrich_pages(portion):
                    page["topics"] = topics_of(
                        settings.topics, [page["title"], *page["said"]], page["categories"]
                    )
                    if not page["page_text"]:
                        left_out.add(page, page["page_url"], "without_text", WITHOUT_TEXT)
                    elif settings.topics and not page["topics"]:
                        left_out.add(page, page["page_url"], "no_topic", NO_TOPIC)
                    elif _repeats_too_much(page):
                        left_out.add(page, page["page_url"], "without_text", TOO_LONG)
                    else:
                        page["page_id"] = _page_id(page["page_url"])
                        page["version_ids"] = sorted(map(_page_id, page["versions"]))
                        file.add(page)
        run_id = context.run.run_id
        changes = warehouse.export(
            "ingest/staging/changed_pages",
            {"path": str(file.path), "shards": shards, "run_id": run_id},
            folder / "changes.parquet",
        )
        n_changed, changed = n_rows(changes), first_rows(changes)
        warehouse.replace_all(
            [
                TableWrite("ingest.pages", Parquet([file.path]), {"wit_shard": shards}),
                left_out.write(shards),
                TableWrite(
                    "ingest.changes",
                    Parquet([changes]),
                    {"wit_shard": shards, "run_id": run_id},
                ),
            ]
        )
        shown = first_rows(file.path)
    details: dict[str, Any] = {**left_out.details(context, file.n_rows), "changed pages": n_changed}
    if n_changed:
        details["changes"] = dg.MetadataValue.md(preview(changed))
    return report(shown, details, n_rows=file.n_rows)


def _repeats_too_much(page: Mapping[str, Any]) -> bool:
    """Whether a file of kilobytes would make gigabytes of entries."""
    n_text, n_categories = len(page["page_text"]), sum(map(len, page["categories"]))
    n_input = max(n_text, page["n_characters"]) + n_categories
    return outgrows(page["n_rows"] * (n_text + n_categories), n_input, FREE_CHARACTERS)


def _page_id(url: str) -> str:
    return content_id("page", url)


def _other(rows: Mapping[str, Any], settings: CorpusSettings) -> tuple[str, str]:
    """Return reason and sentence for the rows in a language that the corpus does not include."""
    are = "page is" if rows["n_pages"] == 1 else "pages are"
    languages = ", ".join(settings.languages)
    return (
        "language",
        f"{rows['n_pages']} {are} in {rows['language']}, "
        f"and the languages in corpus.yaml are {languages}.",
    )
