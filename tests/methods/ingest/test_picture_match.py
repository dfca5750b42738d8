"""Copies have the same structure and colours and are compared; images of one template do not."""

from itertools import combinations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from methods.ingest import picture_candidates
from methods.ingest.near_duplicates import duplicate_groups
from methods.ingest.picture_candidates import (
    CROPS,
    NEAREST,
    candidates,
    candidates_between,
    codes,
    nearest_ways,
    turned_codes,
)
from methods.ingest.picture_match import UPRIGHT, CopyGeometry, Match, best_alignment, match
from methods.ingest.picture_thumbnail import TURNS, inside_frame, square, thumbnail, turned
from tests.methods.ingest.pictures_drawn import COPIES, file_of, framed, nebula, texture

pytestmark = pytest.mark.slow


def square_of(data: bytes):
    return square(thumbnail(data))


def compared(one: bytes, other: bytes):
    """The match of two files, as their codes suggest."""
    squares = [square_of(one), square_of(other)]
    of_pictures = codes([each.miniature() for each in squares])
    [each] = nearest_ways(of_pictures, candidates(of_pictures))
    return matched(squares[each.whole], squares[each.part], CopyGeometry(each.scale, each.turn))


def matched(one, other, geometry=UPRIGHT):
    alignment = best_alignment(one.miniature(), other.miniature(), geometry)
    return match(one, other, alignment) if alignment else Match()


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


def test_dark_pictures_with_a_bright_middle_are_not_the_same():
    squares = [square_of(file_of(nebula(seed))) for seed in range(8)]
    for one, other in combinations(squares, 2):
        found = matched(one, other)
        assert found.correlation < 0.6 and not found.is_same


def test_a_picture_is_itself_and_a_uniform_one_is_like_none():
    one = square_of(file_of(texture(0)))
    found = matched(one, one)
    assert found.correlation == pytest.approx(1, abs=0.01)
    assert (found.common, found.differing, found.mark, found.other_colour) == (1, 0, 0, 0)
    flat = square_of(file_of(Image.new("RGB", (320, 320), "white")))
    assert not matched(flat, flat).is_same and not matched(one, flat).is_same


def tricolour(*bands: str) -> Image.Image:
    image = Image.new("RGB", (300, 200))
    for place, colour in enumerate(bands):
        ImageDraw.Draw(image).rectangle((100 * place, 0, 100 * place + 100, 200), fill=colour)
    return image


def clock(hour: int) -> Image.Image:
    image = Image.new("RGB", (240, 240), "white")
    pen = ImageDraw.Draw(image)
    pen.ellipse((10, 10, 230, 230), outline="black", width=8)
    for mark in range(12):
        turn = np.pi * mark / 6
        at = 120 + 90 * np.sin(turn), 120 - 90 * np.cos(turn)
        pen.ellipse((at[0] - 5, at[1] - 5, at[0] + 5, at[1] + 5), fill="black")
    turn = np.pi * hour / 6
    pen.line((120, 120, 120 + 60 * np.sin(turn), 120 - 60 * np.cos(turn)), fill="black", width=9)
    pen.line((120, 120, 120, 35), fill="black", width=6)
    return image


