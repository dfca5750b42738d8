"""Ingestion: converts WIT shards (Wikipedia pages and images) to entries; a shard is a partition."""

from assets.ingest.entries import entries
from assets.ingest.images import images
from assets.ingest.pages import pages
from assets.ingest.wit_rows import corpus_files, shards, wit_rows

ASSETS = [shards, wit_rows, pages, images, entries]
OBSERVABLE = [corpus_files]
"""Observable source assets, which are observed and never run."""
