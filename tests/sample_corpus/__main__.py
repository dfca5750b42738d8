"""The generator of the sample corpus: `python -m tests.sample_corpus` writes it anew.

With the same version of Pillow every run writes the same bytes.
"""

import io
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image

from resources.files.home import REPO_ROOT
from tests.sample_corpus.canvas import Canvas
from tests.sample_corpus.entries import Entry, load_entries
from tests.sample_corpus.scenes import (
    balloon,
    butterfly,
    fruit,
    lighthouse,
    planet,
    sailboat,
    windmill,
)
from tests.sample_corpus.shards import shard_bytes

FOLDER = REPO_ROOT / "resources" / "sample_corpus"
SCENES = {
    "balloon": balloon.draw,
    "butterfly": butterfly.draw,
    "fruit": fruit.draw,
    "lighthouse": lighthouse.draw,
    "planet": planet.draw,
    "sailboat": sailboat.draw,
    "windmill": windmill.draw,
}
"""A topic file names its kind of picture, and gives each picture's details."""
SEED = 20240
JPEG_QUALITY = 85
PALETTE = 240
"""Colours of a PNG: enough that no banding shows, few enough to keep the corpus small."""


def write_corpus(folder: Path = FOLDER) -> None:
    """Write images, shards and categories under the folder, replacing images that are there."""
    entries = load_entries()
    images, shards = folder / "images", folder / "shards"
    for made in (images, shards):
        made.mkdir(parents=True, exist_ok=True)
    for old in images.iterdir():
        old.unlink()
    drawn = {entry.image: entry for entry in entries if entry.draw is not None}
    # Pillow does most of its work without the interpreter's lock.
    with ThreadPoolExecutor() as pool:
        for name, content in zip(drawn, pool.map(_picture, drawn.values()), strict=True):
            (images / name).write_bytes(content)
    for name, share in _shares(entries).items():
        (shards / f"{name}.tsv").write_bytes(shard_bytes(share))
    lines = (
        json.dumps({"page_title": entry.title, "categories": entry.categories}, ensure_ascii=False)
        for entry in entries
    )
    (folder / "categories.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _picture(entry: Entry) -> bytes:
    """The picture's file: a JPEG or PNG, cut in half where the entry asks for that fault."""
    canvas = Canvas(*entry.size, seed=entry.image)
    SCENES[entry.scene](canvas, **(entry.draw or {}))
    picture, buffer = canvas.finish(), io.BytesIO()
    if entry.image.endswith(".jpg"):
        picture.save(buffer, "JPEG", quality=JPEG_QUALITY, optimize=True)
    else:
        few = picture.quantize(PALETTE, kmeans=1, dither=Image.Dither.NONE)
        few.save(buffer, "PNG", optimize=True)
    content = buffer.getvalue()
    return content[: len(content) // 2] if entry.fault == "truncated" else content


def _shares(entries: list[Entry]) -> dict[str, list[Entry]]:
    """The entries of each shard: topics are dealt to both, damage only to the second."""
    sound = [entry for entry in entries if entry.fault is None]
    damaged = [entry for entry in entries if entry.fault is not None]
    shares = {"sample-a": sound[::2], "sample-b": sound[1::2] + damaged}
    # Shuffled so that topics are mixed and damaged lines lie between good ones.
    for share in shares.values():
        random.Random(SEED).shuffle(share)
    return shares


if __name__ == "__main__":
    write_corpus()
