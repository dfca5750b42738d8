"""Two pictures are the same if their detail is: copies are, pictures alike from afar are not."""

from itertools import combinations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from methods.ingest.image_quality import measure_image
from methods.ingest.near_duplicates import near_duplicates
from methods.ingest.picture_candidates import candidates, codes, nearest_ways
from methods.ingest.picture_match import (
    UPRIGHT,
    CopyGeometry,
    Match,
    best_alignment,
    inside_frame,
    match,
    square,
)
from tests.methods.ingest.pictures_drawn import COPIES, file_of, framed, nebula, star_field, texture

pytestmark = pytest.mark.slow


def compared(one: bytes, other: bytes):
    """The match of two files, as their codes suggest."""
    squares = [square(one), square(other)]
    of_pictures = codes([each.miniature() for each in squares])
    [each] = nearest_ways(of_pictures, candidates(of_pictures))
    return matched(squares[each.whole], squares[each.part], CopyGeometry(each.scale, each.turn))


def matched(one, other, way=UPRIGHT):
    [look] = best_alignment([one.miniature()], [other.miniature()], [way])
    return match(one, other, look) if look.may_be_same else look.as_match()


@pytest.mark.parametrize(
    ("drawn", "kind"),
    # A bar as bright as all that is on a dark picture hides it.
    [(texture, kind) for kind in COPIES] + [(nebula, kind) for kind in COPIES if kind != "marked"],
)
def test_a_copy_is_the_same_picture(drawn, kind):
    for seed in range(2):
        image = drawn(seed)
        found = compared(file_of(image), COPIES[kind](image))
        assert found.is_same, (seed, found)


def test_dark_pictures_with_a_bright_middle_are_not_the_same_though_their_hashes_are_near():
    files = [file_of(nebula(seed)) for seed in range(8)]
    by_hash = near_duplicates(
        [f"{n:02}" for n in range(8)], [measure_image(each).phash for each in files], 4
    )
    assert len(by_hash) > 3
    squares = [square(each) for each in files]
    for one in range(8):
        for other in range(one):
            found = matched(squares[one], squares[other])
            assert found.detail < 0.4 and not found.is_same


def test_a_picture_is_itself_and_a_uniform_one_is_like_none():
    one = square(file_of(texture(0)))
    found = matched(one, one)
    assert found.detail == pytest.approx(1, abs=1e-3)
    assert (found.common, found.differing) == (1, 0)
    flat = square(file_of(Image.new("RGB", (320, 320), "white")))
    assert not matched(flat, flat).is_same and not matched(one, flat).is_same


def tricolour(*bands: str) -> Image.Image:
    image = Image.new("RGB", (300, 200))
    for place, colour in enumerate(bands):
        ImageDraw.Draw(image).rectangle((100 * place, 0, 100 * place + 100, 200), fill=colour)
    return image


def bar_chart(*heights: int) -> Image.Image:
    image = Image.new("RGB", (320, 240), "white")
    pen = ImageDraw.Draw(image)
    for line in range(20, 221, 25):
        pen.line((30, line, 310, line), fill="grey")
    pen.line((30, 10, 30, 220), fill="black", width=3)
    for place, height in enumerate(heights):
        pen.rectangle((45 + 45 * place, 220 - height, 75 + 45 * place, 220), fill="steelblue")
    return image


def staves(seed: int) -> Image.Image:
    image = Image.new("RGB", (400, 160), "white")
    pen, notes = ImageDraw.Draw(image), np.random.default_rng(seed)
    for y in range(50, 91, 10):
        pen.line((10, y, 390, y), fill="black", width=2)
    for x, pitch in zip(range(30, 380, 22), notes.integers(0, 9, 16), strict=True):
        pen.ellipse((x, 40 + 6 * pitch, x + 12, 50 + 6 * pitch), fill="black")
    return image


TEMPLATES = {
    "flags": [
        tricolour("#0055a4", "white", "#ef4135"),
        tricolour("#009246", "white", "#ce2b37"),
        tricolour("#169b62", "white", "#ff883e"),
        tricolour("#008751", "white", "#008751"),
    ],
    "charts": [bar_chart(40, 150, 90, 180, 60, 20), bar_chart(170, 30, 140, 60, 110, 190)],
    "staves": [staves(seed) for seed in range(4)],
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_drawings_of_one_template_are_not_the_same_and_copies_of_each_are(kind):
    drawn = TEMPLATES[kind]
    squares = [square(file_of(image)) for image in drawn]
    for one in range(len(drawn)):
        half = drawn[one].resize((drawn[one].width // 2, drawn[one].height // 2))
        assert matched(squares[one], square(file_of(half))).is_same
        for other in range(one):
            found = matched(squares[one], squares[other])
            assert not found.is_same, (one, other, found)


def test_a_copy_in_grey_or_with_another_gamma_is_the_same_picture():
    image = texture(0)
    curve = [round(255 * (level / 255) ** 1.5) for level in range(256)]
    for copy in (image.convert("L").convert("RGB"), image.point(curve * 3)):
        assert matched(square(file_of(image)), square(file_of(copy))).is_same


def test_the_fewer_places_detail_is_in_the_more_must_it_agree_and_the_less_may_differ():
    """By hand: of a correlation of 0.8 the standard error is 0.6 in one block, 0.15 in sixteen."""
    assert Match(1, 0.8, 1, 1, 0).evidence == pytest.approx(0.2)
    assert Match(1, 0.8, 1, 16, 0).evidence == pytest.approx(0.65)
    assert not Match(1, 0.8, 1, 1, 0).is_same and Match(1, 0.8, 1, 16, 0).is_same
    # 0.2 * 0.65 ** 4 is 0.0357.
    assert Match(1, 0.8, 1, 16, 0.035).is_same and not Match(1, 0.8, 1, 16, 0.037).is_same
    assert not Match(1, 0.8, 0.49, 16, 0).is_same


def test_two_pictures_with_one_mark_are_two():
    one, other = (square(COPIES["marked"](texture(seed))) for seed in (1, 2))
    assert not matched(one, other).is_same


@pytest.mark.parametrize("colour", ["white", "black"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_two_pictures_in_one_frame_are_two(colour, share):
    one, other = (square(file_of(framed(texture(seed), colour, share))) for seed in (1, 2))
    assert not matched(one, other).is_same


def test_dark_pictures_with_the_same_white_corners_are_two():
    """What a program adds on turning a picture is no frame, and has more contrast than a dark sky."""
    turn = COPIES["turned by 5 degrees"]
    turned = [square(turn(star_field(seed))) for seed in range(4)]
    assert not any(matched(*pair).is_same for pair in combinations(turned, 2))


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
