"""A world of its own for a test: home folder, corpus, models, Dagster instance and proxy.

Everything in it is real: jobs run in process by the project's own definitions, resources are made
from the environment as ever, models are asked over HTTP. Only the embedder is shared, so that torch
loads once.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
import yaml

from assets.common.partitions import wit_shards
from assets.common.tables import rows_to_arrow
from dagster_project.definitions import build_defs
from dagster_project.job_runs import restore_signal_handlers
from dagster_project.progress import SHOW_PROGRESS
from methods.review import check_decision
from resources.embedding.embedder import Embedder
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from resources.warehouse.duckdb_file import left_open
from tests.assets.corpus import Corpus
from tests.doubles.garbling_proxy import GarblingProxy

Row = dict[str, Any]
Result = dg.ExecuteInProcessResult

SMALL_SETS = {
    "cluster__splits": {"config": {"benchmark_share": 0.5, "by_cluster": True, "seed": 1}},
    "cluster__image_sets": {"config": {"benchmark_sizes": [3], "instruction_sizes": [2]}},
}
"""Run config: sets of three images for the benchmark, of two to instruct. Half of the clusters are on
either split: with this seed `TOPICS` are for the benchmark, and `OTHER_TOPICS` are to instruct."""
SMALL_DIALOGUES = {"per_image": 1, "per_set": 3}
"""Settings of `dialogue.questions`: fewer turns than MMDU has."""
FIRST_SETS = "FROM cluster.image_sets QUALIFY set_id = min(set_id) OVER (PARTITION BY kind)"
"""A set of each kind."""
ANY_ASSETS = "__ASSET_JOB"
"""Dagster's own job for assets that are selected by hand."""
WITHOUT_PICTURES = dg.AssetSelection.groups("cluster") - dg.AssetSelection.assets(
    ["cluster", "map"], ["cluster", "pictures"]
)
GENERATION = dg.AssetSelection.assets(
    *(["dialogue", name] for name in ("summaries", "questions", "answers", "dialogues")),
    ["rewrite", "rewrites"],
)
FROM_REVIEW_TO_RELEASE = dg.AssetSelection.groups("review", "release")
ASKING = dg.AssetSelection.assets(
    *(["evaluate", name] for name in ("answers", "judgments", "second_readings"))
)
SCORING = dg.AssetSelection.assets(
    *(["evaluate", name] for name in ("observations", "scores", "leaderboard"))
)
RANKING = SCORING | dg.AssetSelection.assets(["evaluate", "comparisons"])
"""Comparisons take as long as all else."""
REPORTS = dg.AssetSelection.assets(["evaluate", "reports"])
BIAS_TESTS = dg.AssetSelection.assets(["evaluate", "judge_bias_tests"])
PAIRING = dg.AssetSelection.assets(["evaluate", "pairs"], ["evaluate", "pair_ratings"])
CALLING = ASKING | BIAS_TESTS | PAIRING
"""What of evaluation may call a model."""
AFTER_JUDGING = dg.AssetSelection.groups("evaluate") - ASKING - BIAS_TESTS - PAIRING
BY_PEOPLE = dg.AssetSelection.assets(["review", "agreement"], ["review", "effort"])
MAX_SIDE = 1024
"""Pixels; the registry's default."""
MODELS = ("writer", "judge", "careful", "careless", "refuser")
SETTINGS = ("LOOM_", "OPENAI_")


def any_loss(*steps: str) -> Row:
    return {step: {"config": {"max_failed_share": 1.0}} for step in steps}


ANY_LOSS_IN_GENERATION = any_loss(
    "dialogue__summaries",
    "dialogue__questions",
    "dialogue__answers",
    "dialogue__dialogues",
    "rewrite__rewrites",
)
ANY_LOSS_IN_EVALUATION = any_loss("evaluate__answers", "evaluate__judgments")


def models_yaml(base_url: str) -> Row:
    """Every mock model behind the proxy, asked as a provider's would be: profile `test`.

    A world goes on from a copy of another one, whose proxy listens elsewhere: they have one identity.
    """
    return {
        "profiles": {
            "test": {"writer": "writer", "judge": "judge", "evaluate": ["careful", "careless"]}
        },
        "models": {
            name: {
                "provider": "openai",
                "identity": "the proxy",
                "base_url": base_url,
                "model": f"offline-{name}",
                # Replies are garbled as texts.
                "structured_output": False,
            }
            for name in MODELS
        },
    }


