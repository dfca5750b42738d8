"""Resources as the UI shows them: each has its name, and says in a sentence what it is."""

import re

import pytest

from dagster_project.resources import make_resources

RESOURCES = make_resources()


@pytest.mark.parametrize("name", RESOURCES)
def test_a_resource_says_what_it_is(name: str) -> None:
    assert re.fullmatch(r"[A-Z].{20,140}\.", RESOURCES[name].description or "")


@pytest.mark.parametrize("name", RESOURCES)
def test_what_the_ui_shows_as_its_type_is_its_name(name: str) -> None:
    function = RESOURCES[name].resource_fn
    assert (function.__module__, function.__name__) == ("dagster_project.resources", name)


def test_no_two_say_the_same() -> None:
    assert len({each.description for each in RESOURCES.values()}) == len(RESOURCES)
