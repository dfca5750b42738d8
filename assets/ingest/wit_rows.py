"""Reading WIT shards (`ingest.wit_rows`): typed rows; rejected lines are in `ingest.rejected`."""

import warnings
from collections import Counter
from typing import Any, ClassVar

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_SHARD_READY
from assets.common.drops import names_with_reasons, reasons, require_few_lost
from assets.common.failures import is_transient, plain_errors
from assets.common.partitions import wit_shards
from assets.common.settings import AssetConfig
from assets.common.table_rows import map_of
from assets.common.tables import FRESH_EVERY_WEEK, report, rows_to_arrow, table_asset, table_spec
from methods.errors import UserError
from resources.corpus.corpus import Corpus
from resources.corpus.observation import observe_files
from resources.corpus.settings import CorpusError
from resources.corpus.shard import Shard, replaced_address
from resources.corpus.wikipedia_shard import NO_IMAGES
from resources.files.rows import staging_folder
from resources.warehouse import TableWrite, Warehouse

REJECTED = (
    "ingest.rejected has each line with the reason. Correct the lines and run the job ingest again "
    "(vlm-loom run ingest), or allow more with max_rejected_share of ingest.wit_rows in settings.yaml."
)


class RowsSettings(AssetConfig):
    """Settings of reading shards: rereading unchanged shards, and the limit of rejected lines."""

    RUN_ONLY: ClassVar = frozenset({"read_unchanged"})

    read_unchanged: bool = Field(
        False, description="Read shards in this run even if their content has not changed."
    )
    max_rejected_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="If a larger share of a shard's lines is rejected, its earlier rows stay.",
    )


shards = table_spec(
    "ingest.shards",
    kinds={"tsv", "parquet", "wikipedia"},
    partitions_def=wit_shards,
    description="The shards of the corpus. A sensor reports local files that are new or have changed. "
    "The table has, of each shard that was read, its address, its content's hash and its counts.",
)


warnings.filterwarnings("ignore", message="Function `observable_source_asset` is currently in beta")


@dg.observable_source_asset(
    key=["ingest", "corpus_files"],
    group_name="ingest",
    description="The files that say how shards become entries: corpus.yaml, categories.jsonl and lists "
    "of excluded images. A sensor reports a change of what ingestion reads of them.",
)
def corpus_files(corpus: dg.ResourceParam[Corpus]) -> dg.DataVersion:
    """Observe the corpus files; their fingerprint is the data version."""
    with plain_errors():
        return dg.DataVersion(observe_files(corpus).fingerprint)


@table_asset(
    "ingest.wit_rows",
    side_tables=["ingest.rejected"],
    deps=[shards.key, corpus_files.key],
    partitions_def=wit_shards,
    automation_condition=WHEN_SHARD_READY,
    freshness_policy=FRESH_EVERY_WEEK,
    pool="fetching",
)
def wit_rows(
    context: dg.AssetExecutionContext,
    config: RowsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
) -> dg.MaterializeResult:
    """Typed rows of a shard. `ingest.rejected` has rejected lines with line number and reason.

    If a shard has too many rejected lines or cannot be read to its end, it keeps its earlier rows, and
    its rejected lines are listed, too.
    """
    rejected: Counter[str] = Counter()
    n_rows, unchanged, empty = 0, [], []
    failed: dict[str, str] = {}
    passing = True
    for name in context.partition_keys:
        try:
            shard = corpus.shard(name)
            fingerprint = shard.fetch(context.log.info)
            earlier_rows = warehouse.read("ingest/shard", {"shard": name}).to_pylist()
            if (
                earlier_rows
                and earlier_rows[0]["fingerprint"] == fingerprint
                and not config.read_unchanged
            ):
                unchanged.append(name)
                shard_rows = earlier_rows[0] | {"reasons": map_of(earlier_rows[0]["reasons"])}
            else:
                if earlier_rows and (
                    other := replaced_address(shard, fingerprint, earlier_rows[0])
                ):
                    context.log.warning(f"{shard.address} replaces the rows of {other}")
                shard_rows = _read(warehouse, shard, fingerprint, config.max_rejected_share)
        except (UserError, dg.Failure) as error:
            if len(context.partition_keys) == 1:
                raise
            # In a run for several shards, the other shards are still read.
            passing &= is_transient(error)
            failed[name] = (
                (error.description or "") if isinstance(error, dg.Failure) else str(error)
            )
            context.log.warning(f"shard {name} is not read: {failed[name]}")
            continue
        if not shard_rows["n_rows"]:
            empty.append(name)
            context.log.warning(f"shard {name} has no rows: is {shard.address} complete?")
        n_rows += shard_rows["n_rows"]
        rejected.update(shard_rows["reasons"])
        if len(context.partition_keys) > 1:
            context.log.info(f"shard {name}: {shard_rows['n_rows']:,} rows")
    if failed:
        raise dg.Failure(
            f"{len(failed)} of {len(context.partition_keys)} shards were not read, the others were: "
            f"{names_with_reasons(failed)}.",
            allow_retries=passing,
        )
    details = {
        "rejected": rejected.total(),
        **reasons(rejected),
        "unchanged shards": len(unchanged),
        "shards without rows": len(empty),
    }
    return report(
        warehouse.first_rows("ingest.wit_rows", {"wit_shard": context.partition_keys[0]}, 6),
        details,
        n_rows=n_rows,
    )


def _read(
    warehouse: Warehouse, shard: Shard, fingerprint: str, max_rejected_share: float
) -> dict[str, Any]:
    """Read a shard, replace its rows in the tables, and return its row in `ingest.shards`.

    Raises CorpusError if the shard cannot be read to its end, and dg.Failure if too many lines were
    rejected. In both cases its earlier rows stay, and the rejected lines are listed.
    """
    with staging_folder("ingest.wit_rows", shard.name) as folder:
        staged = shard.stage(folder)
        row = {
            "wit_shard": shard.name,
            "address": shard.address,
            "fingerprint": fingerprint,
            "n_rows": staged.n_rows,
            "reasons": staged.reasons,
        }
        n_lines = staged.n_rows + sum(staged.reasons.values())
        lost = {why: n for why, n in staged.reasons.items() if why != NO_IMAGES}
        of_shard = {"wit_shard": shard.name}
        rejected = TableWrite("ingest.rejected", staged.rejected, {**of_shard, "kind": "row"})
        try:
            if staged.broken:
                raise CorpusError(staged.broken)
            require_few_lost(shard.name, "lines", lost, n_lines, max_rejected_share, todo=REJECTED)
        except (CorpusError, dg.Failure):
            warehouse.replace_all([rejected])
            raise
        warehouse.replace_all(
            [
                TableWrite("ingest.wit_rows", staged.rows, of_shard),
                rejected,
                TableWrite("ingest.shards", rows_to_arrow("ingest.shards", [row]), of_shard),
            ]
        )
    return row
