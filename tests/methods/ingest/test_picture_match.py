"""Two pictures are the same if their detail is: copies are, pictures alike from afar are not."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from methods.ingest.image_quality import measure_image
from methods.ingest.near_duplicates import near_duplicates
from methods.ingest.picture_candidates import candidates, code
from methods.ingest.picture_frame import inside_frame
from methods.ingest.picture_match import SIDE, best_match, grey_square, match
from tests.methods.ingest.pictures_drawn import COPIES, file_of, framed, nebula, texture


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


@pytest.mark.parametrize("colour", ["white", "black"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_two_pictures_in_one_frame_are_two(colour, share):
    one, other = (grey_square(file_of(framed(texture(seed), colour, share))) for seed in (1, 2))
    assert not best_match(one, other, 1.0, False).is_same


def test_what_has_no_sharp_edge_or_not_on_all_sides_is_no_frame():
    """Dark sky around something bright, paper around a line, letterboxes."""
    whole = (0, 0, 320, 320)
    assert inside_frame(nebula(0).convert("L")) == whole
    paper = Image.new("L", (320, 320), "white")
    ImageDraw.Draw(paper).line((40, 40, 280, 250), width=3)
    assert inside_frame(paper) == whole
    boxed = Image.new("L", (320, 320))
    boxed.paste(texture(0).convert("L").crop((0, 0, 320, 200)), (0, 60))
    assert inside_frame(boxed) == whole


def test_a_frame_ends_where_the_picture_begins():
    framed_ = framed(texture(0), "white", 0.1).convert("L")
    assert inside_frame(framed_) == pytest.approx((32, 32, 352, 352), abs=6)
