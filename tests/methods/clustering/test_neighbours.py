"""Neighbours within tau: all of them, exactly, and approximately with a known share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.clustering import approximate as approximate
from methods.clustering import neighbours as module
from methods.clustering import pair_filter as filters
from methods.clustering.approximate import Recall, approximate_neighbours
from methods.clustering.communities import communities_from_graph, threshold_communities
from methods.clustering.pair_filter import MARGIN, make_pair_filter
from tests.methods.clustering.clustered import KINDS, at_angles, clustered_vectors, unit

SEEDS = st.integers(0, 10**6)
TAUS = st.sampled_from([-0.2, 0.0, 0.3, 0.75, 0.9, 0.99])
NUMBERS = ["float32", "int8"]


def filter_by(number: str, patch: pytest.MonkeyPatch) -> None:
    """Filter by heads in `number`, whatever this processor prefers and however few the vectors."""
    patch.setattr(filters, "_multiplies_integers", lambda: number == "int8")
    patch.setattr(filters, "FULL_PRODUCTS_UP_TO", 1)


@pytest.fixture(params=NUMBERS)
def number(request, monkeypatch):
    """Every test that takes it runs with either first pass."""
    filter_by(request.param, monkeypatch)
    return request.param


def near(vectors, tau) -> list[list[bool]]:
    """Which vectors are neighbours, as found; equal ones are, nobody is its own."""
    found = module.find_neighbours(vectors, tau)
    rows = len(found.prepared.vectors)
    together = np.eye(rows, dtype=bool)
    together[np.repeat(np.arange(rows), np.diff(found.starts)), found.indices] = True
    of_all = together[found.prepared.distinct_of][:, found.prepared.distinct_of]
    np.fill_diagonal(of_all, False)
    return of_all.tolist()


def near_by_definition(vectors, tau) -> list[list[bool]]:
    """The same by float64 products of what stands in float32, equal vectors at 1."""
    exact = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    exact[(vectors[:, None] == vectors[None]).all(axis=2)] = 1.0
    within = exact >= tau
    np.fill_diagonal(within, False)
    return within.tolist()


BOTH, NEITHER = [[False, True], [True, False]], [[False, False], [False, False]]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("number", [*NUMBERS, "whole"])
@given(seed=SEEDS, tau=TAUS)
def test_neighbours_are_all_pairs_within_tau(make, number, seed, tau):
    with pytest.MonkeyPatch.context() as patch:
        if number != "whole":
            filter_by(number, patch)
        vectors = module.unit_vectors(make(seed))
        assert near(vectors, tau) == near_by_definition(vectors, tau)


@pytest.mark.parametrize("seed", range(5))
def test_a_pair_at_the_border_is_decided_by_its_float64_product(number, seed):
    a, b = clustered_vectors(seed, n=2, dimensions=384)
    product = float(a.astype(np.float64) @ b.astype(np.float64))
    vectors = np.stack([a, b])
    # The order of summation touches the last bits of a float64, some 1e-16.
    assert near(vectors, product - 1e-14) == BOTH
    assert near(vectors, product + 1e-14) == NEITHER


def test_the_bound_holds_when_every_number_rounds_the_same_way():
    # Units of 1/254: 127 of them, and 15 x 56.49, which become 56; the residual fills up to length 1.
    rest = np.sqrt(254**2 - 127**2 - 15 * 56.49**2)  # 22.84
    heads = np.array([[127, *[56.49] * 15, rest]], dtype=np.float32) / 254
    rounded = filters._rounded(heads, 1.0)
    # What was taken off has the length sqrt(15) x 0.49 = 1.90, with the residual 22.92.
    assert rounded.heads.tolist() == [[127, *[56] * 15, 23]]
    # So 64516 units of 1 have become 127^2 + 15 x 56^2 + 23^2 = 63698, and the bound is lower by
    # 2 x sqrt(63169) x 1.90 = 954.
    assert rounded.bound == 254**2 - 954
    one = rounded.select(slice(None))
    [(row, column)] = rounded.candidates(one, one)
    assert row.tolist() == column.tolist() == [0]


def test_a_pair_far_below_tau_does_not_pass(number):
    vectors = clustered_vectors(1, n=2000, dimensions=64)
    pair_filter = make_pair_filter(vectors, 0.9)
    everyone = pair_filter.select(slice(None))
    n_passed = sum(len(row) for row, _ in pair_filter.candidates(everyone, everyone))
    n_near = int((vectors @ vectors.T >= 0.9 - 2 * MARGIN - 0.05).sum())
    assert n_passed < 4 * n_near < vectors.shape[0] ** 2 / 4


def test_rows_with_one_hash_by_chance_stay_apart(monkeypatch):
    class Fixed:
        def integers(self, _high, *, size, dtype):
            return np.zeros(size, dtype=dtype)

    vectors = unit([[1, 2, 3, 4], [2, 1, 4, 3], [1, 2, 3, 4]])
    # Factors of 1: both rows are sums of the same two halves when the halves are swapped.
    swapped = np.stack([vectors[0], vectors[0][[2, 3, 0, 1]], vectors[0]])
    monkeypatch.setattr(np.random, "default_rng", lambda *_: Fixed())
    first, distinct_of = module._distinct(swapped)
    assert first.tolist() == [0, 1] and distinct_of.tolist() == [0, 1, 0]


def test_copies_cost_no_pairs_and_minus_zero_is_zero():
    # 2,000 copies of 3 vectors are 3 rows; as they come, they would be 2 million pairs.
    vectors = np.repeat(at_angles(0, 10, 90), 2000, axis=0)
    found = module.find_neighbours(vectors, 0.9)
    assert len(found.prepared.vectors) == 3 and len(found.indices) == 2
    assert (
        len(module.prepare(np.array([[0.0, 1.0], [-0.0, 1.0]], dtype=np.float32), 0.9).vectors) == 1
    )
    # Unit vectors keep every bit.
    assert module.unit_vectors(vectors) is vectors


@pytest.mark.parametrize("rows", [1, 7, 89, 200])
def test_blocks_may_come_in_any_size_and_order(rows):
    vectors = clustered_vectors(3)
    prepared = module.prepare(vectors, 0.75)
    found = [module.block_pairs(prepared, *block) for block in module.blocks(prepared, rows)]
    whole = module.find_neighbours(vectors, 0.75)
    for order in (found, found[::-1]):
        merged = module.merge(prepared, order)
        assert len(whole.indices) > 0
        assert merged.indices.tolist() == whole.indices.tolist()
        assert merged.starts.tolist() == whole.starts.tolist()


@pytest.mark.parametrize("tile", [(1, 1), (3, 5), (90, 7), (1024, 4096)])
def test_tiles_of_any_size_find_the_same(monkeypatch, number, tile):
    vectors = clustered_vectors(4)
    wanted = near_by_definition(vectors, 0.75)
    monkeypatch.setattr(filters, "TILE_ROWS", tile[0])
    monkeypatch.setattr(filters, "TILE_COLUMNS", tile[1])
    assert near(vectors, 0.75) == wanted


def test_progress_is_told_block_by_block_and_too_many_pairs_are_refused(monkeypatch):
    told = []
    blocks = module.blocks
    monkeypatch.setattr(module, "blocks", lambda prepared: blocks(prepared, 30))
    module.find_neighbours(clustered_vectors(0), 0.75, lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    # Too many pairs are refused in one sentence.
    monkeypatch.setattr(module, "MAX_PAIRS", 10)
    with pytest.raises(
        module.ThresholdError, match=r"More than 10 pairs lie within tau = -1: raise tau"
    ):
        module.find_neighbours(clustered_vectors(0), -1)


@pytest.mark.parametrize(
    ("vectors", "tau", "reason"),
    [
        *((at_angles(0, 1), tau, "tau is a cosine") for tau in (-1.01, 1.01, float("nan"))),
        *((np.float32([[bad, 0], [1, 0]]), 0.75, "not finite") for bad in (np.nan, np.inf)),
    ],
)
def test_a_tau_that_is_no_cosine_and_numbers_that_are_not_finite_are_refused(vectors, tau, reason):
    with pytest.raises(module.ThresholdError, match=reason):
        module.find_neighbours(vectors, tau)


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
    true = pairs_of(module.find_neighbours(many(), TAU))
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
    monkeypatch.setattr(approximate, "_probes_for", lambda *_: 1)
    true = pairs_of(module.find_neighbours(many(), TAU))
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
    monkeypatch.setattr(approximate, "_probes_for", lambda _prepared, centres, *_: centres.ntotal)
    for seed in range(5):
        vectors = make(seed)
        found, recall = approximate_neighbours(vectors, TAU)
        assert communities_from_graph(found) == threshold_communities(vectors, TAU)
        assert recall.share == 1.0
