"""Export folders: a release in one format with a manifest of its files, written once, then verified."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from methods.delimited import csv_line
from methods.errors import printable
from methods.exports.rows import CreditedImage, ExportedItem
from methods.json_text import from_json
from methods.naming import listed
from methods.spreadsheet_cells import mark_formula
from resources.exports.formats import ExportFormat
from resources.exports.source import CannotHoldError, ExportError, ExportSource
from resources.files.atomic import draft_folder
from resources.files.bounded import BoundedReadError, file_hash, read_file
from resources.publishing.release_folder import ExportedFile

MANIFEST, README, ATTRIBUTION = "manifest.json", "README.md", "attribution.csv"
EXPORT_AGAIN = "rename the folder, to have it written again"
AGAIN = "get the folder again, or rename it and export again"
MADE_HERE = "give a folder that vlm-loom release export made"


class FolderVerification(NamedTuple):
    """The result of verifying a folder; `others` are files that are not in its manifest."""

    manifest: Mapping[str, Any]
    n_files: int
    n_bytes: int
    others: list[str]


def write_folder(target: Path, form: ExportFormat, source: ExportSource) -> list[ExportedFile]:
    """Write a release in one format as a folder, completely or not at all.

    An existing folder is not changed; its files are verified.

    Args:
        target: The folder.
        form: The format to write.
        source: The release.

    Raises:
        ExportError: The folder exists, and was changed or was exported with other settings.
    """
    made_of = {
        "release_id": source.release_id,
        "form": form.name,
        "with": [each.release_id for each in source.beside],
        "licences_left_out": list(source.left_out),
        "stated_licence": source.stated,
        # Folders of earlier versions have no such entry, as their dialogues are not stacked.
        **({"stacked_to": source.budget._asdict()} if source.budget and form.stacks else {}),
    }
    if target.exists():
        manifest = checked_files(target, EXPORT_AGAIN).manifest
        before = {name: manifest.get(name) for name in (*made_of, "stacked_to")}
        if before != {"stacked_to": None, **made_of}:
            named = "; ".join(f"{name}: {value or 'none'}" for name, value in before.items())
            raise ExportError(f"{target} was made otherwise ({named}): {EXPORT_AGAIN}.")
        return listed_files(target)
    with draft_folder(target, "export") as draft:
        with _attributing(draft / ATTRIBUTION, source):
            form.write(source, draft)
        if not source.totals.items:
            gone = ", ".join(f"{why} {n}" for why, n in sorted(source.totals.left_out.items()))
            raise CannotHoldError(
                f"{source.release_id} has no items to write as {form.name}"
                + (f"; left out: {gone}." if gone else ".")
            )
        files = {
            path.relative_to(draft).as_posix(): _known_by(path)
            for path in sorted(draft.rglob("*"))
            if path.is_file()
        }
        manifest = {**made_of, "files": files}
        _write_list(draft, manifest)
        draft.chmod(0o755)
    return listed_files(target)


def checked_files(folder: Path, todo: str = "") -> FolderVerification:
    """Check every file of a folder against its manifest, by size and SHA-256.

    Args:
        folder: The folder.
        todo: Advice on a wrong file, for the message; by default to get the
            folder again from its source.

    Returns:
        The manifest, counts, and files that are not in the manifest.

    Raises:
        ExportError: A file differs from the manifest.
    """
    manifest, files = _listed(folder, todo)
    for name, (sha256, n_bytes) in files.items():
        path = folder / name
        wrong = None
        if not path.is_file():
            wrong = "is missing"
        elif path.stat().st_size != n_bytes:
            wrong = f"has {path.stat().st_size} bytes instead of {n_bytes}"
        elif _known_by(path)["sha256"] != sha256:
            wrong = "has other content than was written"
        if wrong:
            raise ExportError(f"{name} of {folder} {wrong}: {todo or AGAIN}.")
    existing_files = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    }
    return FolderVerification(
        manifest,
        len(files),
        sum(size for _, size in files.values()),
        sorted(existing_files - {*files, MANIFEST}),
    )


@contextmanager
def with_page(folder: Path, page: str) -> Iterator[Path]:
    """Make a temporary copy of a folder with another `README.md`.

    The copy has links to the files of the folder's manifest, and no other files.

    Args:
        folder: The folder.
        page: The text of its `README.md`.

    Yields:
        The copy. Its manifest has the hash of the new `README.md`.
    """
    with TemporaryDirectory() as above:
        copy = Path(above) / folder.name
        manifest, files = _listed(folder)
        for name in files.keys() - {README}:
            linked = copy / name
            linked.parent.mkdir(parents=True, exist_ok=True)
            linked.symlink_to((folder / name).resolve())
        (copy / README).write_text(page, encoding="utf-8")
        manifest["files"][README] = _known_by(copy / README)
        _write_list(copy, manifest)
        yield copy


def verification_message(folder: Path, checked: FolderVerification) -> str:
    """Describe a folder that was verified.

    Args:
        folder: The folder.
        checked: The result of `checked_files`.
    """
    manifest = checked.manifest
    others = f"; not of it: {listed(checked.others)}" if checked.others else ""
    return printable(
        f"{folder} is {manifest.get('release_id')} as {manifest.get('form')}, as it was written: "
        f"{checked.n_files} files of {checked.n_bytes} bytes{others}."
    )


@contextmanager
def _attributing(path: Path, source: ExportSource) -> Iterator[None]:
    """Write the attribution of each image while the items are exported."""
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(csv_line(("image", *CreditedImage._fields[1:])))
        image_ids: set[str] = set()

        def attribute(items: list[ExportedItem]) -> None:
            for item in items:
                for picture in item.pictures:
                    if picture.image_id not in image_ids:
                        image_ids.add(picture.image_id)
                        file.write(csv_line(map(mark_formula, picture)))

        for exported in source.all():
            exported.on_batch = attribute
        yield


def _write_list(folder: Path, manifest: Mapping[str, Any]) -> None:
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def _known_by(path: Path) -> dict[str, Any]:
    return {"sha256": file_hash(path), "n_bytes": path.stat().st_size}


def listed_files(folder: Path) -> list[ExportedFile]:
    """List the files of a folder's manifest, with paths relative to the folder of all releases."""
    _, files = _listed(folder)
    return [ExportedFile(f"{folder.name}/{name}", *known) for name, known in files.items()]


def _listed(folder: Path, todo: str = "") -> tuple[dict[str, Any], dict[str, tuple[str, int]]]:
    """Read a folder's manifest, and the SHA-256 and size of each file by name. Raises ExportError."""
    try:
        manifest = from_json(read_file(folder / MANIFEST), most=None)
        files = {
            name: (str(entry["sha256"]), int(entry["n_bytes"]))
            for name, entry in manifest["files"].items()
        }
    except (FileNotFoundError, NotADirectoryError):
        if not folder.exists():
            raise ExportError(f"There is no folder {folder}.") from None
        raise ExportError(f"{folder} has no {MANIFEST}: {todo or MADE_HERE}.") from None
    except BoundedReadError as error:
        raise ExportError(
            f"{folder / MANIFEST} cannot be read ({error}): {todo or AGAIN}."
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ExportError(f"{folder / MANIFEST} is damaged: {todo or AGAIN}.") from None
    if any(Path(name).is_absolute() or ".." in Path(name).parts for name in files):
        raise ExportError(f"{folder / MANIFEST} names files outside of it: {todo or AGAIN}.")
    return manifest, files
