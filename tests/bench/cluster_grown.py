"""What clustering costs on more vectors than there are texts at hand: real ones, grown with noise.

Run by `make bench NAME=cluster ARGS=--grown=1000000`. Nothing else is compared: at a million vectors
sentence-transformers and FAISS's flat search take hours on two cores.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.bench.measuring import Row, figures_of, peak_mib, print_table, stage

if TYPE_CHECKING:
    from methods.clustering.neighbours import NeighbourGraph

TAU = 0.75
COSINE = 0.9
"""Of a grown vector to the real one it comes from; two of the same real one have its square, 0.81."""
SEED = 7
PORTION = 60_000
WAYS = ("exact", "approximate")


def grown(real: np.ndarray, n: int) -> np.ndarray:
    """`n` unit vectors, shape (n, d), float32: the real ones, then copies turned by random noise."""
    random = np.random.default_rng(SEED)
    tangent = np.sqrt(1 - COSINE**2) / COSINE
    vectors = np.empty((n, real.shape[1]), np.float32)
    for start in range(0, n, PORTION):
        rows = np.arange(start, min(start + PORTION, n))
        part = real[rows % len(real)]
        noise = random.standard_normal(part.shape, np.float32)
        noise -= (noise * part).sum(axis=1, keepdims=True) * part
        noise *= tangent / np.linalg.norm(noise, axis=1, keepdims=True)
        part = part + noise * (rows >= len(real))[:, None]
        vectors[rows] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return vectors


def neighbours_of(way: str, vectors: np.ndarray) -> "tuple[NeighbourGraph, Row]":
    """The neighbours by one of the modes; the approximate one measures its own recall."""
    if way == "exact":
        from methods.clustering.neighbours import find_neighbours

        return find_neighbours(vectors, TAU), {}
    from methods.clustering.approximate import approximate_neighbours

    neighbours, recall = approximate_neighbours(vectors, TAU)
    return neighbours, {"recall_it_says": round(recall.share, 4), "cells": recall.n_cells}


def measure(way: str, path: Path) -> None:
    """One way, here and now: prints its figures as JSON. Imports and a first call are not counted."""
    from methods.clustering.communities import communities_from_graph

    vectors = np.load(path)
    neighbours_of(way, vectors[:4_096])
    before, stages = peak_mib(), dict[str, Row]()
    with stage(stages, way):
        neighbours, said = neighbours_of(way, vectors)
        communities = communities_from_graph(neighbours)
    low = np.repeat(np.arange(len(neighbours.starts) - 1), np.diff(neighbours.starts))
    once = low < neighbours.indices
    pairs = low[once] * len(vectors) + neighbours.indices[once]
    np.save(path.with_name(f"{way}.npy"), np.sort(pairs))
    counts = {"pairs": len(pairs), "communities": len(communities)}
    print(json.dumps({**stages[way], "held_before_mib": before, **counts, **said}))


def bench(real: np.ndarray, n: int) -> Row:
    """The figures of both ways on `n` vectors; one run each."""
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as folder:
        path = Path(folder) / "vectors.npy"
        np.save(path, grown(real, n))
        ways = {way: figures_of(__name__, way, path) for way in WAYS}
        found = {way: np.load(path.with_name(f"{way}.npy")) for way in WAYS}
    true = len(np.intersect1d(found["exact"], found["approximate"], assume_unique=True))
    ways["approximate"]["recall"] = round(true / max(len(found["exact"]), 1), 4)
    ways["approximate"]["false_pairs"] = len(found["approximate"]) - true
    return {"cores": os.cpu_count(), "vectors": n, "of_real": len(real), "ways": ways}


def show(figures: Row) -> None:
    """The figures for people."""
    title = (
        f"{figures['vectors']:,} vectors grown from {figures['of_real']:,} real ones with noise "
        f"(cosine {COSINE}), 384 dimensions, tau = {TAU}, {figures['cores']} cores"
    )
    columns = ["wall_s", "cpu_s", "peak_mib", "pairs", "communities", "recall"]
    print_table(title, figures["ways"], columns)


if __name__ == "__main__":
    measure(sys.argv[2], Path(sys.argv[3]))
