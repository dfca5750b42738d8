"""Ingestion: shards of Wikipedia's pages and images to entries, each shard a partition.

What belongs here: which rows are read, what is made of them and what was refused. What a row is says
`methods/ingest/wit.py`, where shards come from `resources/corpus/`, how images are got and kept
`resources/images/intake.py`.
"""

from assets.ingest.entries import entries
from assets.ingest.images import images
from assets.ingest.pages import pages
from assets.ingest.wit_rows import wit_rows

ASSETS = [wit_rows, pages, images, entries]

__all__ = ["ASSETS", "entries", "images", "pages", "wit_rows"]
