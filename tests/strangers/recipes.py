"""Corpora of real pictures and texts that the project was not made on, from packages of Debian."""

import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from resources.files.home import REPO_ROOT
from tests.strangers.corpora import MOST_ROWS, Row, WordNet, some_of

# Packages are fetched once, into a folder that git ignores.

FOLDER = REPO_ROOT / ".strangers"
"""Where downloads, corpora and homes are kept."""


class OutOfReachError(Exception):
    """Material cannot be fetched here; the message is a sentence that says why."""


def package(name: str, *under: str) -> Path:
    """The folder with a package's files whose paths begin with one of `under` (`usr/share/…`).

    Raises OutOfReachError.
    """
    folder = FOLDER / "downloads" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as begun:
            whole = Path(begun, name)
            whole.mkdir()
            _unpack(name, under, whole)
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
    words = wordnet()
    pictures = [path for path in sorted(folder.rglob("*")) if path.suffix in (".png", ".jpg")]
    rows = (
        Row(
            title=(name := words_of(picture.stem)).capitalize(),
            caption=f"A drawing of {name}",
            text=words.about(name),
            picture=picture,
            attribution="Open Clip Art Library. Licence: CC0-1.0",
            categories=(words_of(picture.parent.name).capitalize(),),
        )
        for picture in pictures
    )
    return some_of(rows, most)


def words_of(stem: str) -> str:
    """A file's name in words: `cello_mo_01` is `cello mo 01`."""
    return " ".join(re.split(r"[_\W]+", stem)).strip()


RECIPES: dict[str, Callable[[], list[Row]]] = {
    "stamps": stamps,
    "drawings": drawings,
}
