"""Removal of a shard that is no longer in the corpus: deletes its rows in all tables of ingestion."""

from methods.errors import UserError
from methods.naming import nearest
from resources.corpus.corpus import Corpus
from resources.warehouse import TableWrite, Warehouse, arrow_schema, declared_columns


def remove_shard(warehouse: Warehouse, corpus: Corpus, shard: str) -> int:
    """Remove the rows of a shard in one transaction. Its images stay in the image store.

    Args:
        warehouse: The tables.
        corpus: The corpus, which must not contain the shard.
        shard: The name of the shard.

    Raises:
        UserError: The shard is not in the tables, or is still in the corpus.
    """
    names = warehouse.select("ingest.shards", "wit_shard")["wit_shard"].to_pylist()
    if shard not in names:
        raise UserError(f"The tables have no shard {shard!r}; {nearest(shard, names)}.")
    if shard in corpus.shards():
        raise UserError(
            f"The corpus {corpus.path} still has the shard {shard}, and the next build would ingest it "
            "again: take its file out of the folder, or its entry out of corpus.yaml, first; or name "
            "another corpus by --corpus (LOOM_CORPUS)."
        )
    n_entries = warehouse.count("ingest.entries", {"wit_shard": shard})
    warehouse.replace_all(
        [
            TableWrite(table, arrow_schema(table).empty_table(), {"wit_shard": shard})
            for table, columns in declared_columns().items()
            if table.startswith("ingest.") and "wit_shard" in {name for name, *_ in columns}
        ]
    )
    return n_entries
