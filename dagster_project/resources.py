"""The resources of a run, made from the environment when the run starts.

What belongs here: where each resource comes from. None is opened while definitions load.
"""

import os
from collections.abc import Callable, Iterator

import dagster as dg

from assets.common.tables import plain_errors
from resources import home
from resources.corpus.corpus import Corpus
from resources.embedder import PACKAGED, TORCH, Embedder
from resources.host_pauses import HostPauses
from resources.images.fetcher import ImageFetcher
from resources.images.index import ImageIndex
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import RegistryError, active_profile, load_registry
from resources.offline.process import OfflineServer
from resources.ray_clustering.cluster import RayCluster
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

CHAIN = "loom/chain"
"""Tag of a run that goes on for others which stopped to wait: their ids, one after another."""
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


def text_embedder() -> Embedder:
    """The model `LOOM_EMBEDDER`, or the packaged one, by `LOOM_EMBEDDER_BACKEND`, or torch, on
    `LOOM_EMBEDDER_DEVICE`, or what is there."""
    return Embedder(
        os.environ.get("LOOM_EMBEDDER") or PACKAGED,
        os.environ.get("LOOM_EMBEDDER_BACKEND") or TORCH,
        os.environ.get("LOOM_EMBEDDER_DEVICE") or None,
    )


def warehouse() -> Warehouse:
    """The tables, of this version before a run begins. Raises WarehouseError."""
    opened = Warehouse(home.warehouse_path())
    opened.check()
    return opened


def ray_cluster() -> RayCluster:
    """The cluster at `LOOM_RAY_ADDRESS`; `RAY_ADDRESS` goes before, as it does with Ray's client."""
    return RayCluster(os.environ.get("RAY_ADDRESS") or os.environ.get("LOOM_RAY_ADDRESS") or None)


def make_gateway(run: str = "", budget_usd: float | None = None) -> Gateway:
    """The gateway for the active profile, for one run and what it may spend.

    Raises RegistryError with one sentence.
    """
    return Gateway(
        load_registry(),
        active_profile(),
        Ledger(home.ledger_path()),
        ImageStore(home.images_path()),
        run,
        default_budget() if budget_usd is None else budget_usd,
        launcher=OfflineServer(),
    )


def default_budget() -> float | None:
    """US dollars a run may spend (environment variable `LOOM_BUDGET_USD`), without limit by default.

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


@dg.resource(
    description="Model calls: registry, ledger, limits; the offline server when it is needed.",
    config_schema={
        "budget_usd": dg.Field(
            dg.Noneable(float),
            is_required=False,
            description="US dollars this run may spend on models; it stops before it passes them.",
        )
    },
)
def llm(context: dg.InitResourceContext) -> Iterator[Gateway]:
    """A gateway for one run; what it started is stopped with it."""
    with plain_errors():
        gateway = make_gateway(
            context.run.run_id if context.run else "", context.resource_config.get("budget_usd")
        )
        # A run that continues others continues their spending, too.
        before = context.run.tags.get(CHAIN, "").split() if context.run else []
        gateway.budget.spent_usd = gateway.ledger.cost_of(before)
    try:
        yield gateway
    finally:
        gateway.close()


@dg.resource(description="Every model call that was paid for, for reading; needs no model's key.")
def ledger(_context: dg.InitResourceContext) -> Iterator[Ledger]:
    """The ledger by itself: a gateway asks for the profile's keys."""
    with plain_errors():
        opened = Ledger(home.ledger_path())
    try:
        yield opened
    finally:
        opened.close()


@dg.resource(description="Which address gave which image: nothing is fetched twice.")
def image_index(_context: dg.InitResourceContext) -> Iterator[ImageIndex]:
    """The index beside the images."""
    with plain_errors():
        opened = ImageIndex(home.image_index_path())
    try:
        yield opened
    finally:
        opened.close()


@dg.resource(description="What people decided, append-only, and what is put before them.")
def review_store(_context: dg.InitResourceContext) -> Iterator[ReviewStore]:
    """The review store, with the rules of `review.yaml`."""
    with plain_errors():
        opened = ReviewStore(home.review_path())
    try:
        yield opened
    finally:
        opened.close()


def make_resources() -> dict[str, dg.ResourceDefinition]:
    """Every resource by the name assets ask for it."""
    # A host that wants no requests gets none, whether Wikipedia or an image is asked for.
    pauses = HostPauses()

    def plain(make: Callable[[], object], description: str) -> dg.ResourceDefinition:
        made = plain_errors()(make)
        return dg.ResourceDefinition(lambda _context: made(), description=description)

    return {
        "warehouse": plain(warehouse, "DuckDB tables, opened for one transaction."),
        "corpus": plain(
            lambda: corpus_folder(pauses), "The shards that are ingested, and what is left out."
        ),
        "image_store": plain(lambda: ImageStore(home.images_path()), "Images by their SHA-256."),
        "image_index": image_index,
        "image_fetcher": plain(
            lambda: image_fetcher(pauses), "Images from a folder, a mirror or the web."
        ),
        "embedder": plain(text_embedder, "Texts to unit vectors."),
        "ray": plain(ray_cluster, "Where steps that are told to run on Ray send their jobs."),
        "review_store": review_store,
        "llm": llm,
        "ledger": ledger,
    }
