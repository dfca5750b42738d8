"""The resources of a run, made from the environment when the run starts.

What belongs here: where each resource comes from. None is opened while definitions load.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence

import dagster as dg

from assets.common.tables import plain_errors
from dagster_project.run_tags import CHAIN, PARENT_RUN, ROOT_RUN
from methods.benchmarks import BENCHMARKS, Benchmarks
from resources.corpus.corpus import Corpus
from resources.embedding.process import text_embedder
from resources.files import home
from resources.images.fetcher import ImageFetcher
from resources.images.index import ImageIndex
from resources.images.store import open_images
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_spec import RegistryError
from resources.llm.registry import Registry, active_profile, load_registry
from resources.offline.process import OfflineServer
from resources.ray_clustering.cluster import RayCluster
from resources.review.store import ReviewStore
from resources.settings.prompts import check_own_prompts
from resources.warehouse import Warehouse
from resources.warehouse.configured import warehouse_of_home
from resources.web.host_pauses import HostPauses

_LOG = logging.getLogger(__name__)
SAMPLE_CORPUS = home.REPO_ROOT / "resources" / "sample_corpus"


def corpus_folder(pauses: HostPauses | None = None) -> Corpus:
    """The corpus to build from (environment variable `LOOM_CORPUS`), the sample by default."""
    return Corpus(os.environ.get("LOOM_CORPUS") or SAMPLE_CORPUS, home.home(), pauses)


def image_fetcher(pauses: HostPauses | None = None) -> ImageFetcher:
    """Images from `LOOM_IMAGES` (a folder or a base URL), else from the corpus's own `images/`, else
    from the addresses in the rows. Raises ImageSourceError, CorpusError."""
    corpus = corpus_folder()
    return ImageFetcher(
        os.environ.get("LOOM_IMAGES") or corpus.images_folder,
        contact=corpus.settings.wikipedia.contact,
        allow_private=corpus.settings.images.allow_private_addresses,
        pauses=pauses,
    )


@dg.resource(
    description="The tables: warehouse.duckdb of the home, or the lake of LOOM_WAREHOUSE. A connection "
    "lasts for one transaction."
)
def warehouse(context: dg.InitResourceContext) -> Warehouse:
    """The tables, of this version before a run begins; the run's log says when it has to wait."""
    log = _LOG if context.log is None else context.log
    with plain_errors():
        opened = warehouse_of_home(log.warning)
        opened.check()
    return opened


def ray_cluster() -> RayCluster:
    """The cluster at `LOOM_RAY_ADDRESS`; `RAY_ADDRESS` goes before, as it does with Ray's client."""
    return RayCluster(os.environ.get("RAY_ADDRESS") or os.environ.get("LOOM_RAY_ADDRESS") or None)


def make_gateway(
    run: str = "",
    budget_usd: float | None = None,
    ancestors: Sequence[str] = (),
    *,
    registry: Registry | None = None,
    profile: str | None = None,
) -> Gateway:
    """The gateway for one run and what it may spend, its ancestors included.

    Without `budget_usd` that is LOOM_BUDGET_USD, together with the runs beside it. `registry` is that
    of models.yaml and `profile` the active one, where they are not given. Raises RegistryError or
    PromptError with one sentence.
    """
    check_own_prompts()
    return Gateway(
        load_registry() if registry is None else registry,
        active_profile() if profile is None else profile,
        Ledger(home.ledger_path()),
        open_images(),
        run,
        default_budget() if budget_usd is None else budget_usd,
        launcher=OfflineServer(),
        ancestors=ancestors,
        together=budget_usd is None,
    )


def default_budget() -> float | None:
    """US dollars that runs side by side may spend (environment variable `LOOM_BUDGET_USD`), without
    limit by default.

    Raises RegistryError.
    """
    given = os.environ.get("LOOM_BUDGET_USD", "")
    try:
        budget = float(given) if given else None
    except ValueError:
        budget = -1.0
    if budget is not None and not budget >= 0:
        raise RegistryError(f"LOOM_BUDGET_USD is '{given}': set it to US dollars, or unset it.")
    return budget


