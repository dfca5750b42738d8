"""Two pictures are the same if their detail is: copies are, pictures alike from afar are not."""

import numpy as np
import pytest

from methods.ingest.image_quality import measure_image
from methods.ingest.near_duplicates import near_duplicates
from methods.ingest.picture_candidates import candidates, code
from methods.ingest.picture_match import SIDE, best_match, grey_square, match
from tests.methods.ingest.pictures_drawn import COPIES, file_of, nebula, texture


def compared(one: bytes, other: bytes):
    """The match of two files, as their codes suggest."""
    squares = [grey_square(one), grey_square(other)]
    [each] = candidates([code(square) for square in squares])
    return best_match(squares[each.whole], squares[each.part], each.scale, each.mirrored)


@pytest.mark.parametrize("drawn", [texture, nebula])
@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_the_same_picture(drawn, kind):
    for seed in range(3):
        image = drawn(seed)
        found = compared(file_of(image), COPIES[kind](image))
        assert found.is_same, (seed, found)


def test_dark_pictures_with_a_bright_middle_are_not_the_same_though_their_hashes_are_near():
    files = [file_of(nebula(seed)) for seed in range(12)]
    by_hash = near_duplicates(
        [f"{n:02}" for n in range(12)], [measure_image(each).phash for each in files], 4
    )
    assert len(by_hash) > 5
    squares = [grey_square(each) for each in files]
    for one in range(12):
        for other in range(one):
            found = best_match(squares[one], squares[other], 1.0, False)
            assert found.detail < 0.4 and not found.is_same


def test_a_picture_is_itself_and_a_uniform_one_is_like_none():
    square = grey_square(file_of(texture(0)))
    found = match(square, square)
    assert found.detail == pytest.approx(1, abs=1e-3) and found.common == 1
    flat = np.full((SIDE, SIDE), 255, dtype=np.float32)
    assert not match(flat, flat).is_same and not match(square, flat).is_same


def test_two_pictures_with_one_mark_are_two():
    one, other = (grey_square(COPIES["marked"](texture(seed))) for seed in (1, 2))
    assert not best_match(one, other, 1.0, False).is_same
