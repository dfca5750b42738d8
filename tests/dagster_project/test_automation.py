"""Automation: a change of a prompt, a shard or a file of the corpus leads to a release by itself."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)

from assets.common.dagster_internals import DATA_VERSION_TAG, MANY_PARTITIONS
from assets.common.partitions import wit_shards
from dagster_project import outdated
from dagster_project.action_jobs import MADE_OF_SHARDS
from dagster_project.definitions import build_defs, defs
from dagster_project.outdated import ManyShards
from dagster_project.progress import TO_BE_MADE_AGAIN
from dagster_project.shards import observation, observation_of_files
from methods.ids import content_id
from resources.corpus.observation import ShardState
from resources.files.home import REPO_ROOT

SHARDS = ("a", "b")
CHAIN = dg.AssetSelection.assets(
    *(["ingest", name] for name in ("wit_rows", "pages", "images", "entries")),
    *(["cluster", name] for name in ("embeddings", "clusters", "splits", "image_sets")),
    *(["dialogue", name] for name in ("summaries", "questions", "answers", "dialogues")),
    *(["review", name] for name in ("queue", "approved")),
    *(["release", name] for name in ("releases", "exports")),
    *(["evaluate", name] for name in ("answers", "judgments", "observations", "scores")),
    ["evaluate", "judge_agreement"],
)
"""One chain of all kinds of conditions, from shards to scores."""


class Project:
    """The project's assets on an instance of their own, and runs that do nothing but report."""

    def __init__(self, instance: dg.DagsterInstance, definitions: dg.Definitions) -> None:
        self.instance, self.definitions = instance, definitions
        self.cursor: AssetDaemonCursor | None = None
        instance.add_dynamic_partitions(str(wit_shards.name), SHARDS)
        for shard in SHARDS:
            instance.report_runless_asset_event(observation(shard, ShardState("", "first")))
        instance.report_runless_asset_event(observation_of_files(ShardState("", "first")))

    def make(self, keys: set[dg.AssetKey] | None = None) -> None:
        """Report that assets were run: the rows of each follow from its code and its dependencies."""
        graph = self.definitions.resolve_asset_graph()
        chain = CHAIN.resolve(graph)
        parents = {parent for key in chain for parent in graph.get(key).parent_keys}
        wanted = (chain | parents if keys is None else keys) & graph.materializable_asset_keys
        for key in graph.toposorted_asset_keys:
            if key not in wanted:
                continue
            node = graph.get(key)
            for partition in SHARDS if node.partitions_def else [None]:
                inputs = {parent: self.latest(parent, partition) for parent in node.parent_keys}
                tags = {CODE_VERSION_TAG: str(node.code_version)}
                for parent, (version, pointer) in inputs.items():
                    tags[get_input_data_version_tag(parent)] = version
                    tags[get_input_event_pointer_tag(parent)] = str(pointer)
                versions = sorted(version for version, _ in inputs.values())
                tags[DATA_VERSION_TAG] = content_id(node.code_version, versions)
                self.instance.report_runless_asset_event(
                    dg.AssetMaterialization(key, partition=partition, tags=tags)
                )

    def latest(self, key: dg.AssetKey, partition: str | None) -> tuple[str, int | str]:
        """The data version of an asset, and the event that says it."""
        of_key = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None)
        fetches = self.instance.fetch_materializations, self.instance.fetch_observations
        found = [fetch(of, limit=1).records for of in (of_key, key) for fetch in fetches]
        records = found[0] or found[1] or found[2] or found[3]
        if not records:
            return "INITIAL", "NULL"
        event = records[0].asset_materialization or records[0].asset_observation
        assert event and event.tags
        return event.tags[DATA_VERSION_TAG], records[0].storage_id

    def evaluate(self) -> dg.EvaluateAutomationConditionsResult:
        """What the sensor evaluates next."""
        result = dg.evaluate_automation_conditions(
            self.definitions, self.instance, CHAIN, cursor=self.cursor
        )
        self.cursor = result.cursor
        return result

    def run_until_quiet(self) -> set[str]:
        """Evaluate the conditions and do what they request, until that is nothing; what was run."""
        run: set[str] = set()
        for _ in range(8):
            result = self.evaluate()
            requested = {
                each.key
                for each in result.results
                if isinstance(each.key, dg.AssetKey) and result.get_num_requested(each.key)
            }
            if not requested:
                return run
            self.make(requested)
            run |= {key.to_user_string() for key in requested}
        raise AssertionError(f"the conditions request without an end: {sorted(run)}")


