"""Settings of assets: the file's over the defaults, a run's config over both, for that run alone."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.execution.api import create_execution_plan

from assets.cluster.clusters import ClusterSettings, clusters
from assets.common.settings import (
    SECTIONS,
    SHOWN_AS,
    RunSettings,
    check_run,
    current_settings,
    read_used_settings,
    with_file_defaults,
)
from dagster_project.definitions import defs
from resources.settings.asset_settings import SettingsError, non_default_settings

CLUSTERS, IMAGE_SETS = "cluster.clusters", "cluster.image_sets"


@pytest.fixture
def file(loom_home: Path) -> Path:
    """Where the settings of an empty home belong."""
    loom_home.mkdir()
    return loom_home / "settings.yaml"


def chosen(table: str, **given: Any) -> RunSettings:
    """The settings of a run that gives these values, as Dagster would make its config."""
    return current_settings(table, with_file_defaults(table, SECTIONS[table])(**given))


def tau(**given: Any) -> float:
    return chosen(CLUSTERS, **given).settings.tau  # type: ignore[attr-defined, no-any-return]


def test_the_config_is_over_the_file_and_the_file_over_the_defaults(file: Path) -> None:
    assert tau() == 0.75
    config = with_file_defaults(CLUSTERS, ClusterSettings)(min_size=3)
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    assert tau() == tau(min_size=3) == 0.6
    assert tau(tau=0.9) == 0.9
    # The project's default is a value like any other.
    assert tau(tau=0.75) == 0.75
    # A config was for one run, and a step reads what the file has by then.
    assert tau() == 0.6
    assert current_settings(CLUSTERS, config).settings == ClusterSettings(tau=0.6, min_size=3)


def test_what_only_the_run_has_is_told_beside_all_settings(file: Path) -> None:
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    of_run = chosen(CLUSTERS, tau=0.9, min_size=2, recluster=True)
    # Two is the least size in any run.
    assert of_run.overridden == {"tau": 0.9, "recluster": True}
    shown = {name: entry.value for name, entry in of_run.metadata().items()}
    assert shown["settings of this run only"] == of_run.overridden
    assert shown[SHOWN_AS] == {**ClusterSettings().model_dump(), "tau": 0.9, "recluster": True}


def test_null_is_a_value_where_the_setting_has_it(file: Path) -> None:
    file.write_text("cluster: {image_sets: {benchmark_sets: 8}}")
    of_run = chosen(IMAGE_SETS, benchmark_sets=None)
    assert of_run.settings.benchmark_sets is None  # type: ignore[attr-defined]
    assert of_run.overridden == {"benchmark_sets": None}


def test_a_wrong_setting_of_any_asset_is_told_by_every_asset(file: Path) -> None:
    file.write_text("evaluate: {answers: {max_failed_share: 2}}")
    with pytest.raises(SettingsError) as refused:
        current_settings(CLUSTERS)
    assert str(refused.value) == (
        f"{file}: evaluate.answers.max_failed_share is 2, but should be less than or equal to 1."
    )


def test_a_check_reads_the_settings_that_the_rows_were_made_with_or_else_the_files(file, instance):
    def report(**metadata: dg.MetadataValue) -> float:
        event = dg.AssetMaterialization(["cluster", "clusters"], metadata=metadata)
        instance.report_runless_asset_event(event)
        return read_used_settings(instance, CLUSTERS, ClusterSettings).tau

    file.write_text("cluster: {clusters: {tau: 0.6}}")
    assert read_used_settings(instance, CLUSTERS, ClusterSettings).tau == 0.6
    # As an earlier version of the project materialized it.
    assert report() == 0.6
    assert report(**chosen(CLUSTERS, tau=0.9).metadata()) == 0.9
    # Of another version, without some settings and with a former one.
    assert report(**{SHOWN_AS: dg.MetadataValue.json({"tau": 0.8, "former": 1})}) == 0.8


@pytest.mark.parametrize(
    ("table", "given", "reason"),
    [
        (CLUSTERS, {"tau": 7}, "cluster.clusters.tau is 7, but should be less than or equal to 1."),
        (CLUSTERS, {"tau": None}, "cluster.clusters.tau is None, but should be a valid number."),
        (IMAGE_SETS, {"benchmark_sizes": [3, 21]}, "must be 2 to 20"),
        ("dialogue.questions", {"per_set": [3, 1]}, "give the smaller one first"),
        ("dialogue.questions", {"per_set": {}}, "give the smaller one first, and a weight of 1"),
        ("dialogue.questions", {"per_set": 0}, "a number here is 1 or more"),
        ("dialogue.questions", {"per_set": {"0": 1, "3": 2}}, "a number here is 1 or more"),
        ("dialogue.questions", {"most_together": 2}, "dialogue.questions"),
        ("dialogue.questions", {"per_image": -1}, "per_image is -1, but must be a number, "),
        ("dialogue.questions", {"per_image": {"benchmark": 2}}, "give a number for each kind: "),
        ("dialogue.instructions", {"n_instructions": -1}, "dialogue.instructions"),
        ("dialogue.turn_categories", {"tau": 1.5}, "dialogue.turn_categories"),
        ("rewrite.seeds", {"tasks": ["Coherence"]}, "rewrite.seeds"),
        ("rewrite.seeds", {"tasks": ["Chart", "Chart"]}, "rewrite.seeds"),
        ("rewrite.seeds", {"language": "fr"}, "rewrite.seeds"),
        ("rewrite.candidates", {"keywords": {"Dreaming": ["sheep"]}}, "rewrite.candidates"),
        ("rewrite.seed_rewrites", {"lowest_similarity": 0.99}, "rewrite.seed_rewrites"),
    ],
)
def test_a_value_beyond_its_limits_ends_the_first_step_with_its_sentence(
    file: Path, table: str, given: dict[str, Any], reason: str
) -> None:
    """Whichever step of the run it is for; Dagster makes the config of that step itself."""
    with pytest.raises(SettingsError) as refused:
        check_run({"ops": {table.replace(".", "__"): {"config": given}}})
    with pytest.raises(dg.Failure) as failure:
        with_file_defaults(table, SECTIONS[table])(**given)
    assert reason in str(refused.value)
    assert failure.value.description == str(refused.value)
    assert not failure.value.allow_retries


def test_a_default_is_no_setting_of_a_run_and_gives_way_to_the_file() -> None:
    given = {
        table: non_default_settings(section, section().model_dump())
        for table, section in SECTIONS.items()
    }
    assert not any(given.values())


def test_a_value_may_come_from_the_environment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"ops": {"cluster__clusters": {"config": {"min_size": {"env": "LEAST"}}}}}
    check_run(config)
    monkeypatch.setenv("LEAST", "3")
    create_execution_plan(defs.resolve_job_def("cluster"), run_config=config)


def test_the_launchpad_shows_the_defaults_of_the_file(file: Path) -> None:
    file.write_text("cluster: {clusters: {tau: 0.6}}")
    fields = with_file_defaults(CLUSTERS, ClusterSettings).to_fields_dict()
    assert not any(field.is_required for field in fields.values())
    assert (fields["tau"].default_value, fields["min_size"].default_value) == (0.6, 2)
    of_step = clusters.op.config_schema.config_type.fields["tau"]
    assert "In settings.yaml: cluster.clusters.tau." in str(of_step.description)
    # Definitions load with a file that cannot be used.
    file.write_text("cluster: {clusters: {tau: 7}}")
    assert with_file_defaults(CLUSTERS, ClusterSettings)().tau == 0.75


@pytest.mark.parametrize("table", SECTIONS)
def test_every_asset_with_settings_has_defaults_that_it_would_take_and_says_what_they_are(table):
    of = SECTIONS[table]
    of.model_validate(of().model_dump())
    assert set(of.model_fields) >= of.RUN_ONLY
    for name, field in of.model_fields.items():
        assert (field.description or "").endswith("."), f"{table}.{name} has no description"