CHECKS = ("made", "not_empty", "ingested", "licensed", "decided_by_people", "on_this_content")
"""Asset checks of worlds. The main job of tests/e2e runs all of them: they are two of three steps."""


@cache
def definitions_with(embedder: Embedder) -> dg.Definitions:
    """The project's definitions with this embedder. All worlds share them and their resolved jobs."""
    return with_few_checks(build_defs(resource_overrides={"embedder": embedder}))


def with_few_checks(definitions: dg.Definitions) -> dg.Definitions:
    """The same definitions with `CHECKS` alone."""
    kept = [
        each
        for each in definitions.asset_checks or []
        if all(key.name in CHECKS for key in each.check_keys)
    ]
    return dg.Definitions(
        assets=definitions.assets,
        asset_checks=kept,
        jobs=definitions.jobs,
        schedules=definitions.schedules,
        sensors=definitions.sensors,
        resources=definitions.resources,
        executor=definitions.executor,
        loggers=definitions.loggers,
    )


@dataclass
class World:
    """One home and what runs on it. `settings` are environment variables during runs."""

    root: Path
    corpus: Corpus
    proxy: GarblingProxy
    embedder: Embedder
    instance: dg.DagsterInstance
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.write_models(models_yaml(self.proxy.base_url))
        self.settings = {"LOOM_PROFILE": "test", **self.settings}
        self.definitions = definitions_with(self.embedder)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def warehouse(self) -> Warehouse:
        return Warehouse(self.home / "warehouse.duckdb")

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.home / "ledger.sqlite")

    @property
    def images(self) -> ImageStore:
        return ImageStore(self.home / "images")

    @property
    def review_store(self) -> ReviewStore:
        return ReviewStore(self.home / "review.sqlite")

    def write_models(self, content: Row) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "models.yaml").write_text(yaml.safe_dump(content))

    def set_models(self, changes: Mapping[str, Row] | None = None, **profile: Any) -> None:
        """Change entries of models.yaml and its profile; a new entry is `careful` with the changes."""
        content = models_yaml(self.proxy.base_url)
        entries, careful = content["models"], content["models"]["careful"]
        for name, change in (changes or {}).items():
            entries[name] = {**entries.get(name, careful), **change}
        content["profiles"]["test"] |= profile
        if "judges" in profile:
            del content["profiles"]["test"]["judge"]
        self.write_models(content)

    def set_mock_models(self, url: str, models: Mapping[str, str | Row], **profile: Any) -> None:
        """A profile of models of the mock server itself: its model or its entry by name."""
        entry = {"provider": "mock", "base_url": url}
        entries = {
            name: {**entry, **(model if isinstance(model, dict) else {"model": model})}
            for name, model in models.items()
        }
        self.write_models({"profiles": {"test": profile}, "models": entries})

    def write_settings(self, content: Row) -> None:
        """The home's `settings.yaml`: settings by stage and asset."""
        self.home.mkdir(exist_ok=True)
        (self.home / "settings.yaml").write_text(yaml.safe_dump(content))

    @contextmanager
    def environment(self) -> Iterator[None]:
        """The environment of a run on this world, without the caller's own settings.

        What is run here leaves the warehouse open between transactions, as runs do.
        """
        with restore_signal_handlers(), pytest.MonkeyPatch.context() as patch, left_open.of_run():
            for name in [name for name in os.environ if name.startswith(SETTINGS)]:
                patch.delenv(name)
            patch.setenv("LOOM_WORKSPACE", str(self.home))
            patch.setenv("LOOM_CORPUS", str(self.corpus.folder))
            patch.setenv("LOOM_MODELS", str(self.root / "models.yaml"))
            patch.setenv("NO_PROXY", "127.0.0.1")
            for name, value in self.settings.items():
                patch.setenv(name, value)
            yield

    # --- Stages ----------------------------------------------------------------------------------

    def run(
        self,
        job: str,
        config: Mapping[str, Any] | None = None,
        partition: str | None = None,
        assets: dg.AssetSelection | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> Result:
        """Run a job, or the selected ones of its assets, here and now; it may fail."""
        with self.environment():
            chosen = assets and assets.resolve(self.definitions.resolve_asset_graph())
            return self.definitions.resolve_job_def(job).execute_in_process(
                asset_selection=sorted(chosen, key=str) if chosen else None,
                instance=self.instance,
                run_config={**SHOW_PROGRESS, "ops": dict(config or {})},
                partition_key=partition,
                tags=dict(tags or {}),
                raise_on_error=False,
            )

    def ingest(self, shard: str = "mini", config: Mapping[str, Any] | None = None) -> Result:
        self.instance.add_dynamic_partitions(str(wit_shards.name), [shard])
        return self.run("ingest", config, shard)

    def cluster(self) -> Result:
        """Clusters, splits and sets, without the pictures, which take as long as all else."""
        return self.run("cluster", SMALL_SETS, assets=WITHOUT_PICTURES)

    def generate(self, config: Mapping[str, Any] | None = None) -> Result:
        given = dict(config or {})
        of_questions = given.get("dialogue__questions", {}).get("config", {})
        given["dialogue__questions"] = {"config": {**SMALL_DIALOGUES, **of_questions}}
        return self.run(ANY_ASSETS, given, assets=GENERATION)

    def release(self, require: str = "none", **config: Any) -> Result:
        settings = {"review__approved": {"config": {"require": require, **config}}}
        return self.run(ANY_ASSETS, settings, assets=FROM_REVIEW_TO_RELEASE)

    def evaluate(self, *models: str, config: Mapping[str, Any] | None = None) -> Result:
        """Ask `models` (none: those of the profile) and judge what they said."""
        given = {step: dict(of) for step, of in (config or {}).items()}
        if models:
            answers = given.setdefault("evaluate__answers", {})
            answers["config"] = {**answers.get("config", {}), "models": list(models)}
        return self.run(ANY_ASSETS, given, assets=ASKING)

    def score(self) -> Result:
        """Scores and the leaderboard, without ranks."""
        return self.run(ANY_ASSETS, assets=SCORING)

    def import_file(self, benchmark: str, file: Path, **config: Any) -> Result:
        """Import a published file as a release; it may fail."""
        given = {"benchmark": benchmark, "file": str(file), **config}
        return self.run("import_release", {"release_import": {"config": given}})

    def decide(self, item_id: str, verdict: str, reviewer: str = "anna", **said: Any) -> None:
        """A person's decision on an item as it is queued, as the review app stores it."""
        state = self.review_store.state(item_id)
        assert state is not None
        record = {"item_id": item_id, "content_hash": state.item["content_hash"], "round": 1}
        record |= {"reviewer": reviewer, "verdict": verdict, **said}
        record.setdefault("decided_at", "2026-01-01T00:00:00+00:00")
        self.review_store.append([check_decision(record, state.item)])

    def forget_calls(self) -> None:
        """Lose the ledger, so that every model is asked everything again."""
        for file in self.home.glob("ledger.sqlite*"):
            file.unlink()

    def leaderboard(self, config: Mapping[str, Any] | None = None) -> Result:
        """What is made of all judgments and of what people decided."""
        return self.run(ANY_ASSETS, config, assets=AFTER_JUDGING | BY_PEOPLE)

    # --- Looking ---------------------------------------------------------------------------------

    def rows(self, text: str, **params: object) -> list[Row]:
        return self.warehouse.sql(text, params).to_pylist()

    def table(self, name: str, /, **where: object) -> list[Row]:
        """The rows of a table with these values, in an order that their content gives."""
        tests = " AND ".join(f"{column} = ${column}" for column in where) or "TRUE"
        return self.rows(f"FROM {name} WHERE {tests} ORDER BY ALL", **where)

    def told(self, asset: str) -> Row:
        """Metadata of the asset's latest materialization in this world, as plain values."""
        event = self.instance.get_latest_materialization_event(dg.AssetKey(asset.split("/")))
        assert event is not None and event.asset_materialization is not None
        return {name: entry.value for name, entry in event.asset_materialization.metadata.items()}

    def scores(
        self, metric: str, form: str = "floor", subset: str = "", judge: str | None = None
    ) -> dict[str, float]:
        """Values of `metric/aggregation` by model, of all judges or of one."""
        rows = self.rows(
            "SELECT model, value FROM evaluate.scores WHERE metric || '/' || aggregation = $metric "
            "AND form = $form AND subset_value = $subset AND judge = coalesce($judge, judge)",
            **{"metric": metric, "form": form, "subset": subset, "judge": judge},
        )
        return {row["model"]: row["value"] for row in rows}

    def report(self) -> str:
        return (self.home / "reports" / f"{self.current()['mmdu']}.html").read_text()

    def current(self) -> dict[str, str]:
        rows = self.rows("SELECT name, release_id FROM release.current ORDER BY name")
        return {row["name"]: row["release_id"] for row in rows}

    def remake(self, table: str, query: str) -> None:
        self.warehouse.replace(table, self.warehouse.sql(query))

    def change(self, table: str, item_id: str, **values: object) -> None:
        rows = self.table(table)
        (row,) = (row for row in rows if row["item_id"] == item_id)
        row.update(values)
        self.warehouse.replace(table, rows_to_arrow(table, rows))

    def items(self) -> list[str]:
        rows = self.rows(
            "SELECT item_id FROM release.items JOIN release.current USING (release_id) "
            "WHERE name = 'mmdu' ORDER BY ordinal"
        )
        return [row["item_id"] for row in rows]

    def image_sets(self, kind: str) -> dict[str, list[Row]]:
        """The rows of each set, in order of position, with their captions."""
        sets: dict[str, list[Row]] = {}
        for row in self.rows(
            "SELECT s.*, e.caption FROM cluster.image_sets AS s JOIN ingest.entries AS e "
            "USING (entry_id) WHERE kind = $kind ORDER BY set_id, position",
            kind=kind,
        ):
            sets.setdefault(row["set_id"], []).append(row)
        return sets


def data_url_hash(world: World, image_id: str) -> str:
    """What `Asked.images` has for an image of the store."""
    url = world.images.jpeg_base64(image_id, MAX_SIDE)
    return hashlib.sha256(url.encode()).hexdigest()


def copy_of(base: Path, root: Path) -> None:
    """Copy a finished world's home, so that a test may go on from there."""
    left_open.close(base / "home" / "warehouse.duckdb")
    shutil.copytree(base / "home", root / "home")


def move_corpus(base: Path, root: Path) -> None:
    """Let a copied home's tables name the shards of the corpus in `root`, not of its base's."""
    with duckdb.connect(str(root / "home" / "warehouse.duckdb")) as tables:
        moved = "UPDATE ingest.shards SET address = replace(address, $base, $root)"
        tables.execute(moved, {"base": f"{base}/corpus", "root": f"{root}/corpus"})


def released_after(world: World, make: Callable[[World], Result]) -> World:
    """The world after a run of `make`, whose items are then released; both have to succeed."""
    for run in (make(world), world.release()):
        assert run.success, sentence(run)
    return world


# --- What a run says of itself -------------------------------------------------------------------


def made(result: Result) -> set[str]:
    return {
        event.asset_key.to_user_string()
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }


def metadata(result: Result, asset: str | None = None) -> Row:
    """Metadata of an asset's materialization, or of the only one, as plain values."""
    events = result.get_asset_materialization_events()
    entries = next(
        event.materialization.metadata
        for event in events
        if asset is None or event.asset_key == dg.AssetKey(asset.split("/"))
    )
    assert asset or len(events) == 1
    return {name: entry.value for name, entry in entries.items()}


def check(result: Result, asset: str, name: str) -> dg.AssetCheckEvaluation:
    return next(
        evaluation
        for evaluation in result.get_asset_check_evaluations()
        if (evaluation.asset_key, evaluation.check_name) == (dg.AssetKey(asset.split("/")), name)
    )


def sentence(result: Result) -> str:
    """The description of the `dg.Failure` that ended the run's one failing step."""
    failed = [event for event in result.all_events if event.is_step_failure]
    assert len(failed) == 1, [event.step_key for event in failed]
    told = failed[0].step_failure_data.user_failure_data
    assert told is not None, failed[0].step_failure_data.error
    return told.description or ""
