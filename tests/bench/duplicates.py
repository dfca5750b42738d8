"""How many copies of real pictures are found, by kind of change, and how many pairs that are found are
none.

Run by `make bench NAME=duplicates` on pictures of Debian packages, which it fetches once
(`package_pictures.py`). Prints two tables and writes them to docs/results/copies.md; the last line is
all figures as one JSON object.

Precision is that of all pairs of a corpus as it is: whoever looked at the pairs that are found wrote
those of one picture down in `copies.toml`; each other pair counts as false. For recall a copy of each
picture is added, a kind at a time (`picture_changes.py`).

Limits were chosen on every other picture (`--half tuning`); what counts are the figures of the rest.
"""

import argparse
import io
import json
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from threadpoolctl import threadpool_limits

from methods.ingest.image_quality import measure_image
from methods.ingest.near_duplicates import near_duplicates
from methods.ingest.picture import upright_rgb
from methods.ingest.picture_candidates import candidates, codes, nearest_ways
from methods.ingest.picture_match import Miniature, Square, Way, looked_at, match, square
from methods.markdown import table
from resources.files.home import REPO_ROOT
from tests.bench.measuring import peak_mib
from tests.bench.package_pictures import CORPORA, Unreachable, pictures_of
from tests.bench.picture_changes import KINDS, encoded, framed

PAGE = REPO_ROOT / "docs" / "results" / "copies.md"
BEGIN, END = "<!-- figures of copies -->\n", "<!-- end of figures -->\n"
COPIES = Path(__file__).with_name("copies.toml")
HALVES = ("tuning", "held-out")
BITS = 4
"""Hashes at most so far apart are compared, too: the default of a corpus."""
CHANGED = 30
"""Pictures of a corpus that copies are made of, at most."""
LONGER_SIDE = 640
"""Pixels of what copies are made of, at most: the time goes into comparing, not into encoding."""
ALL_FRAMED = "all in one white frame"

Row = dict[str, Any]
Pairs = set[tuple[str, str]]


class Seen:
    """A picture's file as it is compared."""

    def __init__(self, data: bytes):
        self.square: Square = square(data)
        self.miniature: Miniature = self.square.miniature()
        self.phash = measure_image(data).phash


def found_among(pictures: Mapping[str, Seen], took: Row) -> Pairs:
    """Pairs that the project takes for copies; how many are compared, and for how long, is added up."""
    names, seen = list(pictures), list(pictures.values())
    started = time.process_time()
    row_of = {name: row for row, name in enumerate(names)}
    of_pictures = codes([each.miniature for each in seen])
    proposed = set(candidates(of_pictures))
    for pair in near_duplicates(names, [each.phash for each in seen], BITS):
        one, other = row_of[pair.first_id], row_of[pair.second_id]
        proposed.add((min(one, other), max(one, other)))
    pairs = nearest_ways(of_pictures, sorted(proposed))
    looks = looked_at(
        [seen[each.whole].miniature for each in pairs],
        [seen[each.part].miniature for each in pairs],
        [Way(each.scale, each.turn) for each in pairs],
    )
    beyond = [(each, look) for each, look in zip(pairs, looks, strict=True) if look.may_be_same]
    found = {
        (min(names[each.whole], names[each.part]), max(names[each.whole], names[each.part]))
        for each, look in beyond
        if match(seen[each.whole].square, seen[each.part].square, look).is_same
    }
    for name, n in (("compared", len(pairs)), ("in_full", len(beyond))):
        took[name] = took.get(name, 0) + n
    took["compare_s"] = took.get("compare_s", 0) + time.process_time() - started
    return found