@cache
def definitions_with(_settings: str) -> dg.Definitions:
    """The definitions as they are loaded with the settings that the home has now."""
    return build_defs()


@pytest.fixture
def project(loom_home: Path, request: pytest.FixtureRequest) -> Iterator[Project]:
    """With the settings that a test gives as the parameter."""
    loom_home.mkdir()
    (loom_home / "settings.yaml").write_text(getattr(request, "param", ""))
    with dg.DagsterInstance.ephemeral() as instance:
        project = Project(instance, definitions_with(getattr(request, "param", "")))
        project.make()
        yield project


def change_prompt(project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As who edits the prompt of questions, with definitions that are loaded again."""
    own = folder / "prompts" / "mmdu" / "questions.md"
    own.parent.mkdir(parents=True)
    prompt = REPO_ROOT / "methods" / "mmdu" / "prompts" / own.name
    own.write_text(prompt.read_text().rstrip() + "\nBe brief.\n")
    monkeypatch.setenv("LOOM_PROMPTS", str(folder / "prompts"))
    project.definitions = build_defs()


def change_shard(project: Project) -> None:
    """As the sensor reports a shard in which a caption has changed."""
    project.instance.report_runless_asset_event(observation("a", ShardState("", "second")))


def decide(project: Project, version: str = "first") -> None:
    """As the sensor reports that people are done."""
    decisions = dg.AssetKey(["review", "decisions"])
    project.instance.report_runless_asset_event(
        dg.AssetObservation(decisions, tags={DATA_VERSION_TAG: version})
    )


def test_a_prompt_and_a_caption_that_change_reach_a_release_and_its_evaluation(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = {"review/queue", "review/approved", "release/releases", "evaluate/scores"}
    change_prompt(project, tmp_path, monkeypatch)
    run = project.run_until_quiet()
    assert {"dialogue/questions"} | last <= run, "turned on after the change"
    assert not any(key.startswith(("ingest", "cluster")) for key in run)

    project.make({dg.AssetKey(["cluster", "clusters"])})
    assert project.run_until_quiet() == set(), "all is as it was made"
    change_shard(project)
    assert {"ingest/wit_rows", "cluster/embeddings"} | last <= project.run_until_quiet()

    # New shards are ingested, and all of them where files about them have changed.
    pages = dg.AssetKey(["ingest", "pages"])
    project.instance.add_dynamic_partitions(str(wit_shards.name), ["c"])
    assert project.evaluate().get_requested_partitions(pages) == {"c"}
    files = observation_of_files(ShardState("", "second"))
    project.instance.report_runless_asset_event(files)
    assert {*SHARDS} <= project.evaluate().get_requested_partitions(pages)


@pytest.mark.parametrize("project", ["review: {approved: {require: all}}"], indirect=True)
def test_where_people_decide_a_change_waits_in_the_queue_for_them(project: Project) -> None:
    assert project.run_until_quiet() == set()
    change_shard(project)
    run = project.run_until_quiet()
    assert {"ingest/wit_rows", "review/queue"} <= run
    assert not {"review/approved", "release/releases"} & run
    decide(project)
    run = project.run_until_quiet()
    assert run >= {"review/approved", "release/releases", "release/exports"}
    assert not any(key.startswith(("ingest", "cluster", "dialogue")) for key in run)

    # A blocking check that failed holds back what follows.
    decide(project, "second")
    queue = dg.AssetKey(["review", "queue"])
    project.instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=queue, check_name="schema", passed=False, blocking=True, metadata={}
        )
    )
    assert "review/approved" not in project.run_until_quiet()


def test_new_predictions_are_scored_and_what_an_action_marks_is_made_again_once(project):
    assert project.run_until_quiet() == set()
    predictions = dg.AssetKey(["evaluate", "predictions"])
    for version, is_run in (("1", True), ("1", False), ("2", True)):
        tags = {DATA_VERSION_TAG: version}
        project.instance.report_runless_asset_event(dg.AssetMaterialization(predictions, tags=tags))
        assert ("evaluate/answers" in project.run_until_quiet()) == is_run, version

    questions = dg.AssetKey(["dialogue", "questions"])
    event = project.instance.get_latest_materialization_event(questions)
    assert event and event.asset_materialization
    tags = {**(event.asset_materialization.tags or {}), CODE_VERSION_TAG: TO_BE_MADE_AGAIN}
    project.instance.report_runless_asset_event(dg.AssetMaterialization(questions, tags=tags))

    assert "dialogue/questions" in project.run_until_quiet()
    assert project.run_until_quiet() == set()


# --- More shards than Dagster compares ------------------------------------------------------------

MANY_SHARDS = [f"shard-{number}" for number in range(MANY_PARTITIONS)]


@dg.asset(partitions_def=wit_shards)
def entries(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    return dg.MaterializeResult(data_version=dg.DataVersion(f"of {context.partition_key}"))


@dg.asset(deps=[entries])
def embeddings() -> None: ...


GRAPH = dg.Definitions([entries, embeddings]).resolve_asset_graph()


@pytest.fixture
def many(ephemeral: dg.DagsterInstance) -> dg.DagsterInstance:
    """With as many shards as Dagster does not compare any more."""
    ephemeral.add_dynamic_partitions(str(wit_shards.name), MANY_SHARDS)
    for shard in MANY_SHARDS:
        ingest(ephemeral, shard, "first")
    both = [entries, embeddings]
    assert dg.materialize(both, selection=[embeddings], instance=ephemeral).success
    return ephemeral


def ingest(instance: dg.DagsterInstance, shard: str, version: str) -> None:
    tags = {DATA_VERSION_TAG: version}
    instance.report_runless_asset_event(
        dg.AssetMaterialization(entries.key, partition=shard, tags=tags)
    )


def have_changed(instance: dg.DagsterInstance) -> bool:
    event = instance.get_latest_materialization_event(embeddings.key)
    assert event
    return ManyShards(instance, GRAPH).have_changed(embeddings.key, event.asset_materialization)


def test_a_new_shard_or_one_with_other_rows_is_a_change_and_one_ingested_again_is_none(
    many, monkeypatch
):
    assert not have_changed(many)
    # The last one is the event that the embeddings have seen.
    for shard in ("shard-0", MANY_SHARDS[-1]):
        ingest(many, shard, "first")
    assert not have_changed(many)
    ingest(many, "shard-1", "second")
    assert have_changed(many)
    ingest(many, "shard-1", "first")
    assert not have_changed(many), "it is as it was"
    # The later version counts, too, if the two are on two pages of events.
    monkeypatch.setattr(outdated, "EVENTS_AT_ONCE", 1)
    assert not have_changed(many)
    many.add_dynamic_partitions(str(wit_shards.name), ["new"])
    ingest(many, "new", "first")
    assert have_changed(many)


def test_the_assets_that_a_removed_shard_makes_outdated_are_those_that_depend_on_shards() -> None:
    graph = defs.resolve_asset_graph()
    shards = {key for key in graph.materializable_asset_keys if graph.get(key).is_partitioned}
    of_all_shards = {child for shard in shards for child in graph.get(shard).child_keys} - shards
    assert {".".join(key.path) for key in of_all_shards} == {*MADE_OF_SHARDS}
