"""Exports: releases as folders of files, such as Hugging Face datasets and training formats."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import dagster as dg
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import Field, field_validator

from assets.common.progress import StepProgress
from assets.common.settings import AssetConfig, current_settings, schema_of
from assets.common.tables import report, table_asset, write_rows
from assets.release.current_releases import ReleaseError
from assets.release.releases import NAMES, releases
from methods.exports.stacking import TokenBudget
from methods.licences.combination import SETS
from methods.licences.terms import Term
from methods.naming import listed, nearest
from resources.exports.folder import (
    EXPORT_AGAIN,
    MANIFEST,
    FolderVerification,
    checked_files,
    listed_files,
    write_folder,
)
from resources.exports.formats import ExportFormat, form_named
from resources.exports.push import require_publishable
from resources.exports.source import CannotHoldError, ExportError, ExportSource, OnProgress
from resources.files.home import relative_to_home, releases_path
from resources.files.object_storage import shared_files
from resources.images.store import FETCH_ANEW, ImageNotStored, ImageStore
from resources.publishing.release_folder import ChangedReleaseError, ExportedFile, write_release
from resources.publishing.releases import cards_of, release_meant, rows_of_release
from resources.warehouse import Warehouse
from resources.web.addresses import address


class ExportsSettings(AssetConfig):
    """Settings of exports: formats, licences and size of files."""

    mark_formulas: bool = Field(
        True,
        description="Whether cells of TSV and CSV files that a spreadsheet would compute (=, +, -, @) "
        "get an apostrophe, and a column marked_cells that imports undo it by. False: cells are exact.",
    )
    forms: list[str] = Field(
        [],
        description="Forms in which every current release is exported always, beside its own folder, "
        "such as [huggingface]. vlm-loom release forms lists them.",
    )
    licences_left_out: dict[str, list[Annotated[Any, schema_of(Term)]]] = Field(
        {},
        description="Terms of licences for which a form leaves an item out, by name of the "
        "release, for example {mmdu: [ND, NC]}. Its rows in the workspace stay.",
    )
    licences: dict[str, str] = Field(
        {},
        description="Licence of a release's texts, and of its pictures of which none is known, by name "
        "of the release, for example {mmdu-imported: CC-BY-NC-4.0}.",
    )

    @field_validator("licences")
    @classmethod
    def _known_licences(cls, licences: dict[str, str]) -> dict[str, str]:
        return {name: _known_licence(licence) for name, licence in licences.items()}

    shard_mb: int = Field(
        500,
        ge=1,
        description="Size in million bytes after which a file with pictures inside ends and the next "
        "one begins.",
    )
    stack_tokens: int | None = Field(
        None,
        ge=1,
        description="Tokens that a record of a training form holds at most: as many whole dialogues as "
        "fit stand in one, with `<image-i>` counted on. null: each dialogue is a record.",
    )
    stack_tokenizer: str = Field(
        "",
        description="Path of a tokenizer.json, such as that of the model to be trained, which counts "
        "these tokens. Without one there is a token for every three bytes of UTF-8.",
    )
    picture_tokens: int = Field(
        576, ge=0, description="Tokens that a picture counts for in stack_tokens (LLaVA-1.5: 576)."
    )


def _known_licence(licence: str) -> str:
    """Return the licence in SPDX spelling. Raises ValueError for an unknown name."""
    try:
        return canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        nearest_names = nearest(licence, (name for _, name in SETS))
        raise ValueError(f"{licence!r} is not an SPDX licence; {nearest_names}") from None


class Export(NamedTuple):
    """The folder of a release in one format, and its files."""

    release_id: str
    folder: Path
    files: Sequence[ExportedFile]


@table_asset("release.exports", kinds={"json"}, deps=[releases])
def exports(
    context: dg.AssetExecutionContext,
    config: ExportsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Releases as folders: the benchmark's published format (MMDU: JSON and TSV), images, attribution,
    dataset card, rows.

    In addition, each current release is written in the formats for other tools that the settings name.
    If a format cannot hold a release, it is skipped, and the metadata say so.
    """
    _require_released(warehouse, config)
    shared = shared_files()
    if shared:
        # Lists releases of other machines, too, and the formats that commands exported there.
        shared.fetch(relative_to_home(releases_path()), releases_path())
    rows = []
    left_out: list[str] = []
    failed: list[str] = []
    chosen = [form_named(name, config.shard_mb) for name in config.forms]
    for release in warehouse.read("release/all").to_pylist():
        is_current, release_id = release.pop("is_current"), release["release_id"]
        # Existing folders of earlier releases get files that an older version did not write.
        if is_current or (releases_path() / release_id).exists():
            tables = rows_of_release(warehouse, release_id)
            before = warehouse.select("release.exports", "path", "sha256", release_id=release_id)
            try:
                files = write_release(
                    releases_path(),
                    release,
                    tables,
                    image_store,
                    mark_formulas=config.mark_formulas,
                    recorded={row["path"]: row["sha256"] for row in before.to_pylist()},
                )
            except ChangedReleaseError as error:
                failed.append(str(error))
                continue
            except ImageNotStored as error:
                raise ReleaseError(_without_picture(release, tables["images"], error)) from error
            for form in chosen if is_current else ():
                progress = StepProgress(context, f"items of {release_id} as {form.name}")
                try:
                    source = _source(warehouse, image_store, release, config, progress.update)
                    _write(warehouse, source, form)
                except CannotHoldError as error:
                    left_out.append(str(error))
                except ExportError as error:
                    failed.append(str(error))
            # Lists formats that a command exported, too.
            for manifest in sorted(releases_path().glob(f"{release_id}.*/{MANIFEST}")):
                try:
                    checked_files(manifest.parent, EXPORT_AGAIN)
                except ExportError as error:
                    failed.append(str(error))
                else:
                    files += listed_files(manifest.parent)
            rows += [{"release_id": release_id, **file._asdict()} for file in files]
    if shared:
        shared.publish(relative_to_home(releases_path()), releases_path())
    exported = sorted({row["release_id"] for row in rows})
    table = write_rows(warehouse, {"release.exports": rows}, {"release_id": exported})
    cards = {
        release_id: dg.MetadataValue.url(address(f"{releases_path().name}/{release_id}/card.json"))
        for release_id in exported
    }
    if failed:
        raise ExportError(" ".join(dict.fromkeys(failed)))
    not_held = {"forms that cannot hold a release": " ".join(left_out)} if left_out else {}
    return report(table, {**cards, **not_held})


