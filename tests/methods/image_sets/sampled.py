"""Shared by the tests of image sets: clusters made by hand, specifications, what was sampled."""

from dataclasses import replace

import numpy as np

from methods.ids import content_id
from methods.image_sets.sampling import SampledSets
from methods.image_sets.spec import Cluster, Member, SamplingSpec, size_weights

LIKE_MMDU = {2: 47.3, 3: 22, 4: 11, 5: 6, 6: 3.5, 8: 2, 10: 1.8, 12: 3, 15: 2, 20: 1.3}


def unit_vectors(n: int, d: int = 8, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cluster(members: list[Member], name: str = "c", d: int = 8) -> Cluster:
    """Vectors follow from the image, so that they go with a member wherever it stands."""
    seeds = [int(content_id(member.image_id)[:8], 16) for member in members]
    rows = [unit_vectors(1, d, seed)[0] for seed in seeds]
    return Cluster(name, members, np.array(rows, dtype=np.float32).reshape(len(rows), d))


def plain(n: int, name: str = "c") -> Cluster:
    """Entries with a page and an image of their own."""
    return cluster([Member(f"{name}{i}", f"image {name}{i}", f"page {name}{i}") for i in range(n)])


def clusters(*sizes: int) -> list[Cluster]:
    return [replace(plain(n, f"{c}-"), cluster_id=f"c{c}") for c, n in enumerate(sizes)]


def spec(sizes: object, kind: str = "benchmark", **rest: object) -> SamplingSpec:
    return SamplingSpec(kind, size_weights(kind, sizes), **rest)


def sizes_of(sampled: SampledSets) -> list[int]:
    return sorted(len(each.members) for each in sampled.sets)


def ids_of(sampled: SampledSets) -> list[list[str]]:
    return [[member.entry_id for member in each.members] for each in sampled.sets]


def prior_of(sampled: SampledSets) -> list[list[tuple[str, str]]]:
    return [
        [(member.entry_id, member.image_id) for member in each.members] for each in sampled.sets
    ]


def reasons_of(sampled: SampledSets) -> dict[int, dict[str, int]]:
    return {count.n_images: count.reasons for count in sampled.counts}
