"""The definitions as Dagster and its UI see them."""

import graphlib
import importlib
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from assets.common.partitions import wit_shards
from assets.common.tables import SIDE_TABLES, SOURCES
from dagster_project.actions import ACTIONS
from dagster_project.code_versions import paths_in
from dagster_project.definitions import build_defs, defs
from resources.files.home import REPO_ROOT
from resources.warehouse import Warehouse, declared_columns, sql_files, sql_text

pytestmark = pytest.mark.slow

ORDER = (
    *("ingest", "cluster", "dialogue", "rewrite", "choice", "quality", "review", "release"),
    *("evaluate", "ledger"),
)
STAGES = set(ORDER)

FILES = dg.AssetKey(["ingest", "corpus_files"])
"""The asset without a table: files next to the shards."""


@pytest.fixture(scope="module")
def specs() -> list[dg.AssetSpec]:
    return [spec for spec in defs.resolve_all_asset_specs() if spec.key != FILES]


def test_an_asset_has_the_names_of_its_table_and_stage_and_says_what_it_is_for(specs):
    for spec in specs:
        assert spec.metadata["dagster/table_name"] == ".".join(spec.key.path)
        assert spec.group_name == spec.key.path[0]
        assert spec.description and spec.owners and "duckdb" in spec.kinds, spec.key
        schema = spec.metadata["dagster/column_schema"]
        declared = declared_columns()[spec.metadata["dagster/table_name"]]
        assert [column.name for column in schema.columns] == [name for name, _, _ in declared]
    assert {spec.group_name for spec in specs} == STAGES
    for asset in defs.assets or []:
        if isinstance(asset, dg.AssetsDefinition):
            stage, name = asset.key.path
            module = asset.op.compute_fn.decorated_fn.__module__
            assert re.fullmatch(rf"assets\.{stage}\.{name}|extras\.\w+\.assets\.{name}", module)
    repository = defs.get_repository_def()
    jobs = [job for job in repository.get_all_jobs() if job.name != "__ASSET_JOB"]
    for each in [*jobs, *repository.schedule_defs, *repository.sensor_defs]:
        assert each.description, each.name


def test_every_table_has_an_asset_or_is_the_side_table_of_one(specs: list[dg.AssetSpec]) -> None:
    of_assets = {spec.metadata["dagster/table_name"] for spec in specs}
    beside = {table for spec in specs for table in spec.metadata.get(SIDE_TABLES, [])}
    assert of_assets | beside == set(declared_columns())
    assert not of_assets & beside
    # A side table belongs to the stage that writes it.
    for spec in specs:
        assert {t.split(".")[0] for t in spec.metadata.get(SIDE_TABLES, [])} <= {spec.group_name}


def test_stages_jobs_schemas_and_folders_are_called_alike() -> None:
    jobs = {job.name for job in defs.get_repository_def().get_all_jobs()}
    assert jobs - STAGES == {
        *("build", "checks", "site", "settings", "__ASSET_JOB"),
        *(action.job() for action in ACTIONS),
    }
    assert jobs > STAGES
    assert {table.split(".")[0] for table in declared_columns()} == STAGES
    for root in (REPO_ROOT / "assets", REPO_ROOT / "sql"):
        folders = {path.name for path in root.iterdir() if path.is_dir()}
        assert folders - {"common", "migrations", "own", "__pycache__"} == STAGES


def test_the_graph_of_stages_has_no_cycle(specs: list[dg.AssetSpec]) -> None:
    upstream: dict[str, set[str]] = {stage: set() for stage in STAGES}
    for spec in specs:
        stage = spec.key.path[0]
        upstream[stage] |= {dep.asset_key.path[0] for dep in spec.deps} - {stage}
    graphlib.TopologicalSorter(upstream).prepare()
    for place, stage in enumerate(ORDER):
        assert upstream[stage] <= set(ORDER[:place]), stage
    # All but the first wait for another one.
    assert [stage for stage in ORDER if not upstream[stage]] == ["ingest"]


def test_every_asset_that_is_run_has_a_blocking_schema_check() -> None:
    graph = defs.resolve_asset_graph()
    blocking = {
        check.asset_key
        for check in graph.asset_check_keys
        if check.name == "schema" and graph.get_check_spec(check).blocking
    }
    assert blocking == set(graph.materializable_asset_keys)


def test_the_schema_check_fails_when_the_warehouse_differs(empty_warehouse: Warehouse) -> None:
    assert empty_warehouse.columns() == declared_columns()
    with duckdb.connect(str(empty_warehouse.path)) as connection:
        connection.execute("ALTER TABLE rewrite.rewrites ADD COLUMN extra VARCHAR")
    wanted = dg.AssetCheckKey(dg.AssetKey(["rewrite", "rewrites"]), "schema")
    check: Any = next(check for check in defs.asset_checks or [] if check.check_key == wanted)
    result = check(warehouse=empty_warehouse)
    assert not result.passed and "extra" in str(result.metadata["unexpected"])


