"""The kinds of things that people review: each has its pane, its samples and a content that holds."""

import pytest

from methods.review import KINDS
from methods.review.kinds import Kind
from resources.home import REPO_ROOT

PANES = REPO_ROOT / "review" / "templates" / "kinds"
EVERY_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def test_every_kind_has_a_pane_and_every_pane_a_kind() -> None:
    assert {path.stem for path in PANES.glob("[!_]*.html")} == KINDS.keys()


@EVERY_KIND
def test_it_is_found_by_its_name_and_what_may_change_is_of_its_content(kind: Kind) -> None:
    assert KINDS[kind.name] is kind
    assert kind.editable and set(kind.editable) <= set(kind.keys)


@EVERY_KIND
def test_a_content_that_is_none_is_refused_in_one_sentence(kind: Kind) -> None:
    original = dict.fromkeys(kind.keys, "x")
    with pytest.raises(ValueError, match=r"^[^.]+\.$"):
        kind.check({}, original)
