"""Actions and settings: each is a subcommand, a job and an op, and a wrong name needs no run."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import dagster as dg
import pytest
import yaml
from dagster._core.asset_graph_view.asset_graph_view import AssetGraphView
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_TAG,
    CachingStaleStatusResolver,
)

from assets.common.settings import SECTIONS
from dagster_project.action import Action
from dagster_project.action_jobs import job_of
from dagster_project.actions import ACTIONS
from dagster_project.cli import vlm_loom
from dagster_project.definitions import build_defs
from dagster_project.instance import open_instance
from dagster_project.job_runs import restore_signal_handlers
from dagster_project.progress import TO_BE_MADE_AGAIN
from dagster_project.settings_job import EVERYDAY, settings_job
from methods.delimited import QUOTINGS
from resources.files.home import REPO_ROOT, ledger_path
from resources.llm.ledger import Ledger
from resources.settings.asset_settings import FORMER_TABLES
from resources.warehouse.configured import warehouse_of_home
from tests.assets.filled import put
from tests.dagster_project.conftest import Typed
from tests.resources.llm.entries import call

WRONG = [
    ["release", "lst"],
    ["release", "show", "x"],
    ["release", "pin", "x"],
    ["release", "diff", "x", "y"],
    ["result", "remove-predictions", "x", "m"],
    ["result", "import-scores", "x", "."],
    ["run", "evaluat"],
]
"""Command lines that need no run to be refused."""


@pytest.mark.slow
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.job())
def test_command_and_job_take_the_same(action: type[Action]) -> None:
    group_name, name = action.COMMAND.split()
    group = vlm_loom.commands[group_name]
    assert isinstance(group, click.Group)
    command = group.commands[name]
    taken = {each.name for each in command.params} - {"workspace", "home"}
    job = job_of(action)
    (op,) = job.graph.node_defs
    assert isinstance(op, dg.OpDefinition)
    fields = op.config_field.config_type.fields
    # The corpus and the profile are options of the command, and resources of the job.
    assert set(fields) == taken - {"corpus", "profile"} == {*action.model_fields}
    assert (op.name, job.name) == (action.op(), action.job())
    # What the command requires, the job requires, and they say the same of it.
    assert {each.name for each in command.params if each.required} == {
        name for name, field in fields.items() if field.is_required
    }
    assert command.help == job.description == action.help()
    assert all(field.description for field in fields.values())


@pytest.mark.slow
def test_settings_of_assets_that_an_action_does_not_need_are_no_obstacle(loom_home, refused):
    """Not even those of an extra's."""
    loom_home.mkdir()
    written = "".join(f"  {table}: {{seed: 1}}\n" for table in ("judge_quality", "task_map"))
    (loom_home / "settings.yaml").write_text(f"evaluate:\n{written}")
    assert refused("release unpin mmdu") == "mmdu is not pinned; no name is.\n"


@pytest.mark.slow
def test_what_is_wrong_with_a_name_is_said_without_a_run_and_without_dagster_or_torch(loom_home):
    """Each takes seconds to load. DuckDB itself loads pandas, with the first parameter of a query."""
    loom_home.mkdir()
    lines = [f"assert main({words}) == 2" for words in WRONG]
    lines += ["print('---')", "main(['release', 'list'])", "main(['--help'])"]
    lines += ["print(*({'dagster', 'torch', 'ray', 'uvicorn'} & set(sys.modules)))"]
    script = "\n".join(["import sys", "from dagster_project.cli import main", *lines])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPO_ROOT, capture_output=True, text=True, check=True
    )
    refused, _, shown = done.stdout.partition("---")
    assert refused == "" and shown.splitlines()[-1] == "", done.stdout
    said = [line for line in done.stderr.splitlines() if not line.startswith("Workspace: ")]
    assert len(said) == len(WRONG)
    assert not (loom_home / "dagster").exists()


@pytest.mark.slow
def test_upkeep_of_a_lake_is_refused_where_the_tables_are_a_file(loom_home, typed):
    loom_home.mkdir()
    assert "this is for a lake (LOOM_WAREHOUSE)" in typed("workspace merge-files", code=2).err


def test_every_command_that_reads_a_csv_has_the_option_for_its_quotes() -> None:
    quoting = {
        f"{group.name} {name}": option.type.choices
        for group in vlm_loom.commands.values()
        for name, command in getattr(group, "commands", {}).items()
        for option in command.params
        if option.name == "quoting"
    }
    reading = {"release import", "review import", "result difficulty"}
    reading |= {"result import-predictions", "result import-scores"}
    assert quoting == dict.fromkeys(reading, QUOTINGS)


