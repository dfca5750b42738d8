"""The checks `whole` and `not_empty`: what rows name is there, and so is what an asset is there for."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.common.tables import SIDE_TABLES
from dagster_project.definitions import defs
from dagster_project.stage_checks import CHECKED_STAGES
from resources.warehouse import Warehouse, sql_text
from tests.assets.filled import Rows, put

IMAGE = "i" * 64
TURNS = [{"question_id": "q", "question": "What?", "answer": "A."}]
THREE = [{"question": "What?", "task": task} for task in ("see", "think", "write")]

SOUND: Rows = {
    "ingest.entries": [{"entry_id": "e", "image_id": IMAGE}],
    "ingest.images": [{"image_id": IMAGE, "md5": "m" * 32, "phash": "p" * 16}],
    "cluster.image_sets": [{"set_id": "s", "entry_id": "e", "kind": "benchmark"}],
    "dialogue.summaries": [{"set_id": "s", "entry_id": "e"}],
    "dialogue.questions": [{"set_id": "s", "question_id": "q", "positions": [1, 2]}],
    "dialogue.answers": [{"question_id": "q"}],
    "dialogue.dialogues": [
        {"dialogue_id": "d", "kind": "benchmark", "n_images": 2, "image_ids": [IMAGE]}
        | {"turns": TURNS}
    ],
    "dialogue.instructions": [{"instruction_id": "n", "entry_id": "e"}],
    "dialogue.three_turns": [
        {"item_id": "t", "instruction_id": "n", "turns": THREE, "focus": ["a boat"]}
    ],
    "dialogue.turn_references": [{"item_id": "t", "turn": 1, "kind": "answer"}],
    "dialogue.turn_categories": [
        {"capability": "reasoning", "name": "think", "nearest": None, "nearest_similarity": None}
    ],
    "rewrite.rewrites": [{"rewrite_id": "r", "dialogue_id": "d"}],
    "rewrite.candidates": [
        {"task": task, "entry_id": "e", "image_id": image_id, "keywords": ["k"], "seen": []}
        for task, image_id in (("Detail", IMAGE), ("Coherence", "j" * 64))
    ],
    "rewrite.seeds": [{"seed_id": "w", "task": "Detail", "image_id": IMAGE, "language": "en"}],
    "rewrite.seed_rewrites": [{"rewrite_id": "v", "seed_id": "w"}],
    "rewrite.contexts": [
        {"dialogue_id": "c", "task": "Coherence", "image_id": "j" * 64, "language": "en"}
        | {"turns": [{"question": "a", "answer": "b"}] * 2, "error": None}
    ],
    "choice.items": [{"item_id": "m", "entry_id": "e", "choices": ["a", "b"], "answer": "A"}],
    "choice.translations": [{"translation_id": "l", "item_id": "m", "choices": ["a", "b"]}],
    "choice.mmiu_items": [
        {"item_id": item_id, "group_id": "u", "image_ids": image_ids, "strategy": strategy}
        | {"choices": ["a", "b"], "answer": "A", "form": "text"}
        for item_id, image_ids, strategy in (
            ("u", [IMAGE, "made"], None),
            ("x", [IMAGE], "shuffle all images"),
        )
    ],
    "choice.mmiu_images": [
        {"image_id": "made", "made_from": [IMAGE], "change": "turned", "source": None}
    ],
    "quality.checks": [
        {"dialogue_id": "d", "question_id": "q", "kind": "benchmark", "outcome": "pass"}
        | {"not_checked": None}
    ],
    "quality.asked": [{"dialogue_id": "d", "step": "blind"}],
}
"""One row of each table, with the columns that name others or must have a value of their own."""

NAMED_IN = re.compile(r"SELECT (?:DISTINCT )?'(\w+\.\w+)'")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "warehouse.duckdb"
    put(Warehouse(path), SOUND)
    return path


@pytest.fixture
def warehouse(sound: Path, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copy(sound, tmp_path))


def wrong(warehouse: Warehouse, ephemeral: dg.DagsterInstance) -> dict[str, str | None]:
    """What each of the checks says that failed, by table."""
    found = {}
    with warehouse.kept_open():
        for each in defs.asset_checks or []:
            key, *more = each.check_keys
            if key.name == "whole" and not more:
                context = dg.build_asset_check_context(instance=ephemeral)
                result = each(context, warehouse=warehouse)
                assert isinstance(result, dg.AssetCheckResult)
                if not result.passed:
                    found[".".join(key.asset_key.path)] = result.description
    return found


@pytest.mark.slow
def test_every_table_that_models_fill_is_checked_for_what_its_rows_name() -> None:
    named = {
        table
        for stage in CHECKED_STAGES
        for table in NAMED_IN.findall(sql_text(f"{stage}/broken_references"))
    }
    specs = {".".join(spec.key.path): spec for spec in defs.resolve_all_asset_specs()}
    tables = {table for table, spec in specs.items() if spec.group_name in CHECKED_STAGES}
    graph = defs.resolve_asset_graph()
    checked = {key for key in graph.asset_check_keys if key.name == "whole"}
    assert {".".join(key.asset_key.path) for key in checked} == tables
    assert all(graph.get_check_spec(key).blocking for key in checked)
    # What is looked at in a side table is said by its asset's check.
    beside = {side for table in tables for side in specs[table].metadata.get(SIDE_TABLES, [])}
    assert tables <= named <= tables | beside


@pytest.mark.slow
@pytest.mark.parametrize(
    "emptied",
    [
        {
            "ingest.entries": {
                **{"dialogue.instructions": "n", "choice.items": "m"},
                "rewrite.candidates": f"Coherence/{'j' * 64}, Detail/{IMAGE}",
            },
            "ingest.images": {"choice.mmiu_items": "u, x"},
            "dialogue.answers": {"dialogue.dialogues": "d"},
            "dialogue.three_turns": {
                **{"dialogue.turn_references": "t", "dialogue.turn_categories": "reasoning/think"}
            },
            "rewrite.seeds": {"rewrite.seed_rewrites": "v"},
        },
        {
            "cluster.image_sets": {"dialogue.summaries": "s/e", "dialogue.questions": "q"},
            "dialogue.dialogues": {"rewrite.rewrites": "r", "quality.checks": "d/q"},
            "dialogue.instructions": {"dialogue.three_turns": "t"},
            "rewrite.candidates": {"rewrite.seeds": "w", "rewrite.contexts": "c"},
            "choice.items": {"choice.translations": "l"},
            "choice.mmiu_images": {"choice.mmiu_items": "u"},
        },
        {"dialogue.questions": {"dialogue.answers": "q"}},
    ],
    ids=["first", "second", "third"],
)
def test_rows_that_name_missing_ones_are_named_with_what_to_make_again(
    warehouse: Warehouse, ephemeral: dg.DagsterInstance, emptied: dict[str, dict[str, str]]
) -> None:
    """Tables are emptied together where no one of them has the rows that lack those of another."""
    put(warehouse, {table: [] for table in emptied})
    found = wrong(warehouse, ephemeral)
    assert found.keys() == {table for told in emptied.values() for table in told}
    for gone, told in emptied.items():
        missing = "ingest.images" if gone == "choice.mmiu_images" else gone
        for table, ids in told.items():
            n = ids.count(",") + 1
            said = found[table] or ""
            assert (
                f"{table} has {n} row{'s' if n > 1 else ''} without their row of {missing} ({ids}): "
                f"materialize {missing.replace('.', '/')} again, then {table.replace('.', '/')}."
            ) in said


@pytest.mark.slow
def test_an_unanswerable_question_without_its_answerable_one_is_named(warehouse, ephemeral):
    put(warehouse, {"choice.mmiu_items": SOUND["choice.mmiu_items"][1:]})
    assert wrong(warehouse, ephemeral) == {
        "choice.mmiu_items": "choice.mmiu_items has 1 row without their row of choice.mmiu_items (x): "
        "materialize choice/mmiu_items again."
    }


@pytest.mark.slow
@pytest.mark.parametrize(("recorded", "passes"), [(1, True), (0, False)])
def test_rows_that_all_name_rows_pass_if_there_are_as_many_as_recorded(
    warehouse: Warehouse, ephemeral: dg.DagsterInstance, recorded: int, passes: bool
) -> None:
    shown = {"dagster/row_count": recorded}
    key = dg.AssetKey(["dialogue", "questions"])
    ephemeral.report_runless_asset_event(dg.AssetMaterialization(key, metadata=shown))
    said = {
        "dialogue.questions": f"dialogue.questions has 1 row, and its latest materialization recorded "
        f"{recorded}: materialize dialogue/questions again; what the ledger has is not asked again."
    }
    assert wrong(warehouse, ephemeral) == ({} if passes else said)


SETS = "image sets in cluster.image_sets"
DIALOGUES = "items of the current releases in release.items"

NotEmpty = Callable[..., dg.AssetCheckResult]


@pytest.fixture
def not_empty(empty_warehouse: Warehouse, ephemeral: dg.DagsterInstance) -> NotEmpty:
    """`not_empty(asset, made=True)`: the result of its check."""

    def checked(asset: str, *, made: bool = True) -> dg.AssetCheckResult:
        wanted = dg.AssetCheckKey(dg.AssetKey(asset.split("/")), "not_empty")
        check = next(each for each in defs.asset_checks or [] if wanted in each.check_keys)
        if made:
            ephemeral.report_runless_asset_event(dg.AssetMaterialization(wanted.asset_key))
        context = dg.build_asset_check_context(instance=ephemeral)
        return check(context, warehouse=empty_warehouse)

    return checked


def counted(result: dg.AssetCheckResult) -> dict[str, Any]:
    return {name: value.value for name, value in result.metadata.items()}


RELEASE = {"name": "mmdu", "kind": "benchmark", "origin": "built", "review_policy": "none"}
OLD, NEW = RELEASE | {"release_id": "old"}, RELEASE | {"release_id": "new"}


def test_sets_and_dialogues_are_counted_by_kind_not_their_images_nor_earlier_releases(
    empty_warehouse: Warehouse, not_empty: NotEmpty
) -> None:
    sets = {"s1": ("benchmark", 3), "s2": ("benchmark", 2), "s3": ("instruction", 2)}
    rows = [
        {"set_id": set_id, "kind": kind, "position": position}
        for set_id, (kind, n_images) in sets.items()
        for position in range(1, n_images + 1)
    ]
    items = [{"release_id": "old", "item_id": f"o{n}"} for n in range(5)]
    items.append({"release_id": "new", "item_id": "n"})
    releases = {"release.releases": [OLD, NEW], "release.items": items, "release.current": [NEW]}
    put(empty_warehouse, {"cluster.image_sets": rows, **releases})
    result = not_empty("cluster/image_sets")
    assert result.passed
    assert counted(result) == {f"{SETS}, benchmark": 2, f"{SETS}, instruction": 1}
    result = not_empty("release/releases")
    assert result.passed, "an instruction set is not demanded"
    assert counted(result) == {f"{DIALOGUES}, benchmark": 1, f"{DIALOGUES}, instruction": 0}


def test_nothing_fails_and_says_what_to_do(empty_warehouse: Warehouse, not_empty: NotEmpty) -> None:
    sets = not_empty("cluster/image_sets")
    assert not sets.passed
    assert counted(sets) == {f"{SETS}, benchmark": 0, f"{SETS}, instruction": 0}
    assert sets.description == (
        "There are no image sets in cluster.image_sets. Ingest more shards, lower tau of "
        "cluster/clusters, or let a set have several pictures of a page (repeat_pages of "
        "cluster/image_sets); table cluster.set_counts says why each missing set is missing."
    )

    # What was released earlier does not pass for what is released now.
    put(empty_warehouse, {"release.releases": [OLD], "release.items": [OLD]})
    dialogues = not_empty("release/releases")
    assert not dialogues.passed
    assert dialogues.description == (
        "There are no items of the current releases in release.items. Review what was generated "
        "(vlm-loom review demo) or demand fewer decisions (setting require of review/approved), then "
        "materialize review/approved and release/releases again."
    )


@pytest.mark.parametrize("asset", ["cluster/image_sets", "release/releases"])
def test_what_was_never_made_is_made_by_the_job_build_and_stops_what_follows(not_empty, asset):
    """As in the backup of a home that was being built when it was taken: no setting is at fault."""
    result = not_empty(asset, made=False)
    assert not result.passed and (result.description or "").endswith(
        f" This home has never made {asset}: launch the job build (vlm-loom run build), which goes on "
        "with what there is."
    )
    key = dg.AssetCheckKey(dg.AssetKey(asset.split("/")), "not_empty")
    assert defs.resolve_asset_graph().get_check_spec(key).blocking
