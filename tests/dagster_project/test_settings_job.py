"""The job `settings`: what its Launchpad opens with, and what it writes."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from assets.common.settings import SECTIONS

# The assets say which settings there are when they are imported.
from dagster_project import definitions  # noqa: F401
from dagster_project.job_runs import restore_signal_handlers
from dagster_project.settings_job import EVERYDAY, settings_job
from resources.settings.asset_settings import FORMER_TABLES


def launch(config: dict[str, Any]) -> dg.ExecuteInProcessResult:
    with restore_signal_handlers():
        return settings_job().execute_in_process(
            run_config={"ops": {"save_settings": {"config": config}}}, raise_on_error=False
        )


def opened() -> dict[str, Any]:
    """The config that the Launchpad opens with."""
    given: dict[str, Any] = dict(settings_job().run_config or {})
    return given["ops"]["save_settings"]["config"]


def written(home: Path) -> object:
    return yaml.safe_load((home / "settings.yaml").read_text())


@pytest.fixture(autouse=True)
def home(loom_home: Path) -> Path:
    loom_home.mkdir()
    return loom_home


def test_it_opens_with_the_values_of_now_and_writes_those_that_differ_from_the_defaults(
    home: Path,
) -> None:
    assert opened()["cluster"]["clusters"]["tau"] == 0.75
    assert "recluster" not in opened()["cluster"]["clusters"], "that is for one run"

    edited = opened()
    edited["cluster"]["clusters"]["tau"] = 0.6
    assert launch(edited).success

    assert written(home) == {"cluster": {"clusters": {"tau": 0.6}}}
    assert opened()["cluster"]["clusters"]["tau"] == 0.6
    # The schema for editors stands next to the file.
    schema = yaml.safe_load((home / "settings.schema.json").read_text())
    tau = schema["properties"]["cluster"]["properties"]["clusters"]["properties"]["tau"]
    assert (tau["minimum"], tau["maximum"], tau["default"]) == (-1, 1, 0.75)


def test_it_opens_with_what_people_change_and_with_what_the_file_has(home: Path) -> None:
    def lines() -> int:
        return len(yaml.safe_dump(opened()).splitlines())

    assert lines() < 40, "it is seen without scrolling far"
    assert all(
        field in opened()[table.split(".")[0]][table.split(".")[1]]
        for table, fields in EVERYDAY.items()
        for field in fields
    )
    assert "cohesion" not in opened()["cluster"]
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
    assert set(FORMER_TABLES.values()) <= SECTIONS.keys()
    assert not FORMER_TABLES.keys() & SECTIONS.keys()
