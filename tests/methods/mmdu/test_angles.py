"""Angles of questions: all of them before one comes again, the same ones for the same seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu.reading import ON_ONE, ON_SEVERAL, assign_angles

BOTH = pytest.mark.parametrize("angles", [ON_ONE, ON_SEVERAL], ids=["one", "several"])


@BOTH
def test_angles_have_names_and_words_of_their_own(angles) -> None:
    assert len({angle.name for angle in angles}) == len({angle.says for angle in angles})
    assert len(angles) >= 12


@given(st.integers(0, 60), st.integers(), st.text())
def test_no_angle_comes_again_before_all_have_come(n: int, seed: int, of: str) -> None:
    taken = assign_angles(ON_SEVERAL, n, seed, of)
    assert len(taken) == n
    counts = Counter(angle.name for angle in taken)
    assert not counts or max(counts.values()) <= -(-n // len(ON_SEVERAL))
    assert taken == assign_angles(ON_SEVERAL, n, seed, of)
    # More questions keep the angles of the first ones.
    assert assign_angles(ON_SEVERAL, n + 1, seed, of)[:n] == taken


def test_over_many_sets_every_angle_comes_about_equally_often() -> None:
    counts = Counter(assign_angles(ON_ONE, 1, 0, f"image {n}")[0].name for n in range(1200))
    # 100 each on average, with a standard deviation of 10.
    assert len(counts) == 12 and min(counts.values()) > 60 and max(counts.values()) < 140
