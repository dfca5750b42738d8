"""The kinds of things that people review: each has its pane, its samples and a content that holds."""

import ast

import pytest

from methods.review import KINDS
from methods.review.kinds import ReviewKind
from resources.files.home import REPO_ROOT
from review.pages.frame import LANGUAGES, texts

PANES = REPO_ROOT / "review" / "templates" / "kinds"
EVERY_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def test_every_kind_has_a_pane_and_every_pane_a_kind() -> None:
    assert {path.stem for path in PANES.glob("[!_]*.html")} == KINDS.keys()


@EVERY_KIND
def test_it_is_found_by_its_name_and_what_may_change_is_of_its_content(kind: ReviewKind) -> None:
    assert KINDS[kind.name] is kind
    assert kind.editable and set(kind.editable) <= set(kind.keys)


@EVERY_KIND
def test_a_content_that_is_none_is_refused_in_one_sentence(kind: ReviewKind) -> None:
    original = dict.fromkeys(kind.keys, "x")
    with pytest.raises(ValueError, match=r"^[^.]+\.$"):
        kind.check({}, original)


def test_every_fault_of_an_edit_is_said_in_every_language() -> None:
    parsed = [
        ast.parse((REPO_ROOT / "methods" / "review" / name).read_text(encoding="utf-8"))
        for name in ("faults.py", "kinds.py", "decisions.py")
    ]
    constants = [
        each for tree in parsed for each in ast.walk(tree) if isinstance(each, ast.Constant)
    ]
    calls = [each for tree in parsed for each in ast.walk(tree) if isinstance(each, ast.Call)]
    said = {
        argument.value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ("EditFault", "require_different")
        for argument in call.args
        if isinstance(argument, ast.Constant)
    } | {each.value for each in constants if str(each.value).startswith("an earlier ")}
    assert len(said) > 10
    for language in LANGUAGES:
        assert said <= texts(language).keys(), language
