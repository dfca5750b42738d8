"""What hangs together by links."""

from methods.components import components


def test_things_are_in_one_component_if_links_lead_from_one_to_the_other() -> None:
    found = components([("a", "b"), ("c", "d"), ("e", "e"), ("d", "b")])
    assert list(found) == ["a", "b", "c", "d", "e"]
    assert found["a"] == found["b"] == found["c"] == found["d"] != found["e"]
    assert components([]) == {}