def bench(paths: Mapping[str, Path], copies: Pairs) -> Row:
    """The figures of one corpus: of its pictures by name; `copies` are pairs known to be copies."""
    took: Row = {}
    started = time.process_time()
    originals = {name: Seen(path.read_bytes()) for name, path in paths.items()}
    looked = time.process_time() - started
    found = found_among(originals, took)
    row: Row = {
        "pictures": len(paths),
        "look_ms": round(1000 * looked / len(paths), 1),
        "pairs_compared": took["compared"],
        "pairs_compared_in_full": took["in_full"],
        "compare_ms": round(1000 * took["compare_s"] / max(1, took["compared"]), 2),
        "found": len(found),
        "copies": len(found & copies),
        "false": sorted(found - copies),
        "kinds": {},
    }
    some = list(paths)[:: -(-len(paths) // CHANGED)]
    images = {name: _opened(paths[name]) for name in some}
    few = {name: originals[name] for name in some}
    framed_all = found_among(
        {name: Seen(encoded(framed("white", 0.1)(images[name]))) for name in some}, {}
    )
    row["false_in_one_frame"] = len(framed_all - found - copies)
    for kind, change in KINDS.items():
        made = {f"{name}|{kind}": Seen(change(images[name])) for name in some}
        pairs = {_originals(pair) for pair in found_among(few | made, {})}
        alone = {name for name, other in pairs if name == other}
        row["kinds"][kind] = {
            "copies": len(some),
            "found": len(alone),
            "false": len({pair for pair in pairs if pair[0] != pair[1]} - found - copies),
        }
        print(f"{kind}: {row['kinds'][kind]}", file=sys.stderr, flush=True)
    return row


def _originals(pair: tuple[str, str]) -> tuple[str, str]:
    one, other = sorted(name.partition("|")[0] for name in pair)
    return one, other


def _opened(path: Path) -> Image.Image:
    with Image.open(io.BytesIO(path.read_bytes())) as image:
        shown = upright_rgb(image)
    shown.thumbnail((LONGER_SIDE, LONGER_SIDE))
    return shown


def corpora(folder: Path, half: str, every: int) -> Iterator[tuple[str, dict[str, Path]]]:
    """The pictures of each corpus that can be had, by name."""
    for name in CORPORA:
        try:
            paths = pictures_of(name, folder)[HALVES.index(half) :: len(HALVES)][::every]
        except Unreachable as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        yield name, {f"{path.parent.name}/{path.name}": path for path in paths}


def known_copies() -> Pairs:
    """Pairs of pictures that a person has looked at and found to be copies."""
    pairs = tomllib.loads(COPIES.read_text(encoding="utf-8"))["pairs"]
    return {(min(pair), max(pair)) for pair in pairs}


def shown(figures: Mapping[str, Row]) -> list[str]:
    """The two tables, as lines of Markdown."""
    whole = []
    for name, row in figures.items():
        n = row["pictures"]
        whole.append(
            (
                name,
                f"{n:,}",
                f"{n * (n - 1) // 2:,}",
                f"{row['pairs_compared']:,}",
                f"{row['pairs_compared_in_full']:,}",
                str(row["found"]),
                str(row["copies"]),
                str(len(row["false"])),
                str(row["false_in_one_frame"]),
            )
        )
    changed = []
    for kind in KINDS:
        of = [row["kinds"][kind] for row in figures.values()]
        n_found, n = (sum(row[each] for row in of) for each in ("found", "copies"))
        changed.append(
            (
                kind,
                *(_share(row["found"], row["copies"]) for row in of),
                _share(n_found, n),
                _share(n_found, n_found + sum(row["false"] for row in of)),
            )
        )
    heads = (
        *(
            "corpus",
            "pictures",
            "pairs",
            "compared",
            "as squares",
            "found",
            "of one picture",
            "false",
        ),
        "false, all in one white frame",
    )
    return [
        *table(heads, whole),
        "",
        *table(("copy", *figures, "all: recall", "precision"), changed),
    ]


def _share(part: int, of: int) -> str:
    return f"{part / of:.3f}" if of else "-"


def write(lines: Sequence[str]) -> None:
    """Put the tables into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    behind = rest.split(END)[1]
    body = "\n".join(lines)
    PAGE.write_text(f"{before}{BEGIN}{body}\n{END}{behind}", encoding="utf-8")


def main() -> None:
    """Measure and print; write what counts into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every n-th picture only")
    parser.add_argument("--half", choices=HALVES, default="held-out")
    parser.add_argument("--folder", type=Path, default=REPO_ROOT / "build" / "pictures")
    arguments = parser.parse_args()
    copies = known_copies()
    figures = {}
    with threadpool_limits(limits=1):
        for name, paths in corpora(arguments.folder, arguments.half, arguments.every):
            print(f"{name}: {len(paths)} pictures", file=sys.stderr, flush=True)
            figures[name] = bench(paths, copies)
    if not figures:
        sys.exit("No corpus can be had: give --folder a folder that has the packages unpacked.")
    lines = shown(figures)
    print("\n".join(lines))
    if arguments.half == "held-out" and arguments.every == 1:
        write(lines)
    print(json.dumps({"corpora": figures, "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main()
