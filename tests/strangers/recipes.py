"""Corpora of real pictures and texts that the project was not made on, from packages of Debian."""

import gzip
import re
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import yaml

from resources.files.home import REPO_ROOT
from tests.strangers.corpora import MOST_ROWS, Row, WordNet, some_of

# Packages are fetched once, into a folder that git ignores.

FOLDER = REPO_ROOT / ".strangers"
"""Where downloads, corpora and homes are kept."""
ARCHIVE = "http://deb.debian.org/debian/dists/bookworm/main/dep11"
"""The descriptions of applications, in all languages, and their icons."""


class OutOfReachError(Exception):
    """Material cannot be fetched here; the message is a sentence that says why."""


def package(name: str, *under: str) -> Path:
    """The folder with a package's files whose paths begin with one of `under` (`usr/share/…`).

    Raises OutOfReachError.
    """
    return _kept(name, lambda folder: _unpack(name, under, folder))


def archive_file(name: str) -> Path:
    """A file of the archive's folder of applications, or the folder that it unpacks to if its name
    ends in `.tar.gz`. Raises OutOfReachError.
    """
    return _kept(name, lambda folder: _download(name, folder)) / name


def _kept(name: str, fetch: Callable[[Path], None]) -> Path:
    """The folder of this name among the downloads, filled by `fetch` unless it is there."""
    folder = FOLDER / "downloads" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as begun:
            whole = Path(begun, name)
            whole.mkdir()
            fetch(whole)
            whole.rename(folder)
    return folder


def _unpack(name: str, under: tuple[str, ...], folder: Path) -> None:
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise OutOfReachError(f"{program} is not here, and the package {name} is Debian's.")
    with tempfile.TemporaryDirectory(dir=folder.parent) as begun:
        fetched = subprocess.run(
            ["apt-get", "download", name], cwd=begun, capture_output=True, text=True
        )
        files = list(Path(begun).glob("*.deb"))
        if fetched.returncode or not files:
            said = (fetched.stderr.strip() or "no file came").splitlines()[-1]
            raise OutOfReachError(f"The package {name} cannot be downloaded: {said}")
        with (
            subprocess.Popen(
                ["dpkg-deb", "--fsys-tarfile", files[0]], stdout=subprocess.PIPE
            ) as unpacking,
            tarfile.open(mode="r|", fileobj=unpacking.stdout) as members,
        ):
            for member in members:
                if member.name.removeprefix("./").startswith(under):
                    members.extract(member, folder, filter="data")


def _download(name: str, folder: Path) -> None:
    try:
        with (
            httpx2.stream("GET", f"{ARCHIVE}/{name}", timeout=60, follow_redirects=True) as reply,
            (folder / name).open("wb") as file,
        ):
            reply.raise_for_status()
            for part in reply.iter_bytes():
                file.write(part)
        if name.endswith(".tar.gz"):
            packed = (folder / name).rename(folder / "packed")
            with tarfile.open(packed) as members:
                members.extractall(folder / name, filter="data")
            packed.unlink()
    except httpx2.HTTPError as error:
        raise OutOfReachError(f"{ARCHIVE}/{name} cannot be downloaded: {error}.") from None


SCRIPTS = {
    code: code.partition("_")[0]
    for code in ("ja", "zh_CN", "ru", "el", "ko", "he", "ar", "hi", "th")
}
"""Languages that are not written in Latin letters: their codes in the archive, and in WIT."""


def wordnet() -> WordNet:
    """WordNet's nouns. Raises OutOfReachError, as all that follow."""
    folder = package("wordnet-base", "usr/share/wordnet") / "usr/share/wordnet"
    return WordNet((folder / "index.noun").read_text(), (folder / "data.noun").read_bytes())


# --- Stamps --------------------------------------------------------------------------------------


