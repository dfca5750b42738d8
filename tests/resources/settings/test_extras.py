"""The extras: what each declares is there, and the core goes on without their folders."""

import shutil
import subprocess
import sys
from importlib import import_module

import pytest

from resources.files.home import REPO_ROOT
from resources.settings.extras import extras
from resources.warehouse import Warehouse, declarations, declared_columns
from tests.resources.older_stores import forget_sql

pytestmark = pytest.mark.slow

CORE = ("assets", "dagster_project", "methods", "resources", "review", "sql", "models.yaml")
WITHOUT = """
from dagster_project.cli import vlm_loom
from dagster_project.definitions import defs
from resources.settings.extras import extras
from resources.files.home import warehouse_path
from resources.warehouse import Warehouse, declared_columns

assert extras() == ()
for group in ("review", "result"):
    assert vlm_loom.commands[group].commands
specs = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
assert {"evaluate/reports", "evaluate/judge_quality"} <= specs.keys()
read = {dep.asset_key.to_user_string() for spec in specs.values() for dep in spec.deps}
assert read <= specs.keys(), read - specs.keys()
assert {job.name for job in defs.resolve_all_job_defs()} >= {"build", "evaluate", "checks"}
warehouse = Warehouse(warehouse_path())
assert warehouse.columns() == declared_columns()
assert not warehouse.read("evaluate/critic_pairs").num_rows
"""


@pytest.mark.parametrize("extra", extras(), ids=lambda extra: extra.commands)
def test_what_an_extra_declares_is_there(extra):
    if extra.commands:
        assert all(import_module(extra.commands).COMMANDS.values())
    if extra.definitions:
        assert import_module(extra.definitions).ASSETS
    if extra.report_section:
        assert import_module(extra.report_section).SECTION.title
    for module in map(import_module, extra.review_formats.values()):
        assert callable(module.write_items) and callable(module.read_records)
    for tables in extra.read_by.items():
        assert {tables[0], *tables[1]} <= declared_columns().keys()


def test_the_core_works_without_extras(tmp_path):
    for name in CORE:
        source = REPO_ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "sample_corpus")
            shutil.copytree(source, tmp_path / name, ignore=ignored)
        else:
            shutil.copy(source, tmp_path)

    subprocess.run([sys.executable, "-c", WITHOUT], cwd=tmp_path, check=True)


def test_a_home_from_before_an_extra_gets_its_tables_and_keeps_them_when_it_goes(
    tmp_path, monkeypatch
):
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    with monkeypatch.context() as without:
        without.setattr(declarations, "folders", lambda _: [])
        forget_sql()
        warehouse.check()
        assert "evaluate.task_map" not in warehouse.columns()

    forget_sql()
    again = Warehouse(warehouse.path)
    again.check()
    assert again.columns() == declared_columns()
    again.sql("SELECT * FROM evaluate.task_map")

    with monkeypatch.context() as without:
        without.setattr(declarations, "folders", lambda _: [])
        forget_sql()
        Warehouse(warehouse.path).check()
    forget_sql()
    assert "evaluate.task_map" in Warehouse(warehouse.path).columns()