def ancestors_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> list[str]:
    """The runs whose work a run repeats or continues, in no order; they share its budget.

    These are the runs that it goes on for after a batch, those that it executes again, and all that
    execute the same one again.
    """
    known = {run.run_id}
    todo = [run]
    while todo:
        tags = todo.pop().tags
        named = {*tags.get(CHAIN, "").split(), tags.get(PARENT_RUN)}
        if root := tags.get(ROOT_RUN):
            again = instance.get_runs(dg.RunsFilter(tags={ROOT_RUN: root}))
            named |= {root, *(other.run_id for other in again)}
        new = {run_id for run_id in named if run_id} - known
        known |= new
        todo += instance.get_runs(dg.RunsFilter(run_ids=sorted(new))) if new else []
    return sorted(known - {run.run_id})


@dg.resource(
    description="Asks models, by the profile LOOM_PROFILE of models.yaml. Needs the profile's keys.",
    config_schema={
        "budget_usd": dg.Field(
            dg.Noneable(float),
            is_required=False,
            description="US dollars that this run, and those that it retries or continues, may spend "
            "on models; it stops before it passes them.",
        )
    },
)
def llm(context: dg.InitResourceContext) -> Iterator[Gateway]:
    """A gateway for one run; what it started is stopped with it."""
    with plain_errors():
        run, budget_usd = context.run, context.resource_config.get("budget_usd")
        if run is None or context.instance is None:
            gateway = make_gateway("", budget_usd)
        else:
            gateway = make_gateway(run.run_id, budget_usd, ancestors_of(context.instance, run))
    try:
        yield gateway
    finally:
        gateway.close()


@dg.resource(
    description="Every model call that was paid for: ledger.sqlite of the home. Needs no key."
)
def ledger(_context: dg.InitResourceContext) -> Iterator[Ledger]:
    """The ledger by itself: a gateway asks for the profile's keys."""
    with plain_errors():
        opened = Ledger(home.ledger_path())
    try:
        yield opened
    finally:
        opened.close()


@dg.resource(description="Which address gave which image, so that none is fetched twice.")
def image_index(_context: dg.InitResourceContext) -> Iterator[ImageIndex]:
    """The index beside the images."""
    with plain_errors():
        opened = ImageIndex(home.image_index_path())
    try:
        yield opened
    finally:
        opened.close()


@dg.resource(
    description="What is put before people and what they decided: review.sqlite of the home."
)
def review_store(_context: dg.InitResourceContext) -> Iterator[ReviewStore]:
    """The review store, with the rules of `review.yaml`."""
    with plain_errors():
        opened = ReviewStore(home.review_path())
    try:
        yield opened
    finally:
        opened.close()


def make_resources(benchmarks: Benchmarks = BENCHMARKS) -> dict[str, dg.ResourceDefinition]:
    """Every resource by the name assets ask for it; models are evaluated on `benchmarks`."""
    # A host that wants no requests gets none, whether Wikipedia or an image is asked for.
    pauses = HostPauses()

    def plain(
        name: str, make: Callable[[], object], description: str
    ) -> dict[str, dg.ResourceDefinition]:
        made = plain_errors()(make)

        def provide(_context: dg.InitResourceContext) -> object:
            return made()

        # The UI shows a resource's function, too.
        provide.__name__ = name
        return {name: dg.ResourceDefinition(provide, description=description)}

    return {
        "warehouse": warehouse,
        **plain(
            "corpus",
            lambda: corpus_folder(pauses),
            "The folder of shards to ingest (LOOM_CORPUS), by default the sample corpus.",
        ),
        **plain(
            "image_store",
            open_images,
            "The images of the home, each once, by the SHA-256 of its file.",
        ),
        "image_index": image_index,
        **plain(
            "image_fetcher",
            lambda: image_fetcher(pauses),
            "Gets images from LOOM_IMAGES (a folder or a mirror), from the corpus, or from the web.",
        ),
        **plain(
            "embedder",
            text_embedder,
            "Turns texts into vectors by the model LOOM_EMBEDDER, by default the packaged one.",
        ),
        **plain(
            "ray",
            ray_cluster,
            "The Ray cluster (LOOM_RAY_ADDRESS) for steps whose settings say that they run on Ray.",
        ),
        "review_store": review_store,
        "llm": llm,
        "ledger": ledger,
        **plain(
            "profile",
            lambda: load_registry().profile(active_profile()),
            "Which models write, judge and are evaluated (LOOM_PROFILE in models.yaml). Needs no key.",
        ),
        **plain(
            "benchmarks",
            lambda: benchmarks,
            "The benchmarks that models are evaluated on, by name: how each asks, judges and scores.",
        ),
    }
