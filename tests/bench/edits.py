"""What small edits of captions cost: places in groups and clusters, and image sets.

Run by `make bench NAME=edits` on the real sample in WIT's form. It is ingested and clustered;
captions of 21
rows, evenly spread, get a full stop, then those of all rows; each time it is ingested and clustered
again. Entries are told by page and image, because a changed caption gives an entry another id.
Prints a table, and as the last line all figures as one JSON object.
"""

import csv
import gzip
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from resources.files.home import REPO_ROOT

SAMPLE = REPO_ROOT.parent / "shared" / "data" / "wit_sample"
FEW = 21
CAPTIONS = (
    "caption_reference_description",
    "caption_attribution_description",
    "caption_alt_text_description",
)
ASSETS = ("duplicates", "embeddings", "clusters", "image_sets")
PLACES = """
SELECT e.page_url, e.image_id, c.group_id, c.cluster_id
FROM cluster.clusters AS c JOIN (SELECT DISTINCT entry_id, page_url, image_id FROM ingest.entries) AS e
    USING (entry_id)
"""
SETS = """
SELECT s.set_id, s.kind, list((e.page_url, e.image_id)::VARCHAR ORDER BY s.position) AS pictures
FROM cluster.image_sets AS s
JOIN (SELECT DISTINCT entry_id, page_url, image_id FROM ingest.entries) AS e USING (entry_id)
GROUP BY ALL
"""

Row = dict[str, Any]


def rows_of_sample() -> tuple[list[str], list[Row]]:
    """The columns and the rows of the sample."""
    with gzip.open(SAMPLE / "wit_sample.tsv.gz", "rt", newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, delimiter="\t")
        return list(reader.fieldnames or ()), list(reader)


def write_corpus(folder: Path, columns: list[str], rows: list[Row]) -> None:
    """The sample with these rows, in all its languages."""
    folder.mkdir(exist_ok=True)
    for name in ("categories.jsonl", "images"):
        if not (folder / name).exists():
            (folder / name).symlink_to(SAMPLE / name)
    (folder / "corpus.yaml").write_text("languages: []\n")
    with gzip.open(folder / "wit_sample.tsv.gz", "wt", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def edited(rows: list[Row], n: int) -> list[Row]:
    """The rows, `n` of them with a full stop after each caption."""
    chosen = {number * len(rows) // n for number in range(n)}
    return [
        {**row, **{name: f"{row[name]}." for name in CAPTIONS if row[name]}}
        if number in chosen
        else row
        for number, row in enumerate(rows)
    ]


def bench(root: Path) -> Row:
    """Every figure there is."""
    import dagster as dg

    from assets.common.partitions import wit_shards
    from dagster_project.definitions import build_defs
    from dagster_project.progress import SHOW_PROGRESS
    from resources.warehouse import Warehouse

    columns, rows = rows_of_sample()
    definitions, instance = build_defs(), dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions(str(wit_shards.name), ["wit_sample"])
    warehouse = Warehouse(root / "home" / "warehouse.duckdb")

    def clustered(version: list[Row]) -> tuple[dict, dict]:
        write_corpus(root / "corpus", columns, version)
        for job, partition, assets in (("ingest", "wit_sample", None), ("cluster", None, ASSETS)):
            definitions.resolve_job_def(job).execute_in_process(
                instance=instance,
                partition_key=partition,
                run_config=SHOW_PROGRESS,
                asset_selection=assets and [dg.AssetKey(["cluster", name]) for name in assets],
            )
        places = {
            (row["page_url"], row["image_id"]): row for row in warehouse.sql(PLACES).to_pylist()
        }
        sets = {
            row["set_id"]: (row["kind"], tuple(row["pictures"]))
            for row in warehouse.sql(SETS).to_pylist()
        }
        return places, sets

    before = clustered(rows)
    found = {}
    for n in (FEW, len(rows)):
        shutil.rmtree(root / "home")
        clustered(rows)
        found[str(n)] = compared(before, clustered(edited(rows, n)))
    return {"entries": len(before[0]), "image_sets": len(before[1]), "rows_edited": found}


def compared(before: tuple[dict, dict], after: tuple[dict, dict]) -> Row:
    """How many entries and sets are not as they were."""
    (places, sets), (places_after, sets_after) = before, after
    assert places.keys() == places_after.keys()

    def moved(column: str) -> int:
        return sum(places[key][column] != places_after[key][column] for key in places)

    return {
        "entries_in_another_group": moved("group_id"),
        "entries_in_another_cluster": moved("cluster_id"),
        "sets_with_other_pictures": len(set(sets.values()) - set(sets_after.values())),
        "sets_with_another_id": len(sets.keys() - sets_after.keys()),
    }


def main() -> None:
    """Measure in a home of its own and print."""
    if not SAMPLE.is_dir():
        sys.exit(f"{SAMPLE} is not there: the rows to edit are read from it.")
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as folder:
        root = Path(folder)
        os.environ |= {"LOOM_HOME": str(root / "home"), "LOOM_CORPUS": str(root / "corpus")}
        figures = bench(root)
    print(f"{figures['entries']} entries, {figures['image_sets']} image sets")
    for n, row in figures["rows_edited"].items():
        print(f"\nA full stop after the captions of {n} rows")
        for name, value in row.items():
            print(f"  {name.replace('_', ' '):30}{value:6}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
