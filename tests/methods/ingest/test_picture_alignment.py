"""A picture is found where it lies on the other one: shifted, scaled, sheared, of another contrast."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.ingest.picture_alignment import aligned, correlations, in_the_middle, moved, reduced
from tests.methods.ingest.pictures_drawn import texture

IDENTITY = in_the_middle(np.ones(1))


def grey(seed: int, side: int = 32):
    image = texture(seed, 160).convert("L").resize((side, side))
    return np.asarray(image, dtype=np.float32)[None]


def test_by_hand():
    rows = np.repeat(np.arange(4, dtype=np.float32), 4).reshape(1, 4, 4)
    same, common = moved(rows, IDENTITY)
    assert same == pytest.approx(rows, abs=0.01) and common.all()
    # A quarter of the way from -1 to 1 is half of the picture's side and two of its four pixels.
    down = IDENTITY + np.array([[[0, 0, 1.0], [0, 0, 0]]])
    shifted, common = moved(rows, down)
    assert shifted[0, :, 0] == pytest.approx([2, 3, 3, 3], abs=0.01)
    assert common[0, :, 0].tolist() == [True, True, False, False]
    # Its middle half is stretched over the square: pixels at 1.5 +- 0.25 and 0.75.
    middle, common = moved(rows, in_the_middle(np.array([0.5])))
    assert middle[0, :, 0] == pytest.approx([0.75, 1.25, 1.75, 2.25], abs=0.01) and common.all()
    assert reduced(rows, 2)[0].tolist() == [[0.5, 0.5], [2.5, 2.5]]
    # 0, 1, 2, 3 and 3, 2, 1, 0 are opposites; of what is uniform there is no correlation.
    assert correlations(rows, 3 - rows, common) == pytest.approx([-1])
    assert correlations(rows, rows * 0 + 7, common) == [0]


change = st.floats(-0.08, 0.08)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(change, change, change, change, change, change, st.floats(0.5, 1.5)),
        min_size=1,
        max_size=4,
    )
)
def test_where_a_picture_was_moved_from_is_found_for_each_of_several(changes):
    ones = np.concatenate([grey(seed) for seed in range(len(changes))])
    wanted = np.array([np.reshape(each[:6], (2, 3)) for each in changes]) + IDENTITY
    others, _ = moved(ones, wanted)
    others = others * np.array([each[6] for each in changes], dtype=np.float32)[:, None, None] + 9
    found = aligned(ones, others, np.repeat(IDENTITY, len(changes), axis=0), 12)
    assert found == pytest.approx(wanted, abs=0.02)


def test_a_mark_does_not_pull_and_what_has_no_detail_stays_where_it_was():
    one = grey(0)
    marked = one.copy()
    marked[0, 20:28, 4:14] = 255
    assert aligned(one, marked, IDENTITY, 10) == pytest.approx(IDENTITY, abs=0.02)
    flat = np.full((1, 32, 32), 90, dtype=np.float32)
    assert aligned(flat, flat, IDENTITY, 5) == pytest.approx(IDENTITY, abs=1e-3)
    assert len(aligned(one[:0], one[:0], IDENTITY[:0], 5)) == 0