def export(
    warehouse: Warehouse,
    image_store: ImageStore,
    release: str,
    form: str,
    others: Sequence[str],
    progress: OnProgress,
) -> Export:
    """Export a release in a format, current or not. A folder that exists stays as it is.

    Args:
        warehouse: The tables.
        image_store: The images.
        release: The id or name of the release, or the beginning of its id.
        form: The format.
        others: Further releases in the same folder.
        progress: Shows the progress.

    Returns:
        The folder and its files.

    Raises:
        UserError: The release cannot be exported; nothing is written.
    """
    settings = _settings()
    source = _together(warehouse, image_store, [release, *others], settings, progress)
    return _write(warehouse, source, form_named(form, settings.shard_mb))


def publishable(
    warehouse: Warehouse,
    image_store: ImageStore,
    release: str,
    others: Sequence[str],
    progress: OnProgress,
) -> tuple[Path, FolderVerification]:
    """Export a release as a Hugging Face dataset unless it exists, and check that it may be published.

    Args:
        warehouse: The tables.
        image_store: The images.
        release: The id or name of the release, or the beginning of its id.
        others: Further releases in the same folder.
        progress: Shows the progress.

    Returns:
        The folder, and the result of checking its files.

    Raises:
        UserError: The release may not be published.
    """
    settings = _settings()
    source = _together(warehouse, image_store, [release, *others], settings, progress)
    folder = _write(warehouse, source, form_named("huggingface", settings.shard_mb)).folder
    return folder, require_publishable(source, folder)


def _together(
    warehouse: Warehouse,
    image_store: ImageStore,
    meant: Sequence[str],
    settings: ExportsSettings,
    progress: OnProgress,
) -> ExportSource:
    """Return the export source of the first release, with the other releases in the same folder."""
    _require_released(warehouse, settings)
    first, *others = (
        _source(warehouse, image_store, _row(warehouse, release), settings, progress)
        for release in meant
    )
    first.stand_beside(others)
    return first


def _require_released(warehouse: Warehouse, settings: ExportsSettings) -> None:
    """Raise ExportError if a setting names a release that neither exists nor is ever built."""
    names = {*NAMES, *(row["name"] for row in warehouse.read("release/all").to_pylist())}
    for setting in ("licences", "licences_left_out"):
        for name in sorted(set(getattr(settings, setting)) - names):
            raise ExportError(
                f"{setting} of release.exports names {name!r}, which is the name of no release; "
                f"{nearest(name, names)}."
            )


def _settings() -> ExportsSettings:
    settings = current_settings("release.exports").settings
    assert isinstance(settings, ExportsSettings)
    return settings


def _row(warehouse: Warehouse, release: str) -> Mapping[str, Any]:
    """Return the row of `release.releases` for an id or name that the user gave."""
    (row,) = cards_of(warehouse, [release_meant(warehouse, release)])
    return {name: value for name, value in row.items() if name != "is_current"}


def _source(
    warehouse: Warehouse,
    image_store: ImageStore,
    release: Mapping[str, Any],
    settings: ExportsSettings,
    progress: OnProgress,
) -> ExportSource:
    return ExportSource(
        warehouse,
        image_store,
        release,
        left_out=settings.licences_left_out.get(release["name"], ()),
        stated=settings.licences.get(release["name"], ""),
        budget=TokenBudget(settings.stack_tokens, settings.picture_tokens, settings.stack_tokenizer)
        if settings.stack_tokens
        else None,
        progress=progress,
    )


def _write(warehouse: Warehouse, source: ExportSource, form: ExportFormat) -> Export:
    folder = releases_path() / f"{source.release_id}.{form.name}"
    try:
        return Export(source.release_id, folder, write_folder(folder, form, source))
    except ImageNotStored as error:
        images = warehouse.select(
            "release.images", "item_id", "image_id", release_id=source.release_id
        ).to_pylist()
        raise ReleaseError(_without_picture(source.card, images, error)) from error


def _without_picture(
    release: Mapping[str, Any], images: Sequence[Mapping[str, Any]], error: ImageNotStored
) -> str:
    """Return a message on an image that cannot be read: its release and items, and what to do."""
    items = sorted({row["item_id"] for row in images if row["image_id"] == error.image_id})
    todo = (
        f"import {release['name']} again (vlm-loom release import)"
        if release.get("origin") == "imported"
        else FETCH_ANEW
    )
    return (
        f"The folder of release {release['release_id']} was not written, as the file of picture "
        f"{error.image_id} of {listed(items)} is missing or damaged: {todo}."
    )
