"""Which pictures are compared: copies are among them, and the pairs do not grow with their square."""

import numpy as np
import pytest

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
from methods.ingest.picture_match import UPRIGHT
from methods.ingest.picture_thumbnail import TURNS, square, thumbnail, turned
from tests.methods.ingest.pictures_drawn import COPIES, file_of, texture

pytestmark = pytest.mark.slow


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
