"""Settings of assets: the file's over the defaults, a run's config over both, for that run alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.execution.api import create_execution_plan

from assets.cluster.clusters import ClusterSettings
from assets.cluster.image_sets import ImageSetsSettings
from assets.common.settings import SECTIONS, SHOWN_AS, choose, config_fields, used
from dagster_project.definitions import defs
from resources.settings.asset_settings import SettingsError

CLUSTERS, IMAGE_SETS = "cluster.clusters", "cluster.image_sets"


@pytest.fixture
def file(loom_home: Path) -> Path:
    """Where the settings of an empty home belong."""
    loom_home.mkdir()
    return loom_home / "settings.yaml"


def tau(config: dict[str, Any] | None = None) -> float:
    return choose(CLUSTERS, config).settings.tau  # type: ignore[attr-defined]


# --- In a run ------------------------------------------------------------------------------------


def test_the_config_is_over_the_file_and_the_file_over_the_defaults(file: Path) -> None:
    assert tau() == 0.75
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    assert tau() == 0.6
    assert tau({"tau": 0.9}) == 0.9
    assert tau({"min_size": 3}) == 0.6
    # It was for one run.
    assert tau() == 0.6


def test_what_only_the_run_has_is_told_beside_all_settings(file: Path) -> None:
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    chosen = choose(CLUSTERS, {"tau": 0.9, "min_size": 2, "recluster": True})
    # Two is the least size in any run.
    assert chosen.overridden == {"tau": 0.9, "recluster": True}
    shown = {name: entry.value for name, entry in chosen.metadata().items()}
    assert shown["settings of this run only"] == chosen.overridden
    assert shown[SHOWN_AS] == {
        **ClusterSettings().model_dump(),
        "tau": 0.9,
        "recluster": True,
    }


def test_a_run_that_has_nothing_of_its_own_tells_nothing_of_it(file: Path) -> None:
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    assert set(choose(CLUSTERS).metadata()) == {SHOWN_AS}
    assert set(choose(CLUSTERS, {"tau": 0.6}).metadata()) == {SHOWN_AS}


def test_null_is_a_value_where_the_setting_has_it(file: Path) -> None:
    file.write_text("cluster: {image_sets: {benchmark_sets: 8}}")
    chosen = choose(IMAGE_SETS, {"benchmark_sets": None})
    assert chosen.settings.benchmark_sets is None  # type: ignore[attr-defined]
    assert chosen.overridden == {"benchmark_sets": None}


def test_a_wrong_setting_of_any_asset_is_told_by_every_asset(file: Path) -> None:
    file.write_text("evaluate: {answers: {max_failed_share: 2}}")
    with pytest.raises(SettingsError) as refused:
        choose(CLUSTERS)
    assert str(refused.value) == (
        f"{file}: evaluate.answers.max_failed_share is 2, but should be less than or equal to 1."
    )


# --- After a run ---------------------------------------------------------------------------------


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def test_a_check_reads_the_settings_that_the_rows_were_made_with(
    file: Path, instance: dg.DagsterInstance
) -> None:
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    made_with = choose(CLUSTERS, {"tau": 0.9}).metadata()
    instance.report_runless_asset_event(
        dg.AssetMaterialization(["cluster", "clusters"], metadata=made_with)
    )
    file.write_text("cluster: {clusters: {tau: 0.5}}")
    found = used(instance, CLUSTERS, ClusterSettings)
    assert found == ClusterSettings(tau=0.9)


def test_rows_that_say_nothing_of_settings_count_as_made_with_those_of_the_file(
    file: Path, instance: dg.DagsterInstance
) -> None:
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    assert used(instance, CLUSTERS, ClusterSettings).tau == 0.6
    # As an earlier version of the project materialized it.
    instance.report_runless_asset_event(dg.AssetMaterialization(["cluster", "clusters"]))
    assert used(instance, CLUSTERS, ClusterSettings).tau == 0.6


# --- In the Launchpad ----------------------------------------------------------------------------


def plan(**config: Any) -> None:
    """What Dagster does before it makes a run: settings of `cluster/<name>`."""
    ops = {f"cluster__{name}": {"config": given} for name, given in config.items()}
    create_execution_plan(defs.resolve_job_def("cluster"), run_config={"ops": ops})


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"clusters": {"tau": 7}}, "tau is 7, but should be less than"),
        (
            {"clusters": {"min_size": 1}},
            "cluster.clusters.min_size is 1, but should be greater than or equal to 2.",
        ),
        ({"image_sets": {"benchmark_sizes": [3, 21]}}, "must be 2 to 20"),
        ({"image_sets": {"instruction_sizes": {"6": 1}}}, "must be 2 to 5"),
        ({"clusters": {"tau": "high"}}, 'Value "high" of type'),
        ({"clusters": {"tau": None}}, "must not be None"),
        ({"clusters": {"group_method": "quick"}}, "got quick"),
        ({"clusters": {"tua": 0.6}}, 'unexpected config entry "tua"'),
    ],
    ids=[
        *("too high", "too low", "a list", "a mapping", "another type", "null", "no choice"),
        "no setting",
    ],
)
def test_an_impossible_value_is_refused_before_a_run_is_made(
    loom_home: Path, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(dg.DagsterInvalidConfigError) as refused:
        plan(**config)
    assert said in str(refused.value)


def test_possible_values_are_taken_also_those_for_one_run(loom_home: Path) -> None:
    plan(
        clusters={"tau": 0.6, "group_method": "approximate", "recluster": True},
        image_sets={"benchmark_sizes": [3, 4], "benchmark_sets": None, "redraw": True},
    )


def test_every_field_may_be_left_out_and_tells_its_default_and_its_place() -> None:
    fields = config_fields(IMAGE_SETS, ImageSetsSettings)
    assert set(fields) == set(ImageSetsSettings.model_fields)
    assert not any(field.is_required for field in fields.values())
    told = fields["instruction_max_uses"].description or ""
    assert "Default: 1." in told and "settings.yaml as cluster.image_sets.instruction" in told


# --- Those there are -----------------------------------------------------------------------------


@pytest.mark.parametrize("table", SECTIONS)
def test_every_asset_with_settings_has_defaults_that_it_would_take_and_says_what_they_are(
    table: str,
) -> None:
    of = SECTIONS[table]
    of.model_validate(of().model_dump())
    assert set(of.model_fields) >= of.RUN_ONLY
    for name, field in of.model_fields.items():
        assert (field.description or "").endswith("."), f"{table}.{name} has no description"
