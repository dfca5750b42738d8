"""Code versions: what an asset is made by changes its version, and nobody else's."""

import importlib.util
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
    """Assets whose version is another one than before."""
    after = versions()
    assert after.keys() == before.keys()
    return {key for key in before if before[key] != after[key]}


def test_every_asset_that_is_run_has_a_version_of_its_own_and_what_others_make_has_none(
    before: Versions,
) -> None:
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
def test_a_setting_changes_the_version_of_its_asset_alone(
    before: Versions, home: Path, text: str, made_by_it: set[str]
) -> None:
    (home / "settings.yaml").write_text(text)

    assert changed(before) == made_by_it


def own_prompt(folder: Path, name: str, change: Callable[[str], str]) -> None:
    """The project's prompt as a person's own in `LOOM_PROMPTS`, changed."""
    benchmark, task = name.split("/")
    text = (REPO_ROOT / "methods" / benchmark / "prompts" / f"{task}.md").read_text()
    target = folder / benchmark / f"{task}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(change(text))


@pytest.mark.parametrize(
    ("name", "made_by_it"),
    [
        ("mmdu/summary", {"dialogue/summaries"}),
        ("rewriting/rewrite", {"rewrite/rewrites", "rewrite/seed_rewrites"}),
        ("convbench/write_reference", {"dialogue/turn_references"}),
        ("mmbench/question", {"evaluate/answers"}),
        ("mmiu/write_distractors", {"choice/mmiu_items"}),
        ("quality/ground", {"quality/checks"}),
        ("mmdu/judge", JUDGED_ALONE),
        ("pairwise/compare", {"evaluate/pairs", "evaluate/judge_bias_tests"}),
        ("choice/extract", {"evaluate/answers", "evaluate/second_readings"}),
    ],
)
def test_a_prompt_changes_the_versions_of_what_is_made_by_it(
    name: str,
    made_by_it: set[str],
    before: Versions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own_prompt(tmp_path, name, lambda text: text.rstrip() + "\nBe brief.\n")
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path))
    assert changed(before) == made_by_it


def test_a_copy_is_the_same_prompt_and_one_that_cannot_be_read_is_another(
    before: Versions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path))
    own_prompt(tmp_path, "mmdu/judge", lambda text: text)
    assert changed(before) == set()
    own_prompt(tmp_path / "other", "mmdu/judge", lambda _: "no front matter")
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path / "other"))
    assert changed(before) == JUDGED_ALONE


@pytest.mark.parametrize("wrong", ["relative", "misspelt"])
def test_a_wrong_folder_of_prompts_changes_only_what_prompts_make(
    wrong: str, before: Versions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_prompt(tmp_path / "misspelt", "mmdu/judge", lambda text: text)
    (tmp_path / "misspelt" / "mmdu" / "judge.md").rename(
        tmp_path / "misspelt" / "mmdu" / "jugde.md"
    )

    monkeypatch.setenv("LOOM_PROMPTS", wrong if wrong == "relative" else str(tmp_path / wrong))

    # Definitions load, and these assets' runs say what is wrong.
    assert changed(before) >= {"dialogue/summaries", "rewrite/rewrites", "evaluate/judgments"}


@pytest.fixture
def with_sql(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[str], str]], None]:
    """`with_sql(name, change)`: that file of sql/ has the changed text."""
    original = code_versions.sql_text

    def patch(name: str, change: Callable[[str], str]) -> None:
        monkeypatch.setattr(
            code_versions,
            "sql_text",
            lambda asked: change(original(asked)) if asked == name else original(asked),
        )

    return patch


def test_a_query_changes_the_version_of_the_asset_that_names_it_and_a_comment_does_not(
    before: Versions, with_sql: Callable[[str, Callable[[str], str]], None]
) -> None:
    with_sql("review/reviewable", lambda text: f"-- For people.\n{text}\n  -- The end.\n")
    assert changed(before) == set()
    with_sql("review/reviewable", lambda text: text.replace("\n", "\n    "))
    assert changed(before) == set(), "spacing"
    with_sql("review/reviewable", lambda text: text.replace("SELECT", "SELECT DISTINCT", 1))
    assert changed(before) == {"review/queue"}


def test_a_query_of_a_module_of_the_stage_counts_for_the_assets_that_use_its_functions(
    before: Versions, with_sql: Callable[[str, Callable[[str], str]], None]
) -> None:
    with_sql("dialogue/sets", lambda text: text.replace("SELECT", "SELECT DISTINCT", 1))

    assert "dialogue/summaries" in changed(before) and changed(before) <= GENERATED


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
    changes: dict[str, dict[str, Any]],
    made_by_them: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOM_MODELS", str(tmp_path / "models.yaml"))
    monkeypatch.setenv("LOOM_PROFILE", "p")
    registry(tmp_path / "models.yaml")
    with_these = versions()

    registry(tmp_path / "models.yaml", **changes)

    assert changed(with_these) == made_by_them


def test_the_embedder_changes_the_versions_of_what_is_embedded_alone(
    before: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_EMBEDDER", "sentence-transformers/all-mpnet-base-v2")

    assert changed(before) == {
        *("cluster/embeddings", "dialogue/turn_categories", "rewrite/seed_rewrites"),
        "quality/checks",
    }


def test_other_rules_for_letters_change_the_version_of_what_they_read(
    before: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_versions.strict, "VERSION", "changed")

    assert changed(before) == {"evaluate/answers"}


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str | None]:
    """`source(version=..., module=...)`: the version of `review/queue` if it were made by that."""
    spec = next(spec for spec in specs() if spec.key == dg.AssetKey(["review", "queue"]))

    def made_by(**of: object) -> str | None:
        with monkeypatch.context() as patch:
            before = tables.SOURCES["review.queue"]
            patch.setitem(tables.SOURCES, "review.queue", before._replace(**of))
            return code_version(spec)

    return made_by


def test_an_asset_says_by_its_own_version_that_its_method_is_another(
    source: Callable[..., str | None],
) -> None:
    assert source() == source(version="1") != source(version="2")


@pytest.fixture
def module(tmp_path: Path) -> Callable[[str], ModuleType]:
    """`module(text)`: a module of that code."""

    def written(text: str) -> ModuleType:
        path = tmp_path / f"m{abs(hash(text))}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    return written


def test_a_refactoring_is_no_other_version(
    source: Callable[..., str | None], module: Callable[[str], ModuleType]
) -> None:
    """The module's code counts by the prompts and SQL files that it names, and not by its words."""

    plain = module('QUERY = "review/reviewable"\n')
    renamed = module(
        '"""Other words; see a/b."""\n\n\ndef rows():\n    return "review/reviewable"\n'
    )
    other = module('QUERY = "review/queue"\n')

    assert source(module=plain) == source(module=renamed) != source(module=other)


def test_columns_are_part_of_the_version(before: Versions, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = code_versions.declared_columns()
    more = [*declared["evaluate.reports"], ("colour", "VARCHAR", True)]
    monkeypatch.setattr(
        code_versions, "declared_columns", lambda: {**declared, "evaluate.reports": more}
    )

    assert changed(before) == {"evaluate/reports"}
