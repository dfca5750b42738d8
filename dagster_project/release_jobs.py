"""Jobs on releases: put one in force and keep it there, let that go, compare, import, clean or retire.

What belongs here: what a person starts in the UI, or by `python -m dagster_project.releases`. Freezing
releases is the asset `release/releases`.
"""

from pathlib import Path

import dagster as dg

from assets.common.dagster_internals import CODE_VERSION_TAG, DATA_VERSION_TAG
from assets.common.settings import choose
from assets.common.tables import plain_errors
from assets.evaluate.cleaned_release import write_cleaned
from assets.evaluate.release_diff import compared, meant, write_page
from assets.release import releases
from assets.release.in_force import TABLE, pin, retire, unpin, version_of_releases
from assets.release.published import Wanted, import_published
from dagster_project.code_versions import code_version
from dagster_project.progress import progress_logger
from dagster_project.release_texts import shown
from methods.benchmarks import Benchmarks
from resources.images.store import ImageStore
from resources.llm.registry import Profile
from resources.reports.addresses import address
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse


class PinConfig(dg.Config):
    """The release to pin, for example mmdu-1198c7be75."""

    release_id: str


class UnpinConfig(dg.Config):
    """The name whose releases are to come into force again, for example mmdu."""

    name: str


class RetireConfig(dg.Config):
    """The name whose imported release is to be in force no more, for example mmbench-dev-en."""

    name: str


class CleanConfig(dg.Config):
    """The imported release to leave rejected items out of: an id, how it begins, or a name."""

    release: str


class CompareConfig(dg.Config):
    """Two releases: ids, how ids begin, or names (the release in force).

    Without `b`, `a` is compared with its parent.
    """

    a: str
    b: str = ""


class ImportConfig(dg.Config):
    """A published file of a benchmark, for example mmdu and /mnt/mmdu/benchmark.json.

    `images` is the folder of the pictures that it names, empty for the file's own; `name` empty for one
    made of benchmark, split and language.
    """

    benchmark: str
    file: str
    images: str = ""
    name: str = ""
    split: str = ""
    language: str = ""


@dg.op(name="pin", description="Put a release in force, and pin it in settings.yaml.")
def pin_op(
    context: dg.OpExecutionContext, config: PinConfig, warehouse: dg.ResourceParam[Warehouse]
) -> None:
    """Pins the release, and tells what follows that another one is in force."""
    with plain_errors():
        name = pin(warehouse, config.release_id)
        said = "A release was pinned; none was frozen."
        context.log_event(_materialized(context.instance, warehouse, said))
    context.log.info(f"{config.release_id} is in force and pinned for {name}")


@dg.op(name="unpin", description="Remove the pin of a name from settings.yaml.")
def unpin_op(context: dg.OpExecutionContext, config: UnpinConfig) -> None:
    """Removes the pin; no table is changed."""
    with plain_errors():
        unpin(config.name)
    context.log.info(f"{config.name} stays as it is until release/releases is materialized")


@dg.op(name="retire", description="Take the imported release of a name out of force.")
def retire_op(
    context: dg.OpExecutionContext, config: RetireConfig, warehouse: dg.ResourceParam[Warehouse]
) -> None:
    """Retires the release, and tells what follows that it is in force no more."""
    with plain_errors():
        release_id = retire(warehouse, config.name)
        said = f"{release_id} was retired; none was frozen."
        context.log_event(_materialized(context.instance, warehouse, said))
    context.log.info(f"{release_id} is in force no more; its answers and scores stay")


