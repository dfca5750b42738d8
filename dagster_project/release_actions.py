"""Actions on releases, as commands and in the UI: pin, retire, clean, compare, import, export, push.

Modules that take seconds to load are imported when an action is performed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dagster_project.action import Action, ActionResult, CommandField, File, Quoting, Release

if TYPE_CHECKING:
    from methods.benchmarks import Benchmarks
    from resources.images.store import ImageStore
    from resources.llm.registry import Profile
    from resources.review.store import ReviewStore
    from resources.warehouse import Warehouse

WITH = "Other releases in the same folder, by commas: splits and languages of one dataset."
RELEASES = "release/releases"


class PinRelease(Action):
    """Pin a release: it stays the current one of its name. Run the job evaluate next."""

    COMMAND = "release pin"
    EXAMPLE = "release pin mmdu-2d8ad9af1a"

    release: Release

    def perform(self, warehouse: "Warehouse") -> ActionResult:
        from assets.release.current_releases import pin
        from resources.publishing.releases import release_meant

        release_id = release_meant(warehouse, self.release)
        name = pin(warehouse, release_id)
        return ActionResult(f"{release_id} is current and pinned for {name}.", changed=RELEASES)


class UnpinRelease(Action):
    """Unpin a name: its newest release becomes current again with the next run of the job release."""

    COMMAND = "release unpin"
    EXAMPLE = "release unpin mmdu"

    name: str = Field(description="A name of releases, such as mmdu.")

    def perform(self) -> ActionResult:
        from assets.release.current_releases import unpin

        unpin(self.name)
        return ActionResult(
            f"{self.name} is not pinned any more. Its current release stays until release/releases is "
            "materialized."
        )


class RetireRelease(Action):
    """Retire a release: it is no longer current, and models are no longer asked on it."""

    COMMAND = "release retire"
    EXAMPLE = "release retire mmbench-dev-en"

    name: str = Field(description="The name of the release, such as mmbench-dev-en.")

    def perform(self, warehouse: "Warehouse") -> ActionResult:
        from assets.release.current_releases import retire

        release_id = retire(warehouse, self.name)
        return ActionResult(
            f"{release_id} is not current any more, and nothing is asked on it; answers and scores "
            f"stay. `vlm-loom release pin {release_id}` makes it current again. If this workspace "
            "builds releases of its name, the next one is current.",
            changed=RELEASES,
        )


class CleanRelease(Action):
    """Copy an imported release without the items that people rejected."""

    COMMAND = "release clean"
    EXAMPLE = "release clean mmbench-dev-en"

    release: Release

    def perform(self, warehouse: "Warehouse", review_store: "ReviewStore") -> ActionResult:
        from assets.evaluate.item_decisions import write_cleaned
        from resources.publishing.releases import cards_of

        release_id = write_cleaned(warehouse, review_store, self.release)
        (card,) = cards_of(warehouse, [release_id])
        text = f"Release {release_id} has {card['n_items']} items; both releases are current."
        return _with_card(warehouse, release_id, text)


class CompareReleases(Action):
    """Write a page with the differences of two releases: items, settings, and scores on common
    items."""

    COMMAND = "release diff"
    EXAMPLE = "release diff mmdu-2d8ad9af1a mmdu"

    release: Release
    other: Annotated[str, CommandField(kind="release", positional=True)] = Field(
        "", description="The other release; without it, the release's parent."
    )

    def perform(
        self,
        warehouse: "Warehouse",
        image_store: "ImageStore",
        profile: "Profile",
        benchmarks: "Benchmarks",
    ) -> ActionResult:
        import dagster as dg

        from assets.evaluate.release_diff import compare_releases, resolve_releases, write_page
        from resources.files.home import home
        from resources.web.addresses import address

        comparison = compare_releases(
            warehouse, benchmarks, *resolve_releases(warehouse, self.release, self.other)
        )
        page = write_page(warehouse, image_store, profile, benchmarks, comparison)
        return ActionResult(
            f"{comparison.in_words}Texts, pictures, settings and scores: {home() / page}",
            {
                "page": dg.MetadataValue.url(address(page)),
                "added": len(comparison.difference.added),
                "removed": len(comparison.difference.removed),
                "changed": len(comparison.difference.changed),
                "the same": comparison.difference.n_same,
                "scores on common items": len(comparison.common),
            },
        )


class ImportRelease(Action):
    """Import a release from a benchmark's published file, or from the folder of a release."""

    COMMAND = "release import"
    EXAMPLE = "release import MMBench_DEV_EN.tsv --benchmark mmbench --split dev --language en"
    MAKES_WORKSPACE = True

    file: File = Field(description="The file of a benchmark, or the folder of a release.")
    benchmark: str = Field("", description="The benchmark of the file, such as mmdu.")
    images: File = Field("", description="The folder with the images (default: the file's folder).")
    name: str = Field(
        "", description="The name of the release (default: made of benchmark, split and language)."
    )
    split: str = Field("", description="Such as dev.")
    language: str = Field("", description="Such as en.")
    held_out: bool = Field(
        False,
        description="Its answers stay in this workspace: they score here, and are in no file or push.",
    )
    quoting: Quoting = "checked"
    skip_broken: bool = Field(
        False,
        description="Leave out items with an image that is missing or broken; the card counts them.",
    )

    def perform(self, warehouse: "Warehouse", image_store: "ImageStore") -> ActionResult:
        from assets.release.current_releases import pins
        from assets.release.published import (
            FOUND_BY_RULES,
            LEFT_OUT,
            ReleaseImportRequest,
            import_published,
        )
        from methods.release_card import BROKEN, card_of, facts, settings_of
        from methods.release_card import RELEASES as OF_RELEASES
        from resources.files.home import releases_path
        from resources.importing.published_files import PublishedFileError
        from resources.importing.release_import import import_release
        from resources.publishing.releases import cards_of, current_releases

        if not self.benchmark and Path(self.file).is_dir():
            if self.held_out:
                raise PublishedFileError(
                    f"{self.file} is the folder of a release, which stays as it is: --held-out is for "
                    "a benchmark's published file (--benchmark)."
                )
            release_id = import_release(Path(self.file), releases_path(), warehouse, image_store)
        else:
            pictures = Path(self.images) if self.images else None
            named, of_split, of_language = (
                text or None for text in (self.name, self.split, self.language)
            )
            wanted = ReleaseImportRequest(
                *(self.benchmark, Path(self.file), pictures, named, of_split, of_language),
                held_out=self.held_out,
                quoting=self.quoting,
                skip_broken=self.skip_broken,
            )
            release_id = import_published(warehouse, image_store, wanted)
        (card,) = cards_of(warehouse, [release_id])
        state = "current"
        if not card["is_current"]:
            other = current_releases(warehouse)[card["name"]]
            reason = "is pinned" if card["name"] in pins() else "stays current"
            state = (
                f"not current ({other} {reason}; vlm-loom release pin {release_id} changes this)"
            )
        settings = settings_of(card_of(card))
        left_out, rules = (
            settings.get(f"{OF_RELEASES}.{name}") for name in (LEFT_OUT, FOUND_BY_RULES)
        )
        text = (
            f"Release {release_id} is imported and {state}: {card['n_items']} items, {card['n_turns']} "
            f"turns, {card['n_images']} images{_unreferenced(warehouse, release_id)}."
        )
        text += f" Left out: {left_out}." if left_out else ""
        text += "".join(f" {name}: {n}." for name, n in facts(card_of(card)) if name == BROKEN)
        rules = " ".join((rules or "").split())
        text += f" Rules find in it, and change nothing: {rules}." if rules else ""
        return _with_card(warehouse, release_id, text)