def test_shards_are_the_one_partition_dimension_of_the_whole_graph(specs):
    """A selection of several dimensions could not be run in the order of its data."""
    of = {spec.key: spec.partitions_def for spec in specs if spec.partitions_def}

    assert set(of.values()) == {wit_shards} and wit_shards.name == "wit_shard"
    assert {key.to_user_string() for key in of} == {
        f"ingest/{name}" for name in ("shards", "wit_rows", "pages", "images", "entries")
    }
    graph = defs.resolve_asset_graph()
    checks = (graph.get_check_spec(key) for key in graph.asset_check_keys)
    assert {check.partitions_def for check in checks} <= {None, wit_shards}


def test_loading_the_definitions_imports_nothing_heavy() -> None:
    heavy = ["torch", "sentence_transformers", "faiss", "datasets", "matplotlib", "scipy"]
    heavy += ["pandas", "openai", "hdbscan", "sklearn", "ray", "dagster_ray", "alembic"]
    code = (
        "import sys, dagster_project.definitions as d; d.defs.get_repository_def(); "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=REPO_ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


OWN_ASSET = """
import dagster as dg
from resources.warehouse import Warehouse

@dg.asset(deps=[["ingest", "entries"]])
def long_captions(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
    found = warehouse.sql("SELECT count(*) AS n FROM ingest.entries WHERE length(caption) > 60")
    return dg.MaterializeResult(metadata={"entries": found["n"][0].as_py()})
"""


def test_a_file_in_the_folder_of_own_assets_is_enough_for_an_asset_downstream(
    loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loom_home.mkdir()
    (tmp_path / "own_of_a_test").mkdir()
    (tmp_path / "own_of_a_test" / "__init__.py").touch()
    (tmp_path / "own_of_a_test" / "long_captions.py").write_text(OWN_ASSET)
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module("own_of_a_test")
    monkeypatch.setattr("dagster_project.definitions.own", own)
    definitions = build_defs()
    made = definitions.get_implicit_global_asset_job_def().execute_in_process(
        asset_selection=[dg.AssetKey("long_captions")], instance=dg.DagsterInstance.ephemeral()
    )
    (event,) = made.get_asset_materialization_events()
    assert event.step_materialization_data.materialization.metadata["entries"].value == 0
    graph = definitions.resolve_asset_graph()
    entries = dg.AssetKey(["ingest", "entries"])
    assert graph.get(dg.AssetKey("long_captions")).parent_keys == {entries}


def test_a_module_beside_them_changes_resources_and_adds_a_calendar(loom_home: Path) -> None:
    guide = (REPO_ROOT / "docs" / "guides" / "dagster.md").read_text()
    (code,) = re.findall(r"^```python\n(# loom_here\.py\n.*?)^```", guide, re.MULTILINE | re.DOTALL)
    module: dict[str, Any] = {}
    exec(code, module)
    definitions = module["defs"]
    with dg.instance_for_test() as instance:
        instance.add_dynamic_partitions("wit_shard", ["sample-a", "sample-b"])
        tick = dg.build_schedule_context(instance, datetime(2026, 12, 1, 3, tzinfo=UTC))
        (schedule,) = (each for each in definitions.schedules if each.name == "first_of_month")
        requests = schedule(tick)
    assert [request.partition_key for request in requests] == ["sample-a", "sample-b"]
    assert definitions.resources["llm"].budget_usd == 50
    assert definitions.resolve_job_def("ingest")


def test_an_asset_reads_only_what_itself_or_an_asset_upstream_writes() -> None:
    """Else Dagster would call it fresh after a change of what it reads."""
    graph = defs.resolve_asset_graph()
    upstream: dict[dg.AssetKey, set[dg.AssetKey]] = {}
    writers = defaultdict(set)
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        upstream[key] = {key}.union(*(upstream[parent] for parent in node.parent_keys))
        for table in (".".join(key.path), *node.metadata.get(SIDE_TABLES, [])):
            writers[table].add(key)
    undeclared = {
        (key.to_user_string(), table)
        for key in graph.materializable_asset_keys
        for table in tables_read(".".join(key.path))
        if not writers[table] & upstream[key]
    }
    assert {(key, table.partition(".")[0]) for key, table in undeclared} == {
        ("ledger/calls", "ledger"),  # a view of its own table
        # Commands that change releases mark these: `BEFORE_RELEASES`.
        ("cluster/splits", "release"),
        ("rewrite/candidates", "release"),
    }, undeclared


def tables_read(table: str) -> set[str]:
    """The tables in the queries that an asset's module names, and in its selections."""
    module = SOURCES[table].module
    assert module
    queries = [sql_text(name) for name in paths_in(module) if sql_files(name)]
    selections = re.findall(r"\.select\(\s*\"([\w.]+)\"", inspect.getsource(module))
    text = " ".join([*queries, *selections])
    return {*re.findall(r"\b[a-z_]+\.[a-z_]+\b", text)} & declared_columns().keys()
