"""Clustering: embeds entries, finds groups and clusters, samples image sets (MMDU 2.2, 3.1, B.1)."""

from assets.cluster.clusters import clusters
from assets.cluster.cohesion import cohesion
from assets.cluster.duplicates import duplicates
from assets.cluster.embeddings import embeddings
from assets.cluster.image_sets import image_sets, require_whole_sets
from assets.cluster.map import entry_map
from assets.cluster.near_pairs import near_pairs
from assets.cluster.pictures import pictures
from assets.cluster.splits import left_out_of_benchmarks, splits

ASSETS = [
    *(duplicates, embeddings, clusters, splits, image_sets),
    *(cohesion, near_pairs, entry_map, pictures),
]

__all__ = [
    "ASSETS",
    "clusters",
    "embeddings",
    "image_sets",
    "left_out_of_benchmarks",
    "require_whole_sets",
    "splits",
]