class ExportRelease(Action):
    """Write a release in the format of another tool; vlm-loom release forms lists them."""

    COMMAND = "release export"
    EXAMPLE = "release export mmdu --as huggingface"

    release: Release
    form: Annotated[str, CommandField("as", kind="format")] = Field(
        "", description="The format, such as huggingface."
    )
    others: Annotated[str, CommandField("with")] = Field("", description=WITH)

    def perform(
        self, warehouse: "Warehouse", image_store: "ImageStore", say: Callable[[str], None]
    ) -> ActionResult:
        from assets.common.progress import UnitProgress
        from assets.release.exports import export

        progress = UnitProgress(lambda line, _: say(line), f"export as {self.form}", "items")
        done = export(
            warehouse, image_store, self.release, self.form, _names(self.others), progress.update
        )
        n_bytes = sum(file.n_bytes for file in done.files)
        return ActionResult(
            f"{done.release_id} is in {done.folder}: {len(done.files)} files of {n_bytes} bytes.",
            {"folder": str(done.folder), "files": len(done.files), "bytes": n_bytes},
        )


class PushRelease(Action):
    """Upload a release to the Hugging Face Hub as a dataset; a new repository is private."""

    COMMAND = "release push"
    EXAMPLE = "release push mmdu me/my-benchmark --dry-run"

    release: Release
    repository: str = Field(description="OWNER/NAME of the dataset on the hub.")
    others: Annotated[str, CommandField("with")] = Field("", description=WITH)
    dry: Annotated[bool, CommandField("dry-run")] = Field(
        False, description="Check everything, and send nothing."
    )

    def perform(
        self, warehouse: "Warehouse", image_store: "ImageStore", say: Callable[[str], None]
    ) -> ActionResult:
        from assets.common.progress import UnitProgress
        from assets.release.exports import publishable
        from resources.exports.push import push, require_repository

        require_repository(self.repository)
        progress = UnitProgress(lambda line, _: say(line), "export as huggingface", "items")
        folder, checked = publishable(
            warehouse, image_store, self.release, _names(self.others), progress.update
        )
        what = f"{folder.name} ({checked.n_files} files of {checked.n_bytes} bytes)"
        if self.dry:
            return ActionResult(f"{what} may be sent to {self.repository}; nothing was sent.")
        say(f"{what} is sent to {self.repository}")
        return ActionResult(f"{what} is in {self.repository}: {push(folder, self.repository)}")


def _names(text: str) -> list[str]:
    """Split a text with names at its commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _unreferenced(warehouse: "Warehouse", release_id: str) -> str:
    """Say how many turns of a release have no reference answer; empty if all have one."""
    where = {"release_id": release_id}
    references = warehouse.read("release/references_of", where).to_pylist()
    # A caption or focus points help a judge, but are not reference answers.
    judged = {
        (row["item_id"], row["turn"]) for row in references if row["kind"] in ("answer", "key")
    }
    turns = warehouse.read("release/turns_of", where).to_pylist()
    model_turns = {(row["item_id"], row["turn"]) for row in turns if row["given"] is None}
    missing = len(model_turns - judged)
    return f"; {missing} of {len(model_turns)} have no answer to be scored by" if missing else ""


def _with_card(warehouse: "Warehouse", release_id: str, text: str) -> ActionResult:
    """Return the result of an action that wrote a release; its id and card are metadata."""
    import dagster as dg

    from dagster_project.release_texts import release_page

    metadata = {
        "release": release_id,
        "card": dg.MetadataValue.md(release_page(warehouse, release_id)),
    }
    return ActionResult(text, metadata, RELEASES)
