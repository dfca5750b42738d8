"""Ingestion: shards of Wikipedia's pages and images to entries; each shard is a partition."""

from assets.ingest.entries import entries
from assets.ingest.images import images
from assets.ingest.pages import pages
from assets.ingest.wit_rows import corpus_files, shards, wit_rows

ASSETS = [shards, wit_rows, pages, images, entries]
OBSERVABLE = [corpus_files]
"""What is observed and never run."""

__all__ = [
    "ASSETS",
    "OBSERVABLE",
    "corpus_files",
    "entries",
    "images",
    "pages",
    "shards",
    "wit_rows",
]
