"""Which release is meant by what a person types."""

from resources.publishing.releases import release_meant
from tests.assets.filled import put


def test_an_exact_id_is_that_release_whatever_other_releases_are_named(empty_warehouse):
    names = {"mmdu-1": "mmdu", "mmdu-1-2": "mmdu-1"}
    same = {"kind": "benchmark", "origin": "built", "review_policy": "none"}
    cards = [{**same, "release_id": release_id, "name": name} for release_id, name in names.items()]
    current = [{"name": name, "release_id": release_id} for release_id, name in names.items()]
    put(empty_warehouse, {"release.releases": cards, "release.current": current})
    meant = {said: release_meant(empty_warehouse, said) for said in ("mmdu", "mmdu-1", "mmdu-1-")}
    assert meant == {"mmdu": "mmdu-1", "mmdu-1": "mmdu-1", "mmdu-1-": "mmdu-1-2"}
