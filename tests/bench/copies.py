"""Precision and recall of the detection of image copies, and what it costs.

Run by `make bench NAME=copies`. Each original has a copy for each change of `copies_changes`. A pool is
the originals of one kind and one copy of each, with mixed changes. A pair is right if both images come
from one original. Limits are chosen on one half of the shared data's images; `--held-out` measures the
other half, and drawn templates. With `--originals FOLDER` the originals are of that folder instead,
which has a folder of images for each kind. Prints two tables, the cost and all figures as JSON.
"""

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from methods.ingest.picture_candidates import candidates, codes, nearest_ways
from methods.ingest.picture_match import VERSION, Match
from methods.ingest.picture_thumbnail import square, thumbnail
from resources.images.picture_comparison import ImageComparison, compare
from tests.bench.copies_changes import CHANGES, copy, encoded
from tests.bench.copies_drawn import TEMPLATES, framed
from tests.bench.measuring import DATA, Row, print_table

REAL = {
    "photographs": ("convbench_slice/images/*", "wit_sample/images/l*", "wit_sample/images/so*"),
    "dark skies": ("wit_sample/images/dso*",),
    "drawings": ("wit_sample/images/sky*",),
}
MOST_PIXELS, LEAST_PIXELS, LEAST_CONTRAST = 640, 96, 12


class Copies:
    """Compares pools of images; thumbnails and comparisons are kept, as in the warehouse."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.count: Counter[str] = Counter()
        self.matches: dict[ImageComparison, Match] = {}
        self._thumbnails: dict[str, bytes] = {}

    def look(self, name: str, data: bytes) -> None:
        """Make the thumbnail of an image."""
        started = time.process_time()
        self._thumbnails[name] = thumbnail(data)
        self.seconds["image"] += time.process_time() - started
        self.count["images"] += 1

    def of(self, names: Sequence[str]) -> set[tuple[str, str]]:
        """The pairs of these images that are copies."""
        started = time.process_time()
        coded = codes([square(self._thumbnails[name]).miniature() for name in names])
        compared = [
            ImageComparison(names[way.whole], names[way.part], way.scale, way.turn)
            for way in nearest_ways(coded, candidates(coded))
        ]
        new = [pair for pair in compared if pair not in self.matches]
        self.matches.update(zip(new, compare(new, self._thumbnails), strict=True))
        self.seconds["pair"] += time.process_time() - started
        self.count["pairs"] += len(new)
        self.count["pool"] += len(names)
        return {(min(pair[:2]), max(pair[:2])) for pair in compared if self.matches[pair].is_same}


def of_files(paths: Iterable[Path], n: int) -> list[Image.Image]:
    """Up to n images of files, without small and uniform ones."""
    images = []
    for path in paths:
        image = Image.open(path).convert("RGBA")
        image.thumbnail((MOST_PIXELS, MOST_PIXELS))
        shown = Image.new("RGB", image.size, "white")
        shown.paste(image, mask=image.getchannel("A"))
        if min(shown.size) >= LEAST_PIXELS and np.std(shown.convert("L")) > LEAST_CONTRAST:
            images.append(shown)
        if len(images) == n:
            break
    return images


def originals(held_out: bool, n: int, folder: Path | None) -> dict[str, list[Image.Image]]:
    """The originals of one half by kind; those of a folder are of this half alone."""
    if folder:
        return {one.name: of_files(sorted(one.iterdir()), n) for one in sorted(folder.iterdir())}
    kinds = {}
    for kind, patterns in REAL.items():
        paths = sorted(path for pattern in patterns for path in DATA.glob(pattern))
        random.Random(0).shuffle(paths)
        kinds[kind] = of_files(paths[held_out::2], n)
    if held_out:
        kinds |= {kind: draw(n) for kind, draw in TEMPLATES.items()}
        inner = kinds["photographs"][: n // 2] + kinds.pop("paintings")[: n // 2]
        kinds["paintings in one frame"] = framed(inner)
    return {kind: images for kind, images in kinds.items() if len(images) >= n // 2}


def measure(kinds: dict[str, list[Image.Image]], copies: Copies, rounds: int) -> Row:
    """So many pools of each kind: by kind and by change the copies, those found, and wrong pairs; and
    the wrong pairs by name."""
    changes = list(CHANGES)
    by_kind: dict[str, Counter] = defaultdict(Counter)
    by_change: dict[str, Counter] = defaultdict(Counter)
    cells: dict[str, Counter] = defaultdict(Counter)
    wrong = set()
    for kind, images in kinds.items():
        names = [f"{kind}/{number:02}" for number in range(len(images))]
        for name, image in zip(names, images, strict=True):
            copies.look(name, encoded(image, 95))
        for turn in range(rounds):
            pool = {}
            for number, image in enumerate(images):
                change = changes[(number + turn * len(changes) // rounds) % len(changes)]
                pool[f"{names[number]}/{change}"] = names[number], change
                copies.look(f"{names[number]}/{change}", copy(image, change))
            found = copies.of([*names, *pool])
            for name, (original, change) in pool.items():
                right = (original, name) in found
                for counter in (by_kind[kind], by_change[change], cells[f"{kind}/{change}"]):
                    counter.update(copies=1, right=right)
            for first, second in found:
                if first.split("/")[:2] != second.split("/")[:2]:
                    wrong.add((first, second))
                    by_kind[kind]["wrong"] += 1
                    for name in {first, second} & set(pool):
                        by_change[pool[name][1]]["wrong"] += 1
    return {"kinds": by_kind, "changes": by_change, "cells": cells, "wrong": sorted(wrong)}


def shares(rows: dict[str, Counter]) -> dict[str, Row]:
    """Precision and recall by row."""
    return {
        name: {
            "copies": row["copies"],
            "precision": row["right"] / max(1, row["right"] + row["wrong"]),
            "recall": row["right"] / max(1, row["copies"]),
        }
        for name, row in rows.items()
    }


def main() -> None:
    """Measure one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--originals", type=Path)
    parser.add_argument("--images", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=24)
    arguments = parser.parse_args()
    copies = Copies()
    kinds = originals(arguments.held_out, arguments.images, arguments.originals)
    figures = measure(kinds, copies, arguments.rounds)
    for title in ("kinds", "changes"):
        print_table(title, shares(figures[title]), ["copies", "precision", "recall"])
    image_ms = 1e3 * copies.seconds["image"] / copies.count["images"]
    pair_ms = 1e3 * copies.seconds["pair"] / copies.count["pairs"]
    print(
        f"\nAn image takes {image_ms:.1f} ms, a pair {pair_ms:.1f} ms of CPU (version {VERSION})."
    )
    print(json.dumps({**figures, "seconds": copies.seconds, "count": copies.count}))


if __name__ == "__main__":
    main()