def folder(colour: str) -> Image.Image:
    image = Image.new("RGB", (256, 256), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((20, 40, 120, 80), fill=colour)
    pen.rectangle((20, 64, 236, 220), fill=colour)
    pen.rectangle((40, 100, 216, 112), fill="white")
    return image


TEMPLATES = {
    "flags": [
        tricolour("#0055a4", "white", "#ef4135"),
        tricolour("#009246", "white", "#ce2b37"),
        tricolour("#169b62", "white", "#ff883e"),
        tricolour("#008751", "white", "#008751"),
    ],
    "clocks": [clock(hour) for hour in (1, 3, 5, 8, 10)],
    "icons": [folder(colour) for colour in ("#d33", "#3a3", "#36c", "#e90", "#888")],
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_drawings_of_one_template_are_not_the_same_and_copies_of_each_are(kind):
    drawn = TEMPLATES[kind]
    squares = [square_of(file_of(image)) for image in drawn]
    for one in range(len(drawn)):
        half = drawn[one].resize((drawn[one].width // 2, drawn[one].height // 2))
        assert matched(squares[one], square_of(file_of(half))).is_same
        for other in range(one):
            found = matched(squares[one], squares[other])
            assert not found.is_same, (one, other, found)


def toned(image: Image.Image, dark, light) -> Image.Image:
    """In the tones between two colours, as an old print is."""
    levels = np.asarray(image.convert("L"), dtype=float)[..., None] / 255
    tones = np.array(dark) + (np.array(light) - dark) * levels
    return Image.fromarray(tones.astype(np.uint8))


def test_a_copy_in_grey_or_tinted_or_with_another_gamma_is_the_same_picture_and_no_drawing():
    planes = [texture(seed).convert("L") for seed in range(2)]
    image = Image.merge("RGB", (*planes, planes[0]))
    curve = [round(255 * (level / 255) ** 1.5) for level in range(256)]
    sepia, cyanotype = ((40, 20, 5), (250, 230, 190)), ((8, 30, 70), (235, 245, 250))
    grey = image.convert("L").convert("RGB")
    for copy in (grey, image.point(curve * 3), toned(image, *sepia), toned(image, *cyanotype)):
        assert matched(square_of(file_of(image)), square_of(file_of(copy))).is_same
    # A drawing of flat colours in another tone is another one.
    original, tinted = folder("#36c"), toned(folder("#36c"), *sepia)
    assert not matched(square_of(file_of(original)), square_of(file_of(tinted))).is_same


def test_a_caption_at_the_edge_of_a_graphic_is_a_mark():
    for image in TEMPLATES["clocks"][:2]:
        captioned = image.copy()
        font, (width, height) = ImageFont.load_default(size=15), image.size
        pen = ImageDraw.Draw(captioned)
        pen.text((width - 6, height - 4), "example.org", "darkred", font, anchor="rs")
        found = matched(square_of(file_of(image)), square_of(file_of(captioned)))
        assert found.is_same and found.is_added, found


SAME = Match(1, 0.95, 100, 0, 0, False, False, 9, 30, 0)
"""Two photographs that are the same."""


def test_the_evidence_is_the_correlation_less_three_standard_errors():
    """By hand: of a correlation of 0.8 the standard error is 0.6 in one window, 0.06 in 100."""
    assert Match(1, 0.8, 1).evidence == pytest.approx(0.8 - 1.8)
    assert Match(1, 0.8, 100).evidence == pytest.approx(0.62)
    assert SAME.is_same and not SAME._replace(windows=8).is_same
    assert not SAME._replace(common=0.49).is_same
    # Colours of few levels agree more closely.
    other = SAME._replace(other_colour=20)
    assert other.is_same and not other._replace(other_colour=25).is_same
    assert not other._replace(levels=3).is_same


def test_a_mark_hides_structure_in_a_photograph_and_adds_some_to_a_graphic():
    marked = SAME._replace(mark=0.1, differing=0.02)
    assert marked.is_same and not marked._replace(differing=0.03).is_same
    graphic = SAME._replace(mark=0.1, differing=0.005, coarse_levels=3)
    assert not graphic.is_same and graphic._replace(is_added=True).is_same
    assert not graphic._replace(is_added=True, differing=0.02).is_same
    assert graphic._replace(mark=0).is_same
    assert not graphic._replace(mark=0, is_turned=True).is_same
    assert graphic._replace(mark=0, is_turned=True, correlation=0.99).is_same


@pytest.mark.parametrize("colour", ["white", "black"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_two_pictures_in_one_frame_are_two(colour, share):
    one, other = (square_of(file_of(framed(texture(seed), colour, share))) for seed in (1, 2))
    assert not matched(one, other).is_same


def test_a_frame_has_a_sharp_edge_on_all_sides_and_ends_where_the_picture_begins():
    """Dark sky around something bright, paper around a line, and letterboxes are none."""
    framed_ = framed(texture(0), "white", 0.1).convert("L")
    assert inside_frame(framed_) == pytest.approx((32, 32, 352, 352), abs=6)
    whole = (0, 0, 320, 320)
    assert inside_frame(nebula(0).convert("L")) == whole
    paper = Image.new("L", (320, 320), "white")
    ImageDraw.Draw(paper).line((40, 40, 280, 250), width=3)
    assert inside_frame(paper) == whole
    boxed = Image.new("L", (320, 320))
    boxed.paste(texture(0).convert("L").crop((0, 0, 320, 200)), (0, 60))
    assert inside_frame(boxed) == whole


def codes_of(*files: bytes):
    return codes([square(thumbnail(each)).miniature() for each in files])


TURN_OF = {"mirrored": "mirrored", "turned by 90 degrees": "three quarters"}


@pytest.fixture(scope="module")
def originals():
    """Codes of twenty pictures."""
    return codes_of(*(file_of(texture(seed)) for seed in range(20)))


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_a_candidate_among_others(kind, originals):
    of_pictures = np.concatenate([originals, codes_of(COPIES[kind](texture(7)))])
    assert (7, 20) in candidates(of_pictures)
    [way] = nearest_ways(of_pictures, [(7, 20)])
    assert way.turn == TURN_OF.get(kind, "none")


def test_a_pair_of_which_no_way_is_near_is_upright_and_whole(originals):
    assert (0, 1) not in candidates(originals)
    assert nearest_ways(originals, [(0, 1), (3, 3)]) == [(0, 1, *UPRIGHT), (3, 3, *UPRIGHT)]
    assert nearest_ways(originals, []) == []


def test_a_crop_is_found_in_the_picture_that_it_was_cut_from():
    of_pictures = codes_of(file_of(texture(0)), COPIES["cropped 10 %"](texture(0)))
    [way] = nearest_ways(of_pictures, candidates(of_pictures))
    assert (way.whole, way.part, way.scale) == (0, 1, pytest.approx(0.8))


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_in_another_list_is_found_however_many_of_its_own_list_are_nearer(kind):
    original, copy = file_of(texture(7)), COPIES[kind](texture(7))
    first, other = np.repeat(codes_of(original), 2 * NEAREST, axis=0), codes_of(copy)
    found = candidates_between(first, other)
    assert found and all(second == len(first) for _, second in found)
    assert all(one == 0 for one, _ in candidates_between(other, first))
    assert candidates_between(first, first[:0]) == candidates_between(first[:0], first) == []


def test_many_that_are_alike_are_few_pairs():
    draw = np.random.default_rng(0)
    middle = draw.normal(size=(len(CROPS), 63))
    many = middle + draw.normal(size=(500, *middle.shape)) / 10
    many /= np.linalg.norm(many, axis=2, keepdims=True)
    found = candidates(many.astype(np.float32))
    assert 500 <= len(found) <= 500 * len(TURNS) * (NEAREST + 1) * len(CROPS)
    assert len(set(found)) == len(found)


def test_the_search_by_cells_finds_what_comparing_all_finds(monkeypatch):
    draw = np.random.default_rng(0)
    own = draw.normal(size=(600, len(CROPS), 63))
    own = np.concatenate([own, own[:50] + draw.normal(size=own[:50].shape) / 5])
    of_all = (own / np.linalg.norm(own, axis=2, keepdims=True)).astype(np.float32)
    wanted = {(n, 600 + n) for n in range(50)}
    for few in (10_000, 100):
        monkeypatch.setattr(picture_candidates, "EXACT_UP_TO", few)
        assert len(wanted & set(candidates(of_all))) >= 48


@pytest.mark.parametrize("turn", TURNS)
def test_a_turned_picture_has_the_turned_code(turn):
    miniature = square(thumbnail(file_of(texture(0)))).miniature()
    [of_whole], [of_turned] = (codes([each])[:, 0] for each in (miniature, turned(miniature, turn)))
    assert turned_codes(of_whole[None], turn)[0] == pytest.approx(of_turned, abs=1e-4)


def test_codes_are_unit_vectors_and_none_and_one_and_uniform_ones_have_no_pairs():
    of_picture = codes_of(file_of(texture(0)))
    assert np.linalg.norm(of_picture[0], axis=1) == pytest.approx([1] * len(CROPS), abs=1e-5)
    assert candidates(of_picture[:0]) == candidates(of_picture) == []
    uniform = codes([np.full((32, 32), 7, dtype=np.float32)] * 5)
    assert not uniform.any() and candidates(uniform) == []


def test_pairs_that_share_an_image_are_one_group_under_its_smallest_id():
    groups = duplicate_groups([("b", "d"), ("c", "e"), ("d", "f")])
    assert groups == {"b": "b", "d": "b", "f": "b", "c": "c", "e": "c"}
