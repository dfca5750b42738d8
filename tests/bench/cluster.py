"""What clustering costs: threshold communities against sentence-transformers', FAISS and HDBSCAN.

Run by `make bench NAME=cluster` on 60,004 real short texts; their vectors are kept from the first run.
Every figure is taken in a process of its own, the ways take turns, and the fastest round of each
counts. Prints a table, and as the last line all figures as one JSON object.
"""

import gzip
import hashlib
import json
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from resources.files.home import home
from tests.bench.measuring import (
    DATA,
    Row,
    best_of,
    figures_of,
    is_part,
    options,
    print_table,
    stage,
)

TEXTS = DATA / "package_descriptions.txt.gz"
TAU = 0.75
MANY, FEW, DENSE = 60_004, 15_000, 5_000
WARMING = 4_096
REFERENCE, EXACT = "community_detection", "exact"
FLOAT32 = "exact, float32 alone"
FLAT, APPROXIMATE, DENSITY = "FAISS flat range search", "approximate", "hdbscan"
ROUNDS_OF = {
    MANY: (REFERENCE, EXACT, FLOAT32, FLAT, APPROXIMATE),
    FEW: (REFERENCE, EXACT),
    DENSE: (DENSITY,),
}


# --- Ways ----------------------------------------------------------------------------------------
# Each takes n vectors and gives communities, pairs (low * n + high, in order) or None for what it does
# not make, and what else it says of itself.

Found = tuple[list[list[int]] | None, np.ndarray | None, dict]


def reference(vectors: np.ndarray) -> Found:
    """What a user would take instead."""
    from sentence_transformers.util import community_detection

    return community_detection(vectors, threshold=TAU, min_community_size=2), None, {}


def exact(vectors: np.ndarray) -> Found:
    """The exact mode, as the asset runs it."""
    from methods.clustering.communities import communities_from_graph
    from methods.clustering.neighbours import find_neighbours

    neighbours = find_neighbours(vectors, TAU)
    communities = [list(each.members) for each in communities_from_graph(neighbours)]
    heads = neighbours.prepared.pair_filter.heads
    return communities, pairs_of(neighbours), {"width": heads.shape[1] - 1}


def float32_alone(vectors: np.ndarray) -> Found:
    """The exact mode on a processor without instructions for 8-bit integers."""
    from methods.clustering import pair_filter

    pair_filter._multiplies_integers = lambda: False
    return exact(vectors)


