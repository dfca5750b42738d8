"""Clustering: entries to embeddings, to groups and clusters, to image sets (MMDU 2.2, 3.1, B.1)."""

from assets.cluster.clusters import clusters
from assets.cluster.cohesion import cohesion, near_pairs
from assets.cluster.embeddings import embeddings
from assets.cluster.image_sets import image_sets, require_whole_sets
from assets.cluster.pictures import entry_map, pictures

ASSETS = [embeddings, clusters, image_sets, cohesion, near_pairs, entry_map, pictures]

__all__ = ["ASSETS", "clusters", "embeddings", "image_sets", "require_whole_sets"]
