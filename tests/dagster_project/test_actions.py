"""Each action is a subcommand, a job and an op, and a wrong name is said before a run begins."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import dagster as dg
import pytest
from dagster._core.asset_graph_view.asset_graph_view import AssetGraphView
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_TAG,
    CachingStaleStatusResolver,
)
from pydantic import Field

from dagster_project.action import Action, ActionResult, CommandField, Release
from dagster_project.action_commands import command_of
from dagster_project.action_jobs import job_of
from dagster_project.actions import ACTIONS
from dagster_project.cli import main as loom
from dagster_project.cli import vlm_loom
from dagster_project.definitions import build_defs
from dagster_project.instance import open_instance
from dagster_project.job_runs import restore_signal_handlers
from methods.delimited import QUOTINGS
from resources.files.home import REPO_ROOT, ledger_path
from resources.llm.ledger import Ledger
from resources.warehouse.configured import warehouse_of_home
from tests.assets.filled import put
from tests.resources.llm.test_ledger import call

pytestmark = pytest.mark.slow

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


class WeighOwls(Action):
    """Weigh the owls of a release."""

    COMMAND = "release weigh"
    EXAMPLE = "release weigh mmdu --as stones"

    release: Release
    unit: Annotated[Literal["grams", "stones"], CommandField("as")] = "grams"
    times: int = Field(1, description="How often.")
    dry: bool = Field(False, description="Weigh nothing.")

    def perform(self, warehouse: object) -> ActionResult:
        return ActionResult(f"{self.release}: {self.times} times in {self.unit}, dry: {self.dry}")


def test_an_action_is_one_class(monkeypatch: pytest.MonkeyPatch, loom_home: Path) -> None:
    """Its fields are arguments, options and config; its parameters are resources."""
    loom_home.mkdir()
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "dagster_project.run.perform_as_run", lambda _, values: given.append(values)
    )
    monkeypatch.setattr("resources.publishing.releases.release_meant", lambda _, name: name)
    command = command_of(WeighOwls)
    command.main(["mmdu", "--as", "stones", "--dry"], standalone_mode=False)
    assert given == [{"release": "mmdu", "unit": "stones", "times": 1, "dry": True}]
    with restore_signal_handlers():
        result = job_of(WeighOwls).execute_in_process(
            run_config={"ops": {"release_weigh": {"config": given[0]}}},
            resources={"warehouse": object()},
        )
    assert result.output_for_node("release_weigh") == "mmdu: 1 times in stones, dry: True"
    assert (WeighOwls.job(), WeighOwls.uses()) == ("weigh_owls", ["warehouse"])


def test_settings_of_assets_that_an_action_does_not_need_are_no_obstacle(
    loom_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even those of an extra's."""
    loom_home.mkdir()
    written = "".join(f"  {table}: {{seed: 1}}\n" for table in ("judge_quality", "task_map"))
    (loom_home / "settings.yaml").write_text(f"evaluate:\n{written}")
    assert loom(["release", "unpin", "mmdu"]) == 2
    assert capsys.readouterr().err == "mmdu is not pinned; no name is.\n"


def test_what_is_wrong_with_a_name_is_said_without_a_run_and_without_dagster_or_torch(
    loom_home: Path,
) -> None:
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


def test_upkeep_of_a_lake_is_refused_where_the_tables_are_a_file(
    loom_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loom_home.mkdir()
    assert loom(["workspace", "merge-files"]) != 0
    assert "this is for a lake (LOOM_WAREHOUSE)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ("release", "import"),
        ("result", "import-predictions"),
        ("result", "import-scores"),
        ("result", "difficulty"),
        ("review", "import"),
    ],
)
def test_every_command_that_reads_a_csv_has_the_option_for_its_quotes(
    command: tuple[str, str],
) -> None:
    group, name = command
    of_group = vlm_loom.commands[group]
    assert isinstance(of_group, click.Group)
    (option,) = [each for each in of_group.commands[name].params if each.name == "quoting"]
    assert isinstance(option.type, click.Choice) and option.type.choices == QUOTINGS


def test_what_is_asked_anew_is_unsynced_until_it_is_made_again(
    loom_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        assert loom(["model", "re-ask", "--stage", "dialogue/answers"]) == 0
        assert state(instance) == ("CODE", "1"), "its rows are as they were"
    progress = capsys.readouterr().err
    assert re.search(r"dialogue/answers +to be made again\n", progress), progress


def test_a_shard_that_is_gone_is_removed_on_request_and_one_that_is_there_is_not(
    loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "here.tsv").touch()
    monkeypatch.setenv("LOOM_CORPUS", "")
    loom_home.mkdir()
    put(warehouse_of_home(), {"ingest.shards": [{"wit_shard": "here"}, {"wit_shard": "gone"}]})
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", ["here", "gone"])
        assert loom(["workspace", "remove-shard", "gone"]) == 2
        assert "has another corpus (gone, here) than the sample" in capsys.readouterr().err
        assert loom(["workspace", "remove-shard", "here", "--corpus", f"{tmp_path}/corpus"]) == 2
        assert "still has the shard here" in capsys.readouterr().err
        assert loom(["workspace", "remove-shard", "gon"]) == 2
        assert "the nearest is gone" in capsys.readouterr().err
        assert loom(["workspace", "remove-shard", "gone"]) == 0
        assert f"vlm-loom build --corpus {tmp_path}/corpus next" in capsys.readouterr().out
        assert list(instance.get_dynamic_partitions("wit_shard")) == ["here"]
    left = warehouse_of_home().select("ingest.shards", "wit_shard")["wit_shard"]
    assert left.to_pylist() == ["here"]