@pytest.mark.slow
def test_what_is_asked_anew_is_unsynced_until_it_is_made_again(loom_home, typed):
    loom_home.mkdir()
    Ledger(ledger_path()).add([call(1)._replace(stage="dialogue.answers")])
    definitions = build_defs()
    graph = definitions.resolve_asset_graph()
    key = dg.AssetKey(["dialogue", "answers"])
    made = {CODE_VERSION_TAG: str(graph.get(key).code_version), DATA_VERSION_TAG: "1"}

    def state(instance: dg.DagsterInstance) -> tuple[str, str | None]:
        view = AssetGraphView.for_test(definitions, instance)
        resolver = CachingStaleStatusResolver(instance, graph, view)
        codes = {cause.category.name for cause in resolver.get_stale_causes(key)} & {"CODE"}
        return "".join(codes), resolver.get_current_data_version(key).value

    with open_instance() as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization(key, tags=made))
        assert state(instance) == ("", "1")
        progress = typed("model re-ask --stage dialogue/answers").err
        assert state(instance) == ("CODE", "1"), "its rows are as they were"
    assert re.search(r"dialogue/answers +to be made again\n", progress), progress


@pytest.mark.slow
def test_a_shard_that_is_gone_is_removed_on_request_and_one_that_is_there_is_not(
    loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "here.tsv").touch()
    monkeypatch.setenv("LOOM_CORPUS", "")
    loom_home.mkdir()
    put(warehouse_of_home(), {"ingest.shards": [{"wit_shard": "here"}, {"wit_shard": "gone"}]})
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", ["here", "gone"])
        splits = dg.AssetKey(["cluster", "splits"])
        instance.report_runless_asset_event(dg.AssetMaterialization(splits))
        for words, said in (
            ("gone", "has another corpus (gone, here) than the sample"),
            (f"here --corpus {tmp_path}/corpus", "still has the shard here"),
            ("gon", "the nearest is gone"),
        ):
            assert said in typed(f"workspace remove-shard {words}", code=2).err
        removed = typed("workspace remove-shard gone").out
        assert f"vlm-loom build --corpus {tmp_path}/corpus next" in removed
        assert list(instance.get_dynamic_partitions("wit_shard")) == ["here"]
        last = instance.get_latest_materialization_event(splits).asset_materialization
        assert last.tags[CODE_VERSION_TAG] == TO_BE_MADE_AGAIN
    left = warehouse_of_home().select("ingest.shards", "wit_shard")["wit_shard"]
    assert left.to_pylist() == ["here"]


def launch(config: dict[str, Any]) -> dg.ExecuteInProcessResult:
    with restore_signal_handlers():
        return settings_job().execute_in_process(
            run_config={"ops": {"save_settings": {"config": config}}}, raise_on_error=False
        )


def opened() -> dict[str, Any]:
    given: dict[str, Any] = dict(settings_job().run_config or {})
    return given["ops"]["save_settings"]["config"]


def written(home: Path) -> object:
    return yaml.safe_load((home / "settings.yaml").read_text())


@pytest.fixture
def home(loom_home: Path) -> Path:
    loom_home.mkdir()
    return loom_home


def test_it_opens_with_the_values_of_now_and_writes_those_that_differ_from_the_defaults(home):
    assert opened()["cluster"]["clusters"]["tau"] == 0.75
    assert "recluster" not in opened()["cluster"]["clusters"], "that is for one run"
    edited = opened()
    edited["cluster"]["clusters"]["tau"] = 0.6
    assert launch(edited).success
    assert written(home) == {"cluster": {"clusters": {"tau": 0.6}}}
    assert opened()["cluster"]["clusters"]["tau"] == 0.6


def test_it_opens_with_what_people_change_and_with_what_the_file_has(home: Path) -> None:
    page = opened()
    assert len(yaml.safe_dump(page).splitlines()) < 40, "it is seen without scrolling far"
    for (stage, asset), fields in ((table.split("."), of) for table, of in EVERYDAY.items()):
        assert page[stage][asset].keys() >= set(fields)
    assert "cohesion" not in page["cluster"]
    assert launch({"cluster": {"cohesion": {"min_mean_similarity": 0.6}}}).success
    assert opened()["cluster"]["cohesion"] == {"min_mean_similarity": 0.6}


def test_what_is_left_out_stays_and_a_default_leaves_the_file(home: Path) -> None:
    assert launch({"cluster": {"clusters": {"tau": 0.6, "min_size": 3}}}).success
    assert launch({"cluster": {"clusters": {"tau": 0.75}}}).success
    assert written(home) == {"cluster": {"clusters": {"min_size": 3}}}


def test_a_page_that_was_opened_before_another_edit_changes_nothing(home: Path) -> None:
    page = opened()
    (home / "settings.yaml").write_text("review: {approved: {require: all}}\n")
    refused = launch(page)
    assert not refused.success
    (failure,) = [event for event in refused.all_events if event.is_step_failure]
    assert "has changed since this Launchpad was opened" in str(
        failure.step_failure_data.user_failure_data.description
    )
    assert written(home) == {"review": {"approved": {"require": "all"}}}


def test_every_former_name_of_a_table_leads_to_a_table_with_settings() -> None:
    assert {*FORMER_TABLES.values()} <= SECTIONS.keys()
    assert not FORMER_TABLES.keys() & SECTIONS.keys()
