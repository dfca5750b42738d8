"""Corpora of real pictures and texts that the project was not made on, from packages of Debian.

`RECIPES` has them all; what reads a file's text takes the text, so that it can be tested without the
package.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from tests.strangers.corpora import MOST_ROWS, Row, WordNet, some_of
from tests.strangers.packages import archive_file, package

SCRIPTS = {
    code: code.partition("_")[0]
    for code in ("ja", "zh_CN", "ru", "el", "ko", "he", "ar", "hi", "th")
}
"""Languages that are not written in Latin letters: their codes in the archive, and in WIT."""


def wordnet() -> WordNet:
    """WordNet's nouns. Raises OutOfReachError, as all that follow."""
    folder = package("wordnet-base", "usr/share/wordnet") / "usr/share/wordnet"
    return WordNet((folder / "index.noun").read_text(), (folder / "data.noun").read_bytes())


# --- Dark skies ----------------------------------------------------------------------------------

_OBJECT = re.compile(r"(m|n|ngc|ic|i|abell|barnard|vdb|sh2)[-_]?(\d+)")
_CATALOGUES = {"m": "M", "n": "NGC", "ngc": "NGC", "ic": "IC", "i": "IC", "sh2": "SH2"}


def sky() -> list[Row]:
    """Photographs of nebulae, clusters and galaxies, with their place and width in the sky."""
    root = package("stellarium-data", "usr/share/stellarium/nebulae")
    folder = root / "usr/share/stellarium/nebulae/default"
    names = proper_names((folder / "names.dat").read_text(encoding="utf-8"))
    tiles = tiles_of((folder / "textures.json").read_text(encoding="utf-8"))
    return some_of(
        row
        for tile in tiles
        if (row := sky_row(tile, names, folder)) is not None and row.picture.exists()
    )


def tiles_of(text: str) -> list[dict[str, Any]]:
    """The pictures of Stellarium's `textures.json`, whose numbers may begin with a point."""
    tiles: list[dict[str, Any]] = json.loads(re.sub(r"(?<=[\[\s,:-])\.(?=\d)", "0.", text))[
        "subTiles"
    ]
    return tiles


def proper_names(text: str) -> dict[str, str]:
    """Names of objects by their number in a catalogue, from Stellarium's `names.dat`."""
    found: dict[str, str] = {}
    for catalogue, number, name in re.findall(r'^(\w+)\s+(\S+)\s+_\("(.+?)"\)', text, re.MULTILINE):
        found.setdefault(f"{catalogue.upper()} {number}", name)
    return found


def sky_row(tile: dict[str, Any], names: dict[str, str], folder: Path) -> Row | None:
    """The row of one of Stellarium's pictures; None of a part without a place of its own."""
    if "worldCoords" not in tile or "imageUrl" not in tile:
        return None
    stem = tile["imageUrl"].rpartition(".")[0].lower()
    known = _OBJECT.match(stem)
    catalogue = known and _CATALOGUES.get(known[1], known[1].capitalize())
    title = f"{catalogue} {known[2]}" if known else stem.replace("_", " ").replace("-", " ").title()
    corners = tile["worldCoords"][0]
    right_ascension = sum(corner[0] for corner in corners) / len(corners) % 360
    declination = sum(corner[1] for corner in corners) / len(corners)
    height = max(corner[1] for corner in corners) - min(corner[1] for corner in corners)
    name = names.get(title.upper(), "")
    credits = {key.lower(): value for key, value in tile.get("imageCredits", {}).items()}
    called = f"{title}, also called {name}," if name else title
    half = "northern" if declination > 0 else "southern"
    return Row(
        title=title,
        caption=f"{title} ({name})" if name else title,
        text=f"{called} stands at a right ascension of {right_ascension:.2f} degrees and a "
        f"declination of {declination:.2f} degrees, in the {half} sky. The picture is {height:.2f} "
        f"degrees high. Its surface brightness is {tile.get('maxBrightness', 'not known')}.",
        picture=folder / tile["imageUrl"],
        attribution=" ".join(
            filter(None, (f"Credit: {credits.get('short', 'unknown')}.", credits.get("infourl")))
        ),
        categories=(
            f"Objects of the {half} sky",
            f"{catalogue} objects" if catalogue else "Named objects of the sky",
        ),
    )


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


# --- Flags and maps ------------------------------------------------------------------------------


def flags() -> list[Row]:
    """Flags of countries and regions, and the maps they are on, in few colours."""
    root = package("kgeography-data", "usr/share/kgeography")
    folder = root / "usr/share/kgeography"
    rows: dict[str, Row] = {}
    for file in sorted(folder.glob("*.kgm")):
        for row in rows_of_a_map(file.read_text(encoding="utf-8"), folder):
            if row.picture.exists():
                rows.setdefault(row.title, row)
    return some_of(rows.values())


def rows_of_a_map(text: str, folder: Path) -> Iterator[Row]:
    """A row for one of KGeography's maps, and one for each of its divisions that has a flag."""
    found = ElementTree.fromstring(text)
    name, kind = found.findtext("name", ""), found.findtext("divisionsName", "Divisions")
    shown = [each for each in found.findall("division") if each.findtext("ignore") is None]
    names = [each.findtext("name", "") for each in shown]
    attribution = f"{found.findtext('author') or 'KGeography'}. Licence: GPL-2.0-or-later"
    yield Row(
        title=f"Map of {name}",
        caption=f"{kind} of {name}",
        text=f"The map of {name} shows {len(names)} {kind.lower()}: {', '.join(names)}.",
        picture=folder / found.findtext("mapFile", ""),
        attribution=attribution,
        categories=("Maps", name),
    )
    for each in shown:
        if flag := each.findtext("flag"):
            of, capital = each.findtext("name", ""), each.findtext("capital")
            seat = f" Its capital is {capital}." if capital else ""
            yield Row(
                title=of,
                caption=f"The flag of {of}",
                text=f"{of} is one of the {kind.lower()} of {name}.{seat}",
                picture=folder / "flags" / flag,
                attribution=attribution,
                categories=(f"{kind} of {name}",),
            )


# --- Drawings ------------------------------------------------------------------------------------


def flashcards() -> list[Row]:
    """Drawings of one style and size, one word each; JPEG."""
    root = package("pysiogame", "usr/share/games/pysiogame/res/images/art4apps")
    folder = root / "usr/share/games/pysiogame/res/images/art4apps"
    return _by_file_name(folder, "Art4apps. Licence: CC-BY-SA-3.0")


def instruments() -> list[Row]:
    """Drawings of musical instruments and tools by many authors, some twice under two names."""
    root = package("openclipart-png", "usr/share/openclipart/png")
    folder = root / "usr/share/openclipart/png"
    return some_of(
        row
        for part in ("recreation/music", "tools")
        for row in _by_file_name(folder / part, "Open Clip Art Library. Licence: CC0-1.0")
    )


def drawings(most: int) -> list[Row]:
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
    "sky": sky,
    "stamps": stamps,
    "flags": flags,
    "flashcards": flashcards,
    "instruments": instruments,
    "scripts": scripts,
}