def stamps() -> list[Row]:
    """Cut-out photographs and drawings for children, some of them SVG; captions of one sentence."""
    root = package("tuxpaint-stamps-default", "usr/share/tuxpaint/stamps")
    folder = root / "usr/share/tuxpaint/stamps"
    words = wordnet()
    return some_of(
        Row(
            title=picture.stem.replace("_", " ").capitalize(),
            caption=caption,
            text=words.about(caption),
            picture=picture,
            attribution="Tux Paint stamps. Licence: GPL-2.0-or-later",
            categories=tuple(part.capitalize() for part in picture.relative_to(folder).parts[:-1]),
        )
        for said in sorted(folder.rglob("*.txt"))
        if (picture := _first_there(said.with_suffix(".png"), said.with_suffix(".svg")))
        and (caption := first_line(said.read_text(encoding="utf-8", errors="replace")))
    )


def first_line(text: str) -> str:
    """The English caption of a stamp: what stands before the translations."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _first_there(*paths: Path) -> Path | None:
    return next((path for path in paths if path.exists()), None)


# --- Drawings ------------------------------------------------------------------------------------


def drawings(most: int = MOST_ROWS) -> list[Row]:
    """Drawings of all kinds by many authors; of a larger corpus the smaller ones are a part."""
    root = package("openclipart-png", "usr/share/openclipart/png")
    folder = root / "usr/share/openclipart/png"
    return _by_file_name(folder, "Open Clip Art Library. Licence: CC0-1.0", most)


def _by_file_name(folder: Path, attribution: str, most: int = MOST_ROWS) -> list[Row]:
    words = wordnet()
    pictures = [path for path in sorted(folder.rglob("*")) if path.suffix in (".png", ".jpg")]
    rows = (
        Row(
            title=(name := words_of(picture.stem)).capitalize(),
            caption=f"A drawing of {name}",
            text=words.about(name),
            picture=picture,
            attribution=attribution,
            categories=(words_of(picture.parent.name).capitalize(),),
        )
        for picture in pictures
    )
    return some_of(rows, most)


def words_of(stem: str) -> str:
    """A file's name in words: `cello_mo_01` is `cello mo 01`."""
    return " ".join(re.split(r"[_\W]+", stem)).strip()


# --- Other scripts than Latin --------------------------------------------------------------------


def scripts() -> list[Row]:
    """Icons of applications, described in Japanese, Chinese, Russian, Greek, Korean, Arabic, …"""
    icons = archive_file("icons-128x128.tar.gz")
    described = gzip.decompress(archive_file("Components-amd64.yml.gz").read_bytes()).decode()
    rows: list[Row] = []
    for document in described.split("\n---\n"):
        if "\nType: desktop-application\n" in f"\n{document}" and len(rows) < MOST_ROWS:
            component = yaml.load(document, yaml.CSafeLoader)
            if (icon := icon_of(component, icons)) and (row := described_row(component, icon)):
                rows.append(row)
    return rows


def icon_of(component: dict[str, Any], folder: Path) -> Path | None:
    """The icon of an application in the folder of those of 128 pixels, if it has one."""
    cached = component.get("Icon", {}).get("cached", [])
    paths = (folder / each["name"] for each in cached if each.get("width") == 128)
    return next((path for path in paths if path.exists()), None)


def described_row(component: dict[str, Any], icon: Path) -> Row | None:
    """A row in one of the languages that describe the application; None where none does."""
    described = component.get("Description", {})
    there = [code for code in SCRIPTS if code in described and code in component["Summary"]]
    if not there:
        return None
    code = there[zlib.crc32(component["ID"].encode()) % len(there)]
    names = component["Name"]
    return Row(
        title=names.get(code) or names["C"],
        caption=component["Summary"][code],
        text=re.sub(r"<[^>]+>", " ", described[code]),
        picture=icon,
        attribution=f"{component.get('DeveloperName', {}).get('C', 'The authors')}. "
        f"Licence: {component.get('ProjectLicense', 'unknown')}",
        categories=tuple(component.get("Categories", ())),
        language=SCRIPTS[code],
    )


RECIPES: dict[str, Callable[[], list[Row]]] = {
    "stamps": stamps,
    "drawings": drawings,
    "scripts": scripts,
}
