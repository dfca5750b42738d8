"""What clustering costs on more vectors than there are texts at hand: real ones, grown with noise.

Run by `make bench NAME=cluster ARGS=--grown=1000000`. Nothing else is compared: at a million vectors
sentence-transformers and FAISS's flat search take hours on two cores.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resources.files.home import REPO_ROOT
from tests.bench.measuring import peak_mib

if TYPE_CHECKING:
    from methods.clustering.neighbours import NeighbourGraph

TAU = 0.75
COSINE = 0.9
"""Of a grown vector to the real one it comes from; two of the same real one have its square, 0.81."""
SEED = 7
PORTION = 60_000


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


def exact(vectors: np.ndarray) -> "tuple[NeighbourGraph, dict]":
    """The exact mode's neighbours."""
    from methods.clustering.neighbours import find_neighbours

    return find_neighbours(vectors, TAU), {}


def approximate(vectors: np.ndarray) -> "tuple[NeighbourGraph, dict]":
    """The approximate mode's neighbours, its own measuring of recall included."""
    from methods.clustering.approximate import approximate_neighbours

    neighbours, recall = approximate_neighbours(vectors, TAU)
    return neighbours, {"recall_it_says": round(recall.share, 4), "cells": recall.n_cells}


WAYS: "dict[str, Callable[[np.ndarray], tuple[NeighbourGraph, dict]]]" = {
    "exact": exact,
    "approximate": approximate,
}


def measure(way: str, path: Path) -> None:
    """One way, here and now: prints its figures as JSON. Imports and a first call are not counted."""
    from methods.clustering.communities import communities_from_graph

    vectors = np.load(path)
    WAYS[way](vectors[:4_096])
    held = peak_mib()
    started, processor = time.monotonic(), time.process_time()
    neighbours, said = WAYS[way](vectors)
    communities = communities_from_graph(neighbours)
    wall, processor = time.monotonic() - started, time.process_time() - processor
    low = np.repeat(np.arange(len(neighbours.starts) - 1), np.diff(neighbours.starts))
    once = low < neighbours.indices
    pairs = low[once] * len(vectors) + neighbours.indices[once]
    np.save(path.with_name(f"{way}.npy"), np.sort(pairs))
    figures = {"wall_s": round(wall, 1), "cpu_s": round(processor, 1), "peak_mib": peak_mib()}
    print(
        json.dumps(
            {
                **figures,
                "held_before_mib": held,
                "pairs": len(pairs),
                "communities": len(communities),
                **said,
            }
        )
    )


def bench(real: np.ndarray, n: int) -> dict:
    """The figures of both ways on `n` vectors; one run each."""
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as folder:
        path = Path(folder) / "vectors.npy"
        np.save(path, grown(real, n))
        ways = {way: _measured(way, path) for way in WAYS}
        found = {way: np.load(path.with_name(f"{way}.npy")) for way in WAYS}
    true = len(np.intersect1d(found["exact"], found["approximate"], assume_unique=True))
    ways["approximate"]["recall"] = round(true / max(len(found["exact"]), 1), 4)
    ways["approximate"]["false_pairs"] = len(found["approximate"]) - true
    return {"cores": os.cpu_count(), "vectors": n, "of_real": len(real), "ways": ways}


def show(figures: dict) -> None:
    """The figures for people."""
    print(
        f"\n{figures['vectors']:,} vectors grown from {figures['of_real']:,} real ones with noise "
        f"(cosine {COSINE}), 384 dimensions, tau = {TAU}, {figures['cores']} cores"
    )
    print(f"{'':14}{'min':>8}{'CPU min':>9}{'MiB':>8}{'pairs':>13}{'communities':>13}")
    for way, row in figures["ways"].items():
        recall = f"  recall {row['recall']}" if "recall" in row else ""
        print(
            f"{way:14}{row['wall_s'] / 60:8.1f}{row['cpu_s'] / 60:9.1f}{row['peak_mib']:8}"
            f"{row['pairs']:13,}{row['communities']:13,}{recall}"
        )
    print()


def _measured(way: str, path: Path) -> dict:
    command = [sys.executable, "-m", "tests.bench.cluster_grown", way, str(path)]
    print(f"{way} ...", file=sys.stderr)
    done = subprocess.run(command, cwd=REPO_ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    measure(sys.argv[1], Path(sys.argv[2]))