def flat(vectors: np.ndarray) -> Found:
    """All pairs by FAISS, without communities."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    limits, _, found = index.range_search(vectors, TAU)
    row = np.repeat(np.arange(len(vectors)), np.diff(limits).astype(np.int64))
    once = row < found
    return None, np.sort(row[once] * len(vectors) + found[once]), {}


def approximate(vectors: np.ndarray) -> Found:
    """The approximate mode, its own measuring of recall included."""
    from methods.clustering.approximate import approximate_neighbours
    from methods.clustering.communities import communities_from_graph

    neighbours, recall = approximate_neighbours(vectors, TAU)
    communities = [list(each.members) for each in communities_from_graph(neighbours)]
    said = {"recall_it_says": round(recall.share, 4), "cells": recall.n_cells}
    return communities, pairs_of(neighbours), {**said, "probes": recall.n_probes}


def density(vectors: np.ndarray) -> Found:
    from methods.clustering.communities import density_communities

    return [list(each.members) for each in density_communities(vectors)], None, {}


WAYS: dict[str, Callable[[np.ndarray], Found]] = {
    REFERENCE: reference,
    EXACT: exact,
    FLOAT32: float32_alone,
    FLAT: flat,
    APPROXIMATE: approximate,
    DENSITY: density,
}


def pairs_of(neighbours) -> np.ndarray:
    """Pairs of vectors as given, equal ones among them."""
    from scipy.sparse import csr_matrix, identity

    distinct_of = np.asarray(neighbours.prepared.distinct_of)
    n, n_distinct = len(distinct_of), len(neighbours.prepared.vectors)
    near = (np.ones(len(neighbours.indices)), neighbours.indices, neighbours.starts)
    same = csr_matrix((np.ones(n), (np.arange(n), distinct_of)), (n, n_distinct))
    both = csr_matrix(near, (n_distinct, n_distinct)) + identity(n_distinct)
    found = (same @ both @ same.T).tocoo()
    once = found.row < found.col
    return np.sort(found.row[once].astype(np.int64) * n + found.col[once])


# --- Measuring -----------------------------------------------------------------------------------


def measure(way: str, path: str, n: str) -> Row:
    """The figures of one way, here and now. Imports and a first call are not counted."""
    vectors = np.load(path)
    # Every n-th, so that few are as varied as many.
    vectors = vectors[np.linspace(0, len(vectors) - 1, int(n)).astype(int)]
    WAYS[way](vectors[:WARMING])
    stages: dict[str, Row] = {}
    with stage(stages, way):
        communities, pairs, said = WAYS[way](vectors)
    with found_file(Path(path), way, int(n)).open("wb") as file:
        pickle.dump((communities, pairs), file)
    return {**stages[way], **said}


def found_file(path: Path, way: str, n: int) -> Path:
    return path.parent / f"{hashlib.sha256(way.encode()).hexdigest()[:8]}.{n}.pickle"


def vectors_of_texts() -> np.ndarray:
    """Vectors of the texts, from the first run's file if they and the model are the same."""
    from resources.embedding.embedder import Embedder

    texts = gzip.decompress(TEXTS.read_bytes()).decode().splitlines()
    embedder = Embedder()
    key = hashlib.sha256("\n".join([embedder.name, *texts]).encode()).hexdigest()[:16]
    path = home() / "bench" / f"{key}.npy"
    if not path.exists():
        print(f"embedding {len(texts):,} texts ...", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            np.save(file, embedder.encode(texts))
        Path(file.name).rename(path)
    return np.load(path)


def found(path: Path, way: str, n: int) -> tuple:
    return pickle.loads(found_file(path, way, n).read_bytes())


def compared(path: Path, row: Row, way: str, n: int) -> None:
    """Add to the figures of a way how many of the exact mode's pairs it finds."""
    true, pairs = found(path, EXACT, n)[1], found(path, way, n)[1]
    common = len(np.intersect1d(pairs, true, assume_unique=True))
    row["recall"] = round(common / max(len(true), 1), 4)
    row["false_pairs"] = len(pairs) - common


def bench(rounds: int) -> Row:
    vectors = vectors_of_texts()
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as folder:
        path = Path(folder) / "vectors.npy"
        np.save(path, vectors)
        rows = {
            n: best_of(ways, rounds, lambda way, n=n: figures_of(__spec__.name, way, path, n))
            for n, ways in ROUNDS_OF.items()
        }
        for n in (MANY, FEW):
            wanted, _ = found(path, REFERENCE, n)
            for way in {EXACT, FLOAT32} & set(rows[n]):
                made, _ = found(path, way, n)
                same = {frozenset(each) for each in made} == {frozenset(each) for each in wanted}
                centres = {each[0] for each in made} == {each[0] for each in wanted}
                rows[n][way] |= {"same_communities": same, "same_centres": centres}
            for row in rows[n].values():
                row["times_faster"] = round(rows[n][REFERENCE]["wall_s"] / row["wall_s"], 2)
        for way in (FLAT, APPROXIMATE):
            compared(path, rows[MANY][way], way, MANY)
        for n in rows:
            for way, row in rows[n].items():
                communities, _ = found(path, way, n)
                row["communities"] = None if communities is None else len(communities)
        n_pairs = len(found(path, EXACT, MANY)[1])
    seconds = {n: {way: row["wall_s"] for way, row in rows[n].items()} for n in (MANY, FEW)}
    return {
        "cores": os.cpu_count(),
        "texts": rows,
        "pairs": n_pairs,
        "growth_of_exact": round(seconds[MANY][EXACT] / seconds[FEW][EXACT], 2),
        "growth_of_reference": round(seconds[MANY][REFERENCE] / seconds[FEW][REFERENCE], 2),
    }


def show(figures: Row) -> None:
    for n, rows in figures["texts"].items():
        title = f"{n:,} texts, 384 dimensions, tau = {TAU}, {figures['cores']} cores"
        columns = ["wall_s", "cpu_s", "times_faster", "peak_mib", "communities"]
        print_table(title, rows, [*columns, "same_communities", "recall"])
    print(
        f"\n{MANY / FEW:.0f} x as many texts take the exact mode {figures['growth_of_exact']} x as "
        f"long, {REFERENCE} {figures['growth_of_reference']} x.\n"
    )


def main() -> None:
    if is_part(measure=measure):
        return
    given = options(__doc__, rounds=3)
    if not TEXTS.exists():
        sys.exit(f"{TEXTS} is not there: the texts to cluster are read from it.")
    figures = bench(given.rounds)
    show(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
