"""Which pictures are compared: copies are among them, and the pairs do not grow with their square."""

import numpy as np
import pytest

from methods.ingest import picture_candidates
from methods.ingest.picture_candidates import (
    CROPS,
    NEAREST,
    as_code,
    candidates,
    candidates_between,
    code,
)
from methods.ingest.picture_match import square
from tests.methods.ingest.pictures_drawn import COPIES, file_of, texture


def codes_of(*files: bytes):
    return [code(square(each).grey) for each in files]


@pytest.fixture(scope="module")
def originals():
    """Codes of twenty pictures."""
    return codes_of(*(file_of(texture(seed)) for seed in range(20)))


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_a_candidate_among_others(kind, originals):
    found = candidates([*originals, *codes_of(COPIES[kind](texture(7)))])
    [way] = [each for each in found if {each.whole, each.part} == {7, 20}]
    assert way.mirrored == (kind == "mirrored")


def test_a_crop_is_found_in_the_picture_that_it_was_cut_from():
    [way] = candidates(codes_of(file_of(texture(0)), COPIES["cropped 10 %"](texture(0))))
    assert (way.whole, way.part, way.scale) == (0, 1, pytest.approx(0.8))


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_in_another_list_is_found_however_many_of_its_own_list_are_nearer(kind):
    original, copy = file_of(texture(7)), COPIES[kind](texture(7))
    first = codes_of(original) * (2 * NEAREST)
    [other] = codes_of(copy)
    found = candidates_between(first, [other])
    assert found and all(max(each[:2]) == len(first) for each in found)
    assert all(min(each[:2]) == 0 for each in candidates_between([other], first))
    assert candidates_between(first, []) == candidates_between([], first) == []


def test_many_that_are_alike_are_few_pairs():
    draw = np.random.default_rng(0)
    middle = draw.normal(size=(len(CROPS), 63))
    many = [middle + draw.normal(size=middle.shape) / 10 for _ in range(500)]
    many = [
        (each / np.linalg.norm(each, axis=1, keepdims=True)).astype(np.float32) for each in many
    ]
    found = candidates(many)
    assert 500 <= len(found) <= 500 * 2 * (NEAREST + 1) * len(CROPS)
    assert len({(each.whole, each.part) for each in found}) == len(found)


def test_the_search_by_cells_finds_what_comparing_all_finds(monkeypatch):
    draw = np.random.default_rng(0)
    own = draw.normal(size=(600, len(CROPS), 63))
    own = np.concatenate([own, own[:50] + draw.normal(size=own[:50].shape) / 5])
    codes = list((own / np.linalg.norm(own, axis=2, keepdims=True)).astype(np.float32))
    wanted = {(n, 600 + n) for n in range(50)}
    for few in (10_000, 100):
        monkeypatch.setattr(picture_candidates, "EXACT_UP_TO", few)
        found = {(min(each[:2]), max(each[:2])) for each in candidates(codes)}
        assert len(wanted & found) >= 48


def test_a_code_is_the_same_after_it_was_stored_and_none_and_one_have_no_pairs():
    [of_picture] = codes_of(file_of(texture(0)))
    assert np.array_equal(as_code(of_picture.ravel().tolist()), of_picture)
    assert np.linalg.norm(of_picture, axis=1) == pytest.approx([1] * len(CROPS), abs=1e-5)
    assert candidates([]) == candidates([of_picture]) == []
    uniform = code(np.full((128, 128), 7, dtype=np.float32))
    assert not uniform.any() and candidates([uniform] * 5) == []
