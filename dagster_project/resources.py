"""Dagster resources: tables, corpus, images, models, ledger and review store of a run.

They are created from environment variables when the run starts, not while definitions load.
"""

import logging
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
from pydantic import Field

from assets.common.failures import plain_errors
from dagster_project.run_tags import BUDGET, CHAIN, PARENT_RUN, PROFILE, ROOT_RUN
from methods.benchmarks import BENCHMARKS
from methods.naming import listed
from resources.corpus.corpus import Corpus, CorpusError
from resources.embedding.process import EmbedderProcess, text_embedder
from resources.files import home
from resources.images.fetcher import ImageFetcher
from resources.images.index import ImageIndex
from resources.images.store import ImageStore, open_images
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_spec import RegistryError
from resources.llm.registry import Profile, Registry, active_profile, load_registry
from resources.mock_server.process import MockServerProcess
from resources.ray_rows.cluster import RayCluster
from resources.review.store import ReviewStore
from resources.settings.prompts import check_own_prompts
from resources.warehouse import Warehouse
from resources.warehouse.configured import warehouse_of_home
from resources.web.host_pauses import HostPauses

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
SAMPLE_CORPUS = home.REPO_ROOT / "resources" / "sample_corpus"


def corpus_folder(path: str | None = None, pauses: HostPauses | None = None) -> Corpus:
    """Return the corpus to build from: `path`, else `LOOM_CORPUS`, else the folder that the workspace
    was last ingested from, else the sample corpus.

    Args:
        path: The folder of the corpus.
        pauses: Waiting times that hosts asked for (rate limits), shared with other clients.

    Raises:
        CorpusError: No folder is named, and that of the last ingest is not there any more.
    """
    folder = path or os.environ.get("LOOM_CORPUS")
    record = home.corpus_record_path()
    if not folder and record.exists():
        folder = record.read_text().strip()
        if not Path(folder).is_dir():
            raise CorpusError(
                f"This workspace was ingested from {folder}, which is not there any more: give "
                "--corpus FOLDER (or LOOM_CORPUS)."
            )
    return Corpus(folder or SAMPLE_CORPUS, home.home(), pauses)


def ingested_shards(warehouse: Warehouse) -> dict[str, str]:
    """Return the fingerprint of each shard that has rows in the tables."""
    rows = warehouse.select("ingest.shards", "wit_shard", "fingerprint").to_pylist()
    return {row["wit_shard"]: row["fingerprint"] for row in rows}


def require_same_corpus(corpus: Corpus, ingested: Collection[str]) -> None:
    """Check that the sample corpus, the default, is not mixed into a workspace with another corpus.

    Args:
        corpus: The corpus to ingest from.
        ingested: The shards with rows in the tables.

    Raises:
        CorpusError: It is the sample corpus, and the tables have a shard that is not one of its shards.
    """
    if corpus.path != SAMPLE_CORPUS:
        return
    if others := sorted({*ingested} - {*corpus.shards()}):
        raise CorpusError(
            f"This workspace has another corpus ({listed(others, 3)}) than the sample corpus, which is "
            "the default: give --corpus FOLDER (or LOOM_CORPUS), or another workspace by --workspace "
            "(LOOM_WORKSPACE)."
        )


def image_fetcher(
    images: str | None = None, corpus: Corpus | None = None, pauses: HostPauses | None = None
) -> ImageFetcher:
    """Make the fetcher of a corpus's images.

    Args:
        images: A folder or a base URL; the default is `LOOM_IMAGES`, else the corpus's own `images/`,
            else the URLs in the rows.
        corpus: The corpus; the default is that of `corpus_folder`.
        pauses: Waiting times that hosts asked for (rate limits), shared with other clients.

    Raises:
        ImageSourceError: There is no such folder.
        CorpusError: The settings of the corpus are not valid.
    """
    corpus = corpus or corpus_folder()
    return ImageFetcher(
        images or os.environ.get("LOOM_IMAGES") or corpus.images_folder,
        contact=corpus.settings.wikipedia.contact,
        allow_private=corpus.settings.images.allow_private_addresses,
        pauses=pauses,
    )


