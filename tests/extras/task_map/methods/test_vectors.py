"""Products and distances of task vectors: by hand, and the law that low-rank products are full ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extras.task_map.methods.vectors import (
    ZeroTaskVectorError,
    cosine_distances,
    full_products,
    low_rank_products,
)


def test_three_vectors_by_hand() -> None:
    # East, north-east and west: cosines 1/sqrt(2), -1 and -1/sqrt(2).
    products = full_products(np.array([[2.0, 0.0], [1.0, 1.0], [-3.0, 0.0]]))
    assert products.tolist() == [[4, 2, -6], [2, 2, -3], [-6, -3, 9]]
    half = 1 / np.sqrt(2)
    assert cosine_distances(products, ["e", "ne", "w"]) == pytest.approx(
        np.array([[0, 1 - half, 2], [1 - half, 0, 1 + half], [2, 1 + half, 0]])
    )


def test_two_adapters_by_hand() -> None:
    # B A = [[1, 2], [0, 0]] and [[0, 0], [3, 0]]; then the first again with twice the numbers.
    ups = [np.array([[1.0], [0.0]]), np.array([[0.0], [3.0]]), np.array([[2.0], [0.0]])]
    downs = [np.array([[1.0, 2.0]]), np.array([[1.0, 0.0]]), np.array([[1.0, 2.0]])]
    assert low_rank_products(ups, downs).tolist() == [[5, 0, 10], [0, 9, 0], [10, 0, 20]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=5),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 10_000),
)
def test_low_rank_products_are_those_of_the_full_changes(
    ranks: list[int], n_out: int, n_in: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    ups = [generator.standard_normal((n_out, rank)) for rank in ranks]
    downs = [generator.standard_normal((rank, n_in)) for rank in ranks]
    full = np.array([(up @ down).ravel() for up, down in zip(ups, downs, strict=True)])
    assert low_rank_products(ups, downs) == pytest.approx(full_products(full), rel=1e-9, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 100))
def test_distances_do_not_depend_on_lengths_and_lie_between_0_and_2(seed: int, by: float) -> None:
    vectors = np.random.default_rng(seed).standard_normal((4, 7))
    distances = cosine_distances(full_products(vectors), "abcd")
    vectors[1] *= by
    assert distances == pytest.approx(cosine_distances(full_products(vectors), "abcd"))
    assert (distances >= 0).all() and (distances <= 2).all()
    assert (distances == distances.T).all() and not np.diag(distances).any()


def test_a_vector_of_zeros_has_no_direction() -> None:
    with pytest.raises(ZeroTaskVectorError, match="The weights of still are those of the base"):
        cosine_distances(full_products(np.array([[1.0, 0.0], [0.0, 0.0]])), ["moved", "still"])
