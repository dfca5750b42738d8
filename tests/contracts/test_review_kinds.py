"""The kinds of things that people review: each has its pane, its samples and a content that holds."""

import ast

import pytest

from methods.review import KINDS
from resources.files.home import REPO_ROOT
from review.pages.frame import LANGUAGES, texts

PANES = REPO_ROOT / "review" / "templates" / "kinds"


def test_every_kind_has_a_pane_and_every_pane_a_kind() -> None:
    assert {path.stem for path in PANES.glob("[!_]*.html")} == KINDS.keys()


def test_a_kind_has_its_name_and_a_content_that_is_none_is_refused_in_one_sentence() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        assert kind.editable and set(kind.editable) <= set(kind.keys)
        with pytest.raises(ValueError, match=r"^[^.]+\.$"):
            kind.check({}, dict.fromkeys(kind.keys, "x"))


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