def make_gateway(
    run: str = "",
    budget_usd: float | None = None,
    ancestors: Sequence[str] = (),
    at_work: Sequence[str] = (),
    *,
    registry: Registry | None = None,
    profile: str | None = None,
) -> Gateway:
    """Make the gateway of one run, with its budget.

    Args:
        run: The id of the run.
        budget_usd: US dollars that the run and its ancestors may spend. The default is LOOM_BUDGET_USD,
            which is shared with the runs `at_work`, too.
        ancestors: Ids of the runs that this run repeats or continues.
        at_work: Ids of the runs that are executing now.
        registry: The models; by default those of models.yaml.
        profile: The profile; by default the active one.

    Raises:
        RegistryError: models.yaml is wrong.
        PromptError: LOOM_PROMPTS is wrong.
    """
    check_own_prompts()
    return Gateway(
        load_registry() if registry is None else registry,
        active_profile() if profile is None else profile,
        Ledger(home.ledger_path()),
        open_images(),
        run,
        default_budget() if budget_usd is None else budget_usd,
        launcher=MockServerProcess(),
        ancestors=ancestors,
        at_work=at_work,
        together=budget_usd is None,
    )


def require_settings() -> None:
    """Check the settings of model calls, before a run starts.

    Raises UserError if models.yaml, `LOOM_PROFILE`, `LOOM_PROMPTS` or `LOOM_BUDGET_USD` is wrong.
    """
    check_own_prompts()
    load_registry().profile(active_profile())
    default_budget()


def default_budget() -> float | None:
    """Return the US dollars that concurrent runs may spend together (`LOOM_BUDGET_USD`); None is no
    limit.

    Raises RegistryError if the variable is not a number of at least 0.
    """
    value = os.environ.get("LOOM_BUDGET_USD", "")
    try:
        budget = float(value) if value else None
    except ValueError:
        budget = -1.0
    # float also reads the digits of other scripts.
    if not value.isascii() or (budget is not None and not 0 <= budget < math.inf):
        raise RegistryError(f"LOOM_BUDGET_USD is '{value}': set it to US dollars, or unset it.")
    return budget


def ancestors_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> list[str]:
    """Return the ids of the earlier runs that share a run's budget.

    These are the runs that it continues after a batch, the run that it re-executes (a retry), and all
    other re-executions of that run, also indirectly.
    """
    ancestors = {run.run_id}
    todo = [run]
    while todo:
        tags = todo.pop().tags
        named = {*tags.get(CHAIN, "").split(), tags.get(PARENT_RUN)}
        if root := tags.get(ROOT_RUN):
            again = instance.get_runs(dg.RunsFilter(tags={ROOT_RUN: root}))
            named |= {root, *(other.run_id for other in again)}
        new = {run_id for run_id in named if run_id} - ancestors
        ancestors |= new
        todo += instance.get_runs(dg.RunsFilter(run_ids=sorted(new))) if new else []
    return sorted(ancestors - {run.run_id})


def runs_at_work(instance: dg.DagsterInstance) -> list[str]:
    """Return the ids of the runs that execute steps now."""
    started = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])
    return [run.run_id for run in instance.get_runs(started)]


class WorkspaceResource(dg.ConfigurableResource[T], ABC):
    """A resource that is created when a run starts; errors are one sentence without a traceback.

    Assets get the result of `make`. Gateways, ledgers, image indexes and review stores are closed when
    the run ends.
    """

    @abstractmethod
    def make(self, context: dg.InitResourceContext) -> T:
        """Create the resource. Raises UserError."""

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[T]:
        """Make the resource for a run, and close it when the run ends."""
        with ExitStack() as closing:
            with plain_errors():
                resource = self.make(context)
            if isinstance(resource, Gateway | Ledger | ImageIndex | ReviewStore):
                closing.callback(resource.close)
            yield resource


