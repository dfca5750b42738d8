"""Dialogues on pictures of the sample corpus, as MMDU's authors publish theirs.

The references are those of the mock writer, from what is measured in the pixels, so that the offline
judge can tell good answers from bad.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from methods.ingest.image_check import ImageRejected
from resources.images.store import ImageDamaged, ImageStore
from resources.mock_server.careful_answers import careful_answer
from resources.mock_server.dialogue_texts import SEVERAL, SINGLE
from resources.mock_server.image_facts import Facts, picture_facts
from tests.assets.corpus import SAMPLE
from tests.assets.world import MAX_SIDE

NAME = "benchmark.json"


def write_dialogues(folder: Path, n_dialogues: int, n_turns: int) -> Path:
    """The authors' JSON with so many dialogues of so many turns, pictures beside it; its path."""
    found = pictures()
    (folder / "mmdu_pics").mkdir(parents=True)
    for name in found:
        shutil.copyfile(SAMPLE / "images" / name, folder / "mmdu_pics" / name)
    pairs = islice(_pairs(list(found)), n_dialogues)
    records = [_record(number, pair, n_turns) for number, pair in enumerate(pairs)]
    assert len(records) == n_dialogues
    (folder / NAME).write_text(json.dumps(records))
    return folder / NAME


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of pictures in an order that mixes topics; those that follow one another share none."""
    mixed = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    for step in range(5, len(mixed) // 2):
        for place, name in enumerate(mixed):
            yield name, mixed[(place + step) % len(mixed)]


def _record(number: int, names: tuple[str, ...], n_turns: int) -> dict[str, Any]:
    """A dialogue whose turns are about all its pictures and about one of them, one after the other."""
    facts = {place: pictures()[name] for place, name in enumerate(names, start=1)}
    shown = ", ".join(f"Image{place}: <ImageHere>" for place in facts)
    both = " and ".join(f"<image-{place}>" for place in facts)
    said = []
    for turn in range(n_turns):
        place = (turn - 1) % len(names) + 1
        bank, about = (SINGLE, f"<image-{place}>") if turn % (len(names) + 1) else (SEVERAL, both)
        asked = bank[(number + turn) % len(bank)].format(about)
        if turn >= len(bank):
            asked = f"Once more, for turn {turn + 1}: {asked}"
        reference = careful_answer(asked, facts, "expert")
        said += [asked if turn else f"{shown}. {asked}", reference]
    return {
        "id": f"dialogue-{number:03}",
        "image": [f"/mmdu_pics/{name}" for name in names],
        "conversations": [
            {"from": ("user", "assistant")[place % 2], "value": text}
            for place, text in enumerate(said)
        ],
    }


@cache
def pictures() -> dict[str, Facts]:
    """What the mock server measures in each sound picture of the sample corpus, by file name.

    It is measured in what is sent, which may be smaller than the file and on white.
    """
    found = {}
    with TemporaryDirectory() as folder:
        store = ImageStore(Path(folder))
        for path in sorted((SAMPLE / "images").iterdir()):
            with suppress(ImageRejected, ImageDamaged):
                image_id = store.put(path.read_bytes()).image_id
                found[path.name] = picture_facts(store.jpeg_base64(image_id, MAX_SIDE))[1]
    return found
