"""Groups of copies: what hangs together by pairs, under the smallest id."""

from methods.ingest.near_duplicates import duplicate_groups


def test_pairs_that_share_an_image_are_one_group_under_its_smallest_id():
    groups = duplicate_groups([("b", "d"), ("c", "e"), ("d", "f")])
    assert groups == {"b": "b", "d": "b", "f": "b", "c": "c", "e": "c"}


def test_without_pairs_there_are_no_groups():
    assert duplicate_groups([]) == {}
