"""Angles of questions: all of them before one comes again, the same ones for the same seed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu.reading import ON_SEVERAL, assign_angles


@given(st.integers(0, 60), st.integers(), st.text())
def test_no_angle_comes_again_before_all_have_come(n: int, seed: int, of: str) -> None:
    taken = assign_angles(ON_SEVERAL, n, seed, of)
    assert len(taken) == n
    counts = Counter(angle.name for angle in taken)
    assert not counts or max(counts.values()) <= -(-n // len(ON_SEVERAL))
    assert taken == assign_angles(ON_SEVERAL, n, seed, of)
    # More questions keep the angles of the first ones.
    assert assign_angles(ON_SEVERAL, n + 1, seed, of)[:n] == taken
