"""How many copies of real pictures are found, and how many pairs that are found are none.

Run by `make bench-duplicates` on the real sample in WIT's form, whose astronomical pictures are mostly
dark. For each kind of copy a corpus of all pictures and a copy of each is searched. A copy counts
as found if it is in its original's group; a pair in a group counts as false if the two are not of
one picture. Prints a table, and as the last line all figures as one JSON object.

Limits were chosen on every other picture (`--half tuning`); what counts are the figures of the rest.
"""

import argparse
import io
import json
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont, ImageOps

from methods.ingest.near_duplicates import Pair, duplicate_groups, near_duplicates
from methods.ingest.picture import upright_rgb
from resources.home import REPO_ROOT
from tests.bench.measuring import peak_mib

PICTURES = REPO_ROOT.parent / "shared" / "data" / "wit_sample" / "images"
HALVES = ("tuning", "held-out")
BITS = 4
"""Hashes at most so far apart are compared, too: the default of a corpus."""

Row = dict[str, Any]


# --- Copies --------------------------------------------------------------------------------------


def encoded(image: Image.Image, quality: int = 85) -> bytes:
    """The picture as a JPEG."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def half(image: Image.Image) -> Image.Image:
    """Half as wide and high."""
    return image.resize((max(1, image.width // 2), max(1, image.height // 2)))


def cropped(share: float) -> Callable[[Image.Image], Image.Image]:
    """Without this share of the width and of the height, on each side."""

    def crop(image: Image.Image) -> Image.Image:
        x, y = round(image.width * share), round(image.height * share)
        return image.crop((x, y, image.width - x, image.height - y))

    return crop


def framed(image: Image.Image, colour: str, share: float) -> Image.Image:
    """In a frame as wide as this share of the longer side."""
    return ImageOps.expand(image, max(1, round(max(image.size) * share)), colour)


def marked(image: Image.Image) -> Image.Image:
    """With a half transparent line of text in a corner, as high as a twelfth of the picture."""
    layer = Image.new("RGBA", image.size)
    font = ImageFont.load_default(size=max(9, image.height // 12))
    at = (image.width * 0.97, image.height * 0.97)
    ImageDraw.Draw(layer).text(at, "example.org", fill=(255, 255, 255, 128), font=font, anchor="rs")
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")


KINDS: dict[str, Callable[[Image.Image], bytes]] = {
    "re-encoded (JPEG 40)": lambda image: encoded(image, 40),
    "scaled to half": lambda image: encoded(half(image)),
    "cropped 3 % a side": lambda image: encoded(cropped(0.03)(image)),
    "cropped 10 % a side": lambda image: encoded(cropped(0.1)(image)),
    "watermarked": lambda image: encoded(marked(image)),
    "white frame of 5 %": lambda image: encoded(framed(image, "white", 0.05)),
    "white frame of 15 %": lambda image: encoded(framed(image, "white", 0.15)),
    "black frame of 8 %": lambda image: encoded(framed(image, "black", 0.08)),
    "mirrored": lambda image: encoded(ImageOps.mirror(image)),
}
ALL_FRAMED = "all in one white frame"
"""No copies: each picture once, with the same frame around it."""


# --- Ways ----------------------------------------------------------------------------------------


def hashes(files: dict[str, bytes]) -> list[Pair]:
    """Pairs by perceptual hash alone."""
    from methods.ingest.image_quality import measure_image

    phashes = [measure_image(data).phash for data in files.values()]
    return near_duplicates(list(files), phashes, BITS)


def pixels(files: dict[str, bytes]) -> tuple[list[Pair], Row]:
    """Pairs as the project finds them."""
    from methods.ingest.picture_candidates import candidates, code
    from methods.ingest.picture_match import best_match, square

    names = list(files)
    row_of = {name: row for row, name in enumerate(names)}
    started = time.process_time()
    squares = [square(data) for data in files.values()]
    decoded = time.process_time()
    proposed = {
        (row_of[pair.first_id], row_of[pair.second_id]): (1.0, False) for pair in hashes(files)
    }
    between = time.process_time()
    for each in candidates([code(each.grey) for each in squares]):
        proposed[each.whole, each.part] = (each.scale, each.mirrored)
    searched = time.process_time()
    pairs = [
        Pair(*sorted((names[whole], names[part])), 0)
        for (whole, part), way in proposed.items()
        if best_match(squares[whole], squares[part], *way).is_same
    ]
    compared = time.process_time()
    return pairs, {
        "pairs_compared": len(proposed),
        "decode_s": round(decoded - started, 2),
        "search_s": round(searched - between, 2),
        "compare_s": round(compared - searched, 2),
    }


def scored(pairs: list[Pair], files: dict[str, bytes], n_copies: int) -> Row:
    """Precision of pairs in groups and recall of copies. A name is a picture's, then its kind."""
    groups: dict[str, list[str]] = {}
    for name, group in duplicate_groups(list(files), pairs).items():
        groups.setdefault(group, []).append(name)
    together = [pair for names in groups.values() for pair in combinations(names, 2)]
    right = sum(one.partition("|")[0] == other.partition("|")[0] for one, other in together)
    return {
        "copies": n_copies,
        "recall": round(right / n_copies, 3) if n_copies else None,
        "pairs_in_groups": len(together),
        "precision": round(right / len(together), 3) if together else None,
    }


