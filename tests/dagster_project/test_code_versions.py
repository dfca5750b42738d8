"""Code versions: what an asset is made by changes its version, and nobody else's."""

import importlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import pytest
import yaml

from assets.common import tables
from dagster_project import code_versions
from dagster_project.code_versions import code_version
from dagster_project.definitions import build_defs
from resources.files.home import REPO_ROOT

pytestmark = pytest.mark.slow

GENERATED = {f"dialogue/{name}" for name in ("summaries", "questions", "answers", "dialogues")}
JUDGED_ALONE = {"evaluate/judgments", "evaluate/judge_bias_tests", "evaluate/critic_pairs"}
Versions = dict[str, str | None]


@pytest.fixture(autouse=True)
def home(loom_home: Path) -> Path:
    loom_home.mkdir()
    return loom_home


@cache
def specs() -> list[dg.AssetSpec]:
    return list(build_defs().resolve_all_asset_specs())


def versions() -> Versions:
    """The code version of every asset, by its key, as definitions that are loaded now have it."""
    return {spec.key.to_user_string(): code_version(spec) for spec in specs()}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """The versions in a home without settings, which are the same in each."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("LOOM_")]:
            patch.delenv(name)
        patch.setenv("LOOM_WORKSPACE", str(tmp_path_factory.mktemp("home")))
        return versions()


def changed(before: Versions) -> set[str]:
    after = versions()
    assert after.keys() == before.keys()
    return {key for key in before if before[key] != after[key]}


def test_every_asset_that_is_run_has_a_version_of_its_own_and_what_others_make_has_none(before):
    definitions = build_defs()
    run = {
        key.to_user_string() for key in definitions.resolve_asset_graph().materializable_asset_keys
    }

    assert changed(before) == set(), "it is the same each time"
    assert {
        spec.key.to_user_string(): spec.code_version
        for spec in definitions.resolve_all_asset_specs()
    } == before
    assert {key for key, version in before.items() if version is None} == before.keys() - run
    assert before.keys() - run == {
        *("ingest/shards", "ingest/corpus_files", "review/decisions"),
        *("evaluate/predictions", "evaluate/human_scores"),
    }
    made = [version for version in before.values() if version]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize(
    ("text", "made_by_it"),
    [
        ("cluster: {clusters: {tau: 0.6}}", {"cluster/clusters"}),
        ("review: {approved: {require: all}}", {"review/approved"}),
        # Defaults, written out; and what the run says is wrong.
        ("cluster: {clusters: {tau: 0.750, min_size: 2}, cohesion: {}}", set()),
        ("cluster: {clusters: {tau: 7}}", set()),
    ],
)
def test_a_setting_changes_the_version_of_its_asset_alone(before, home, text, made_by_it):
    (home / "settings.yaml").write_text(text)
    assert changed(before) == made_by_it


def own_prompt(folder: Path, name: str, change: Callable[[str], str]) -> Path:
    """The project's prompt as a person's own in `LOOM_PROMPTS`, changed."""
    benchmark, task = name.split("/")
    text = (REPO_ROOT / "methods" / benchmark / "prompts" / f"{task}.md").read_text()
    target = folder / benchmark / f"{task}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(change(text))
    return target


@pytest.mark.parametrize(
    ("name", "made_by_it"),
    [
        ("mmdu/summary", {"dialogue/summaries"}),
        ("rewriting/rewrite", {"rewrite/rewrites", "rewrite/seed_rewrites"}),
        ("mmbench/question", {"evaluate/answers"}),
        ("mmdu/judge", JUDGED_ALONE),
        ("pairwise/compare", {"evaluate/pairs", "evaluate/judge_bias_tests"}),
        ("choice/extract", {"evaluate/answers", "evaluate/second_readings"}),
    ],
)
def test_a_prompt_changes_the_versions_of_what_is_made_by_it(
    before: Versions, tmp_path: Path, monkeypatch, name: str, made_by_it: set[str]
) -> None:
    own_prompt(tmp_path, name, lambda text: text.rstrip() + "\nBe brief.\n")
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path))
    assert changed(before) == made_by_it


def test_a_copy_is_the_same_prompt_one_that_cannot_be_read_another_and_a_wrong_folder_is_no_obstacle(
    before: Versions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path))
    own_prompt(tmp_path, "mmdu/judge", lambda text: text)
    assert changed(before) == set()
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path / "other"))
    own_prompt(tmp_path / "other", "mmdu/judge", lambda _: "no front matter")
    assert changed(before) == JUDGED_ALONE
    # Definitions load, and the runs of what prompts make say what is wrong.
    misspelt = own_prompt(tmp_path / "misspelt", "mmdu/judge", lambda text: text)
    misspelt.rename(misspelt.with_name("jugde.md"))
    for folder in (str(tmp_path / "misspelt"), "relative"):
        monkeypatch.setenv("LOOM_PROMPTS", folder)
        assert changed(before) >= {"dialogue/summaries", "rewrite/rewrites", "evaluate/judgments"}


def test_a_query_changes_the_versions_of_what_uses_it_and_a_comment_or_spacing_does_not(
    before: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = code_versions.sql_text

    def changed_with(name: str, *replaced: str) -> set[str]:
        """The assets of another version when that file of sql/ has another text."""
        text = original(name).replace(*replaced, 1)
        texts = {name: f"-- For people.\n{text}\n  -- The end.\n"}
        monkeypatch.setattr(code_versions, "sql_text", lambda of: texts.get(of) or original(of))
        return changed(before)

    assert changed_with("review/reviewable", "\n", "\n    ") == set()
    assert changed_with("review/reviewable", "SELECT", "SELECT DISTINCT") == {"review/queue"}
    # A module of the stage names it, whose functions these assets use.
    of_module = changed_with("dialogue/sets", "SELECT", "SELECT DISTINCT")
    assert "dialogue/summaries" in of_module and of_module <= GENERATED


def registry(path: Path, **changes: dict[str, Any]) -> None:
    """A registry of a writer, a judge and two models that are evaluated, with these changes."""
    models = {
        name: {
            "provider": "openai",
            "base_url": "http://127.0.0.1:9/v1",
            "model": f"model-{name}",
            **changes.get(name, {}),
        }
        for name in ("w", "j", "a", "b", "c")
    }
    profile = {"writer": "w", "judge": "j", "evaluate": ["a", "b"], **changes.get("profile", {})}
    path.write_text(yaml.safe_dump({"profiles": {"p": profile}, "models": models}))


READ_AND_JUDGED = {
    *("evaluate/answers", "evaluate/second_readings"),
    *("evaluate/judgments", "evaluate/judge_bias_tests", "evaluate/pairs"),
}
"""A judge reads answers that no rule reads where the profile names no extractor."""
WRITTEN = {
    *("dialogue/summaries", "dialogue/questions", "dialogue/answers"),
    *("dialogue/instructions", "dialogue/three_turns", "dialogue/turn_references"),
    *("rewrite/rewrites", "rewrite/seeds", "rewrite/seed_rewrites", "rewrite/contexts"),
    *("choice/items", "choice/translations", "choice/mmiu_items", "quality/checks"),
}


@pytest.mark.parametrize(
    ("changes", "made_by_them"),
    [
        ({"w": {"model": "model-w-2"}}, WRITTEN),
        ({"profile": {"summary": "c"}}, {"dialogue/summaries"}),
        ({"profile": {"answer": "c"}}, {"dialogue/answers", "dialogue/turn_references"}),
        ({"j": {"model": "model-j-2"}}, READ_AND_JUDGED),
        ({"profile": {"evaluate": ["a", "b", "c"]}}, {"evaluate/answers"}),
        # Another server is another model, whatever its name, and so are other parameters.
        ({"w": {"base_url": "http://127.0.0.1:10/v1"}}, WRITTEN),
        ({"j": {"temperature": 0.5}}, READ_AND_JUDGED),
        # A model that no role of the profile has, and how fast a model is asked.
        ({"c": {"model": "model-c-2"}}, set()),
        ({"w": {"concurrency": 2}}, set()),
    ],
    ids=[
        *("writer's model", "summary", "answer", "judge", "newcomer", "address"),
        *("parameters", "unused", "concurrency"),
    ],
)
def test_the_models_of_a_role_change_the_versions_of_what_they_make(
    changes: dict[str, dict[str, Any]], made_by_them: set[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("LOOM_MODELS", str(tmp_path / "models.yaml"))
    monkeypatch.setenv("LOOM_PROFILE", "p")
    registry(tmp_path / "models.yaml")
    with_these = versions()
    registry(tmp_path / "models.yaml", **changes)
    assert changed(with_these) == made_by_them


def test_the_embedder_changes_the_versions_of_what_is_embedded_alone(before, monkeypatch):
    monkeypatch.setenv("LOOM_EMBEDDER", "sentence-transformers/all-mpnet-base-v2")

    assert changed(before) == {
        *("cluster/embeddings", "dialogue/turn_categories", "rewrite/seed_rewrites"),
        "quality/checks",
    }


def test_other_rules_for_letters_change_the_version_of_what_they_read(before, monkeypatch):
    monkeypatch.setattr(code_versions.strict, "VERSION", "changed")

    assert changed(before) == {"evaluate/answers"}


def test_a_refactoring_is_no_other_version_and_an_asset_says_by_its_own_that_its_method_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module's code counts by the prompts and SQL files that it names, and not by its words."""
    spec = next(spec for spec in specs() if spec.key == dg.AssetKey(["review", "queue"]))
    source = tables.SOURCES["review.queue"]

    def made_by(**of: object) -> str | None:
        """The version of `review/queue` if it were made by that."""
        monkeypatch.setitem(tables.SOURCES, "review.queue", source._replace(**of))
        return code_version(spec)

    def module(name: str, text: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name)

    assert made_by() == made_by(version="1") != made_by(version="2")
    plain = module("plain_of_a_test", 'QUERY = "review/reviewable"\n')
    words = '"""Other words; see a/b."""\n\n\ndef rows():\n    return "review/reviewable"\n'
    renamed = module("renamed_of_a_test", words)
    other = module("other_of_a_test", 'QUERY = "review/queue"\n')
    assert made_by(module=plain) == made_by(module=renamed) != made_by(module=other)


def test_columns_are_part_of_the_version(before: Versions, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = code_versions.declared_columns()
    more = [*declared["evaluate.reports"], ("colour", "VARCHAR", True)]
    monkeypatch.setattr(
        code_versions, "declared_columns", lambda: {**declared, "evaluate.reports": more}
    )

    assert changed(before) == {"evaluate/reports"}