class WarehouseResource(WorkspaceResource[Warehouse]):
    """The tables: warehouse.duckdb of the workspace, or the lake of LOOM_WAREHOUSE."""

    def make(self, context: dg.InitResourceContext) -> Warehouse:
        """Open the tables, and migrate them to this version. The run's log says if it has to wait."""
        log = _LOG if context.log is None else context.log
        opened = warehouse_of_home(log.warning)
        opened.check()
        return opened


class CorpusResource(WorkspaceResource[Corpus]):
    """The folder of shards (LOOM_CORPUS), by default that of the last ingest, or the sample corpus."""

    path: str | None = Field(default=None, description="The folder; null: that of the last ingest.")
    pauses: dg.ResourceDependency[HostPauses]
    warehouse: dg.ResourceDependency[Warehouse]

    def make(self, context: dg.InitResourceContext) -> Corpus:
        """Return the corpus. The sample corpus is refused for tables of another corpus."""
        corpus = corpus_folder(self.path, self.pauses)
        require_same_corpus(corpus, ingested_shards(self.warehouse))
        return corpus


class ImageFetcherResource(WorkspaceResource[ImageFetcher]):
    """Gets images from LOOM_IMAGES (a folder or a mirror), from the corpus, or from the web."""

    images: str | None = Field(
        None, description="A folder or a base URL; null: as the corpus says."
    )
    corpus: dg.ResourceDependency[Corpus]
    pauses: dg.ResourceDependency[HostPauses]

    def make(self, context: dg.InitResourceContext) -> ImageFetcher:
        return image_fetcher(self.images, self.corpus, self.pauses)


class ImageStoreResource(WorkspaceResource[ImageStore]):
    """The images of the workspace, each once, by the SHA-256 of its file."""

    def make(self, context: dg.InitResourceContext) -> ImageStore:
        return open_images()


class ImageIndexResource(WorkspaceResource[ImageIndex]):
    """The index of fetched image URLs, so that no URL is fetched twice."""

    def make(self, context: dg.InitResourceContext) -> ImageIndex:
        """Open the index, which is stored next to the images."""
        return ImageIndex(home.image_index_path())


class EmbedderResource(WorkspaceResource[EmbedderProcess]):
    """Text embeddings by the model LOOM_EMBEDDER, by default the packaged model."""

    def make(self, context: dg.InitResourceContext) -> EmbedderProcess:
        """Return the embedder; its process starts with the first text."""
        return text_embedder()


class RayResource(WorkspaceResource[RayCluster]):
    """The Ray cluster (LOOM_RAY_ADDRESS) for steps whose settings say that they run on Ray."""

    address: str | None = Field(default=None, description="The HTTP address of its dashboard.")

    def make(self, context: dg.InitResourceContext) -> RayCluster:
        """Return the Ray cluster; `RAY_ADDRESS` takes precedence, as it does in Ray's client."""
        return RayCluster(
            os.environ.get("RAY_ADDRESS") or self.address or os.environ.get("LOOM_RAY_ADDRESS")
        )


def _profile_of_run(context: dg.InitResourceContext, configured: str | None) -> str:
    """Return the profile of a run, by default LOOM_PROFILE, and record it as the run's tag.

    A run that continues or re-executes another one has the tag of that run, as the process that starts
    it, such as the UI, may have another LOOM_PROFILE.
    """
    profile = configured or active_profile()
    run, instance = context.run, context.instance
    if run is None or instance is None:
        return profile
    if PROFILE in run.tags and profile == active_profile():
        return run.tags[PROFILE]
    instance.add_run_tags(run.run_id, {PROFILE: profile})
    return profile


