"""The sample browser of a release: an HTML page to search its items, and its data in pieces.

The name of the data folder is the fingerprint of the data, so an unchanged release is not written
again.
"""

import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from methods.batched import batched
from methods.json_text import from_json
from resources.files.atomic import draft_folder, write_atomically
from resources.files.home import reports_path
from resources.reports.page import TEMPLATES, environment
from resources.site.pictures import PICTURES, THUMBS
from resources.site.pieces import ItemPieces, WordIndexPieces, compact_json, write_piece

HEADS = 1_000
"""Each file of list entries ("heads") has at most this many items."""
STATIC = "static"
_SIZES = "sizes.json"
"""The file with the size in bytes of each data file; it is written last."""
_OWN = Path(__file__).parent
_TEMPLATES = environment(_OWN / "templates")


def site_path() -> Path:
    """Return the folder of all sample browsers."""
    return reports_path() / "items"


def page_of(release_id: str) -> Path:
    """Return the path of a release's HTML page."""
    return site_path() / f"{release_id}.html"


@dataclass
class SampleBrowserItem:
    """One item: its JSON, its list entry and its search texts.

    Attributes:
        head: The entry of the item in lists.
        texts: Search texts of the item itself.
        answer_texts: Search texts that models wrote.
        requests: The requests that were sent to models.
    """

    item: Mapping[str, Any]
    head: Sequence[Any]
    texts: Sequence[str | None]
    answer_texts: Sequence[str | None]
    requests: Mapping[str, Any]


@dataclass
class SampleBrowserContents:
    """The data of a release's sample browser.

    Attributes:
        facts: Facts of the release.
        columns: (description, value for each item) of each column to filter and sort by.
        prompts: The texts of prompts by version.
        images: The ids of all images.
    """

    facts: Mapping[str, Any]
    columns: Iterable[tuple[Mapping[str, Any], Sequence[Any]]]
    items: Iterable[SampleBrowserItem]
    prompts: Mapping[str, str]
    images: Sequence[Mapping[str, Any]]


def is_written(release_id: str, fingerprint: str) -> bool:
    """Check whether the data of a release are complete: each file has the size that was written.

    Args:
        release_id: The release.
        fingerprint: The fingerprint of the data.
    """
    folder = site_path() / release_id / fingerprint
    try:
        sizes = from_json((folder / _SIZES).read_text(encoding="utf-8"))
        return sizes == _sizes_of(folder)
    except (OSError, ValueError):
        return False


def write_data(release_id: str, fingerprint: str, contents: SampleBrowserContents) -> None:
    """Write the data of a release, whole or not at all.

    Args:
        release_id: The release.
        fingerprint: The fingerprint of the data.
        contents: The data.
    """
    # An existing folder is incomplete.
    shutil.rmtree(site_path() / release_id / fingerprint, ignore_errors=True)
    with draft_folder(site_path() / release_id / fingerprint, "site") as draft:
        write_piece(draft, "prompts", contents.prompts)
        write_piece(draft, "images", contents.images)
        described = []
        for place, (about, values) in enumerate(contents.columns):
            write_piece(draft, f"columns/{place}", values)
            described.append({**about, "file": place})
        items, requests = ItemPieces(draft), ItemPieces(draft, "requests")
        words, answer_words, ids = WordIndexPieces(), WordIndexPieces("answer_words"), []
        heads: list[Sequence[Any]] = []
        for number, entry in enumerate(contents.items):
            items.add(entry.item)
            requests.add(entry.requests)
            words.add(number, entry.texts)
            answer_words.add(number, entry.answer_texts)
            ids.append(entry.item["id"])
            heads.append(entry.head)
        items.close()
        requests.close()
        for place, batch in enumerate(batched(heads, HEADS)):
            write_piece(draft, f"heads/{place}", batch)
        facts = {
            **contents.facts,
            "ids": ids,
            "pieces": items.firsts,
            "requests": requests.firsts,
            "heads": HEADS,
            "words": words.write(draft),
            "answer_words": answer_words.write(draft),
            "columns": described,
        }
        write_piece(draft, "release", facts)
        (draft / _SIZES).write_text(compact_json(_sizes_of(draft)), encoding="utf-8")
        draft.chmod(0o755)


def _sizes_of(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*.js")
    }


def write_page(release: Mapping[str, Any], fingerprint: str) -> Path:
    """Write the page of a release for the data of a fingerprint, and remove older data.

    Args:
        release: The values of the release for the template.
        fingerprint: The fingerprint of the data.
    """
    release_id = release["release_id"]
    page = page_of(release_id)
    html = _TEMPLATES.get_template("items.html").render(
        release=release, folder=f"{release_id}/{fingerprint}"
    )
    write_atomically(page, html.encode())
    for folder in (site_path() / release_id).iterdir():
        if folder.is_dir() and folder.name != fingerprint and not folder.name.startswith("."):
            shutil.rmtree(folder, ignore_errors=True)
    return page


def write_program() -> None:
    """Write the scripts and style sheets that all pages load, if they changed."""
    for source in (TEMPLATES / "base.css", *sorted((_OWN / STATIC).iterdir())):
        target, content = site_path() / STATIC / source.name, source.read_bytes()
        if not target.is_file() or target.read_bytes() != content:
            write_atomically(target, content)


def keep_releases(release_ids: Collection[str]) -> None:
    """Remove the pages and data of all other releases."""
    names = {STATIC, THUMBS, PICTURES, *release_ids}
    for path in site_path().iterdir():
        name = path.stem if path.suffix == ".html" else path.name
        if name in names or name.startswith("."):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
