"""The definitions as Dagster and its UI see them."""

import subprocess
import sys

import dagster as dg
import pytest

from dagster_project.definitions import build_defs, defs
from resources.home import REPO_ROOT
from resources.warehouse import Warehouse, declared_columns

STAGES = {"ingest", "cluster", "dialogue", "rewrite", "review", "release", "evaluate", "ledger"}


@pytest.fixture(scope="module")
def specs() -> list[dg.AssetSpec]:
    return list(defs.resolve_all_asset_specs())


def test_an_assets_key_is_its_table_and_its_group_the_stage(specs: list[dg.AssetSpec]) -> None:
    for spec in specs:
        table = spec.metadata["dagster/table_name"]
        assert table in declared_columns(), table
        stage, name = spec.key.path
        # What owns a slice of a table is named after the slice first.
        assert table == f"{stage}.{name.removeprefix('mmdu_').removeprefix('score_')}"
        assert spec.group_name == stage
    assert {spec.group_name for spec in specs} == STAGES


def test_every_asset_has_description_owner_kinds_and_column_schema(
    specs: list[dg.AssetSpec],
) -> None:
    for spec in specs:
        assert spec.description, spec.key
        assert spec.owners, spec.key
        assert "duckdb" in spec.kinds, spec.key
        schema = spec.metadata["dagster/column_schema"]
        declared = declared_columns()[spec.metadata["dagster/table_name"]]
        assert [column.name for column in schema.columns] == [name for name, _, _ in declared]


def test_lineage_runs_from_the_rows_of_wit_to_the_report(specs: list[dg.AssetSpec]) -> None:
    upstream = {spec.key: {dep.asset_key for dep in spec.deps} for spec in specs}
    reached, waiting = set(), [dg.AssetKey(["evaluate", "reports"])]
    while waiting:
        key = waiting.pop()
        if key not in reached:
            reached.add(key)
            waiting += upstream[key]
    assert {key for key in upstream} - reached <= {
        # Ends of the graph: nothing is made of them.
        dg.AssetKey(["release", "exports"]),
        *(dg.AssetKey(["cluster", each]) for each in ("cohesion", "map", "near_pairs", "pictures")),
        *(dg.AssetKey(["review", each]) for each in ("agreement", "effort", "score_queue")),
        # Beside the graph: made of the ledger, whoever filled it.
        dg.AssetKey(["ledger", "calls"]),
        dg.AssetKey(["ledger", "costs"]),
    }
    assert upstream[dg.AssetKey(["ledger", "calls"])] == set()
    assert dg.AssetKey(["ingest", "wit_rows"]) in reached


def test_every_asset_that_is_run_has_a_blocking_schema_check() -> None:
    graph = defs.resolve_asset_graph()
    blocking = {
        check.asset_key
        for check in graph.asset_check_keys
        if check.name == "schema" and graph.get_check_spec(check).blocking
    }
    assert blocking == set(graph.materializable_asset_keys)


def test_the_schema_check_fails_when_the_warehouse_differs(tmp_path) -> None:
    import duckdb

    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    assert warehouse.columns() == declared_columns()
    with duckdb.connect(str(warehouse.path)) as connection:
        connection.execute("ALTER TABLE rewrite.prompts ADD COLUMN extra VARCHAR")
    check = next(
        check
        for check in build_defs().asset_checks
        if check.check_key == dg.AssetCheckKey(dg.AssetKey(["rewrite", "prompts"]), "schema")
    )
    result = check(warehouse=warehouse)
    assert not result.passed
    assert "extra" in str(result.metadata["unexpected"])


def test_partitions_are_shards_buckets_and_models(specs: list[dg.AssetSpec]) -> None:
    dimension = {}
    for spec in specs:
        definition = spec.partitions_def
        dimension["/".join(spec.key.path)] = getattr(definition, "name", None) or (
            "bucket" if definition else None
        )
    assert {path for path, of in dimension.items() if of == "wit_shard"} == {
        "ingest/wit_rows",
        "ingest/pages",
        "ingest/images",
        "ingest/entries",
    }
    assert {path.split("/")[0] for path, of in dimension.items() if of == "bucket"} == {
        "dialogue",
        "rewrite",
        "review",  # What people decided, reported bucket by bucket.
    }
    assert {path for path, of in dimension.items() if of == "model"} == {
        "evaluate/mmdu_answers",
        "evaluate/mmdu_judgments",
        "evaluate/mmdu_scores",
    }


def test_loading_the_definitions_imports_nothing_heavy() -> None:
    heavy = ["torch", "sentence_transformers", "faiss", "datasets", "matplotlib", "plotly", "scipy"]
    heavy += ["pandas", "openai", "hdbscan", "sklearn", "wordcloud", "ray", "dagster_ray"]
    code = (
        "import sys, dagster_project.definitions as d; d.defs.get_repository_def(); "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=REPO_ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


def test_dagster_validates_the_workspace() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dagster", "definitions", "validate", "-w", "workspace.yaml"],
        cwd=REPO_ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "passed validation" in done.stderr + done.stdout


def test_a_resource_can_be_swapped() -> None:
    other = Warehouse("/elsewhere.duckdb")
    swapped = build_defs(resource_overrides={"warehouse": other})
    assert swapped.resources["warehouse"] is other