def bench(paths: list[Path]) -> Row:
    """Every figure there is."""
    images = {}
    for path in paths:
        image = upright_rgb(Image.open(path))
        # White lines on transparency are a white picture, which has no copies.
        if len(set(image.convert("L").tobytes())) > 1:
            images[path.name] = image
    originals = {path.name: path.read_bytes() for path in paths}
    found: Row = {}
    for kind, make in {"none planted": None, ALL_FRAMED: None, **KINDS}.items():
        copies = {f"{name}|{kind}": make(image) for name, image in images.items()} if make else {}
        files = originals | copies
        if kind == ALL_FRAMED:
            files = {name: encoded(framed(image, "white", 0.1)) for name, image in images.items()}
        by_pixels, took = pixels(files)
        found[kind] = {
            "pixels": {**scored(by_pixels, files, len(copies)), **took},
            "hash_alone": scored(hashes(files), files, len(copies)),
        }
        print(f"{kind}: {found[kind]}", file=sys.stderr, flush=True)
    right = {
        way: sum((row[way]["recall"] or 0) * row[way]["copies"] for row in found.values())
        for way in ("pixels", "hash_alone")
    }
    together = {
        way: sum(row[way]["pairs_in_groups"] for row in found.values())
        for way in ("pixels", "hash_alone")
    }
    copies = sum(row["pixels"]["copies"] for row in found.values())
    return {
        "pictures": len(paths),
        "kinds": found,
        "recall": {way: round(right[way] / copies, 3) for way in right},
        "precision": {way: round(right[way] / together[way], 3) for way in right},
        "peak_mib": peak_mib(),
    }


def show(figures: Row) -> None:
    """The figures for people."""
    print(f"{figures['pictures']} pictures and a copy of each")
    print(f"{'':24}{'recall':>8}{'precision':>11}{'hash: recall':>14}{'precision':>11}")
    for kind, row in figures["kinds"].items():
        cells = [row[way][name] for way in row for name in ("recall", "precision")]
        shown = [f"{'-' if cell is None else format(cell, '.3f')}" for cell in cells]
        print(f"{kind:24}{shown[0]:>8}{shown[1]:>11}{shown[2]:>14}{shown[3]:>11}")
    of = [
        figures[name][way] for way in ("pixels", "hash_alone") for name in ("recall", "precision")
    ]
    print(f"{'all':24}{of[0]:8.3f}{of[1]:11.3f}{of[2]:14.3f}{of[3]:11.3f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every n-th picture only")
    parser.add_argument("--half", choices=HALVES, default="held-out")
    arguments = parser.parse_args()
    if not PICTURES.is_dir():
        sys.exit(f"{PICTURES} is not there: the pictures are read from it.")
    half = sorted(PICTURES.iterdir())[HALVES.index(arguments.half) :: len(HALVES)]
    figures = bench(half[:: arguments.every])
    show(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
