"""Registries: the shipped models.yaml, and the kinds of things that people review."""

import ast

import pytest

from methods.review import KINDS
from resources.files.home import REPO_ROOT
from resources.llm.registry import load_registry
from resources.mock_server.chat_completion import MODELS
from review.pages.frame import LANGUAGES, texts

REGISTRY = load_registry(REPO_ROOT / "models.yaml")
ENTRIES = REGISTRY.models.values()


def test_every_model_of_a_profile_has_an_entry_and_every_entry_is_in_a_profile() -> None:
    for name in REGISTRY.profiles:
        profile = REGISTRY.profile(name)
        assert profile.evaluate and len(set(profile.evaluate)) == len(profile.evaluate)
    named = {model for profile in REGISTRY.profiles.values() for model in profile.models}
    assert named == REGISTRY.models.keys()


def test_the_mock_entries_are_the_models_that_the_mock_server_has() -> None:
    entries = {entry.model for entry in ENTRIES if entry.provider == "mock"}
    assert entries == set(MODELS)


def test_what_an_entry_costs_is_never_less_than_nothing() -> None:
    for entry in ENTRIES:
        assert entry.cost(0, 0) == 0
        assert entry.cost(1000, 1000) >= entry.cost(1000, 1000, via="batch") >= 0
        # Who has a key has a price: a call that costs nothing would pass every budget.
        assert (entry.api_key_env is None) == (entry.cost(1, 1) == 0)


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