@dg.op(name="compare", description="Show what differs from one release to another.")
def compare_op(
    context: dg.OpExecutionContext,
    config: CompareConfig,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    profile: dg.ResourceParam[Profile],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> None:
    """Writes the page of the comparison; counts, link and preview are the metadata of the output."""
    with plain_errors():
        of = compared(warehouse, benchmarks, *meant(warehouse, config.a, config.b))
        page = write_page(warehouse, image_store, profile, benchmarks, of)
    context.add_output_metadata(
        {
            "page": dg.MetadataValue.url(address(page)),
            "added": len(of.found.added),
            "removed": len(of.found.removed),
            "changed": len(of.found.changed),
            "the same": of.found.n_same,
            "scores on common items": len(of.common),
            "difference": dg.MetadataValue.md(of.markdown),
        }
    )


@dg.op(
    name="import_published",
    description="Read a published file of a benchmark into the tables, its pictures into the store.",
)
def import_op(
    context: dg.OpExecutionContext,
    config: ImportConfig,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> str:
    """Imports the file, tells what follows, and gives the release's id."""
    wanted = Wanted(
        config.benchmark,
        Path(config.file),
        Path(config.images) if config.images else None,
        config.name or None,
        config.split or None,
        config.language or None,
    )
    with plain_errors():
        release_id = import_published(warehouse, image_store, wanted)
        said = f"{release_id} was imported; none was frozen."
        context.log_event(_materialized(context.instance, warehouse, said))
        page = shown(warehouse, release_id)
    context.add_output_metadata({"release": release_id, "card": dg.MetadataValue.md(page)})
    return release_id


@dg.op(
    name="clean", description="Write an imported release without the items that people rejected."
)
def clean_op(
    context: dg.OpExecutionContext,
    config: CleanConfig,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
) -> str:
    """Writes the release, tells what follows, and gives its id."""
    with plain_errors():
        release_id = write_cleaned(warehouse, review_store, config.release)
        said = f"{release_id} was cleaned of rejected items; none was frozen."
        context.log_event(_materialized(context.instance, warehouse, said))
        page = shown(warehouse, release_id)
    context.add_output_metadata({"release": release_id, "card": dg.MetadataValue.md(page)})
    return release_id


def _materialized(
    instance: dg.DagsterInstance, warehouse: Warehouse, said: str
) -> dg.AssetMaterialization:
    """`release/releases` as it is now, so that what follows sees that another release is in force.

    No release was frozen, which `said` says: all but the settings and the versions is as it was last
    shown.
    """
    event = instance.get_latest_materialization_event(releases.key)
    last = event.asset_materialization if event else None
    (spec,) = releases.specs
    version = code_version(spec)
    return dg.AssetMaterialization(
        releases.key,
        metadata={
            **(last.metadata if last else {}),
            **choose(TABLE).metadata(),
            "warning": said,
        },
        tags={
            **((last.tags or {}) if last else {}),
            **({CODE_VERSION_TAG: version} if version else {}),
            DATA_VERSION_TAG: version_of_releases(warehouse).value,
        },
    )


@dg.job(
    description="Puts a release in force whatever is frozen later; evaluate what is in force next.",
    logger_defs={"console": progress_logger},
)
def pin_release() -> None:
    """One op; its config has the release's id."""
    pin_op()


@dg.job(
    description="Lets newer releases of a name come into force again.",
    logger_defs={"console": progress_logger},
)
def unpin_release() -> None:
    """One op; its config has the name."""
    unpin_op()


@dg.job(
    description="Makes a page of what differs between two releases: items, settings, and the scores on "
    "what both have.",
    logger_defs={"console": progress_logger},
)
def compare_releases() -> None:
    """One op; its config has the two releases, its output's metadata the link to the page."""
    compare_op()


@dg.job(
    description="Reads a published file of a benchmark as a release; evaluate what is in force next.",
    logger_defs={"console": progress_logger},
)
def import_release() -> None:
    """One op; its config has the benchmark, the file and the folder of its pictures."""
    import_op()


@dg.job(
    description="Takes the imported release of a name out of force: nothing is asked on it any more.",
    logger_defs={"console": progress_logger},
)
def retire_release() -> None:
    """One op; its config has the name."""
    retire_op()


@dg.job(
    description="Makes of an imported release one without the items that people rejected.",
    logger_defs={"console": progress_logger},
)
def clean_release() -> None:
    """One op; its config has the release."""
    clean_op()


RELEASE_JOBS = [
    pin_release,
    unpin_release,
    compare_releases,
    import_release,
    retire_release,
    clean_release,
]
