"""Approximate neighbours: none false, nearly all found, and the share that is said is the real one."""

import numpy as np
import pytest

from methods.clustering import approximate as module
from methods.clustering.approximate import Recall, approximate_neighbours
from methods.clustering.communities import communities_from_graph, threshold_communities
from methods.clustering.neighbours import find_neighbours
from tests.methods.clustering.vectors import KINDS, at_angles, unit

TAU = 0.75


def pairs_of(neighbours) -> set[tuple[int, int]]:
    row = np.repeat(np.arange(len(neighbours.starts) - 1), np.diff(neighbours.starts))
    return set(zip(row.tolist(), neighbours.indices.tolist(), strict=True))


def many() -> np.ndarray:
    """4,000 vectors around 200 centres, so wide that half of a centre's pairs are within tau:
    noise of 0.55 of a centre's length makes the mean cosine of two 1 / (1 + 0.55^2) = 0.77."""
    generator = np.random.default_rng(5)
    centres = generator.normal(size=(200, 24))
    noise = 0.55 * generator.normal(size=(4000, 24))
    return unit(centres[generator.integers(0, 200, size=4000)] + noise)


def test_nearly_all_neighbours_are_found_and_no_other():
    true = pairs_of(find_neighbours(many(), TAU))
    found, recall = approximate_neighbours(many(), TAU, wanted=0.99)
    pairs = pairs_of(found)
    assert len(true) > 10_000 and recall.n_probes < recall.n_cells
    assert pairs <= true
    assert len(pairs) / len(true) >= 0.99
    assert recall.share == pytest.approx(len(pairs) / len(true), abs=0.01)
    # Every pair stands in the graph from both sides and once.
    assert len(pairs) == len(found.indices)
    assert {(b, a) for a, b in pairs} == pairs
    assert Recall(n_found=99, true=120, n_sampled=50, n_cells=4, n_probes=2).share == 0.825


def test_recall_counts_what_the_sample_lacks(monkeypatch):
    # One probe only, whatever is wanted: much is missed, and it is said.
    monkeypatch.setattr(module, "_probes_for", lambda *_: 1)
    true = pairs_of(find_neighbours(many(), TAU))
    found, recall = approximate_neighbours(many(), TAU)
    share = len(pairs_of(found)) / len(true)
    assert share < 0.95
    assert recall.share == pytest.approx(share, abs=0.05)


def test_the_same_seed_finds_the_same_and_no_neighbours_have_a_recall_of_one():
    first, said = approximate_neighbours(many(), TAU, seed=3)
    again, said_again = approximate_neighbours(many(), TAU, seed=3)
    assert pairs_of(first) == pairs_of(again) and said == said_again
    # Vectors without neighbours have a recall of one.
    found, recall = approximate_neighbours(at_angles(0, 60, 120, 180, 240, 300), TAU)
    assert len(found.indices) == 0
    assert (recall.n_found, recall.true, recall.share) == (0, 0, 1.0)


@pytest.mark.parametrize("make", KINDS)
def test_looking_into_every_cell_is_exact(make, monkeypatch):
    monkeypatch.setattr(module, "_probes_for", lambda _prepared, centres, *_: centres.ntotal)
    for seed in range(5):
        vectors = make(seed)
        found, recall = approximate_neighbours(vectors, TAU)
        assert communities_from_graph(found) == threshold_communities(vectors, TAU)
        assert recall.share == 1.0