def _inherited_budget(instance: dg.DagsterInstance, run: dg.DagsterRun) -> float | None:
    """Return the budget of the run that this one continues or re-executes; None if it has none, or if
    LOOM_BUDGET_USD is set, which is then recorded as the run's tag.
    """
    of_process = default_budget()
    if of_process is not None:
        instance.add_run_tags(run.run_id, {BUDGET: str(of_process)})
        return None
    return float(run.tags[BUDGET]) if BUDGET in run.tags else None


class ModelsResource(WorkspaceResource[Gateway]):
    """Model calls by the profile LOOM_PROFILE of models.yaml. Needs the profile's API keys."""

    profile: str | None = Field(
        default=None, description="A profile of models.yaml; null: offline."
    )
    budget_usd: float | None = Field(
        default=None,
        description="US dollars that this run, and those that it retries or continues, may spend on "
        "models; it stops before it passes them.",
    )

    def make(self, context: dg.InitResourceContext) -> Gateway:
        """Create the gateway of one run; servers that it starts are stopped with it."""
        run, instance = context.run, context.instance
        if run is None or instance is None:
            return make_gateway("", self.budget_usd, profile=self.profile)
        profile = _profile_of_run(context, self.profile)
        budget_usd = self.budget_usd
        if budget_usd is None:
            budget_usd = _inherited_budget(instance, run)
        ancestors, at_work = ancestors_of(instance, run), runs_at_work(instance)
        return make_gateway(run.run_id, budget_usd, ancestors, at_work, profile=profile)


class LedgerResource(WorkspaceResource[Ledger]):
    """Every model call that was paid for: ledger.sqlite of the workspace. Needs no key."""

    def make(self, context: dg.InitResourceContext) -> Ledger:
        """Open the ledger alone: a gateway would need the profile's API keys."""
        return Ledger(home.ledger_path())


class ReviewStoreResource(WorkspaceResource[ReviewStore]):
    """The review queue and people's decisions: review.sqlite of the workspace."""

    def make(self, context: dg.InitResourceContext) -> ReviewStore:
        """Open the review store."""
        return ReviewStore(home.review_path())


class ProfileResource(WorkspaceResource[Profile]):
    """The models that write, judge and are evaluated (LOOM_PROFILE in models.yaml). Needs no key."""

    profile: str | None = Field(
        default=None, description="A profile of models.yaml; null: offline."
    )

    def make(self, context: dg.InitResourceContext) -> Profile:
        return load_registry().profile(_profile_of_run(context, self.profile))


def make_resources() -> dict[str, Any]:
    """Return all resources by name."""
    # The Wikipedia client and the image fetcher share the waiting times that hosts ask for.
    pauses = HostPauses()
    warehouse = WarehouseResource()
    corpus = CorpusResource(path=_from("LOOM_CORPUS"), pauses=pauses, warehouse=warehouse)
    return {
        "warehouse": warehouse,
        "corpus": corpus,
        "image_store": ImageStoreResource(),
        "image_index": ImageIndexResource(),
        "image_fetcher": ImageFetcherResource(
            images=_from("LOOM_IMAGES"), corpus=corpus, pauses=pauses
        ),
        "embedder": EmbedderResource(),
        "ray": RayResource(address=_from("LOOM_RAY_ADDRESS")),
        "review_store": ReviewStoreResource(),
        "llm": ModelsResource(profile=_from("LOOM_PROFILE")),
        "ledger": LedgerResource(),
        "profile": ProfileResource(profile=_from("LOOM_PROFILE")),
        "benchmarks": dg.ResourceDefinition.hardcoded_resource(
            BENCHMARKS,
            "The benchmarks that models are evaluated on: how each asks, judges and scores.",
        ),
    }


def _from(variable: str) -> dg.EnvVar | None:
    """Return an environment variable that is read when a run starts, or None if it is empty now."""
    return dg.EnvVar(variable) if os.environ.get(variable) else None
