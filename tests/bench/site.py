"""What the sample browser of a large release costs: 20,000 items, 10 models, 2 judges.

Run by `make bench NAME=site`; `ARGS=--items 1000` for fewer, `ARGS="--keep FOLDER"` keeps the site.
Texts are of 20,000 words that are as frequent as those of a language, pictures are some hundred, each
of many items. It is measured against the bytes of its texts and thumbnails, and against the writing of
the same texts as JSON lines. Prints a table, and as the last line all figures as one JSON object.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from methods.release_card import row_of
from resources.files.home import images_path, warehouse_path
from resources.images.store import ImageStore
from resources.site.pictures import Pictures
from resources.site.sample_browser import site_path, write_data, write_page, write_program
from resources.warehouse import Warehouse, Write, arrow_schema
from tests.bench.measuring import Row, peak_mib
from tests.bench.site_browser import browsed

N_ITEMS, N_MODELS, N_PICTURES, SIDE = 20_000, 10, 300, 640
JUDGES = ("judge-a", "judge-b")
N_WORDS, PORTION = 20_000, 2_000
RELEASE, VERSION = "large-0000000000", "alignmmbench/judge_en@00000000"
LABELS = {"task": 13, "category": 3}
LENGTHS = {"question": 25, "reference": 80, "answer": 70, "explanation": 45}
"""Words of a text in the mean."""


class Texts:
    """Texts of made words; the n-th word is as frequent as 1/n."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(1)
        letters = np.array(list("aeioubcdfghklmnprstvwz"))
        lengths = self._generator.integers(2, 11, N_WORDS)
        self._words = ["".join(self._generator.choice(letters, length)) for length in lengths]
        shares = 1 / np.arange(1, N_WORDS + 1)
        self._shares = shares / shares.sum()

    def of(self, kind: str, n: int) -> list[str]:
        """So many texts of a kind."""
        lengths = self._generator.integers(LENGTHS[kind] // 2, LENGTHS[kind] * 3 // 2, n)
        places = self._generator.choice(N_WORDS, int(lengths.sum()), p=self._shares)
        words = iter([self._words[place] for place in places.tolist()])
        return [" ".join(next(words) for _ in range(length)) + "." for length in lengths.tolist()]

    def scores(self, n: int) -> list[float]:
        """So many grades from 1 to 10."""
        return [float(score) for score in self._generator.integers(1, 11, n)]


def make_home(n_items: int) -> None:
    """The tables and pictures."""
    store, generator = ImageStore(images_path()), np.random.default_rng(1)
    ids = []
    for _ in range(N_PICTURES):
        small = generator.integers(0, 256, (12, 12, 3), dtype=np.uint8)
        with tempfile.TemporaryFile() as file:
            picture = Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
            picture.save(file, "JPEG", quality=85)
            file.seek(0)
            ids.append(store.put(file.read()).image_id)
    warehouse, texts = Warehouse(warehouse_path()), Texts()
    for first in range(0, n_items, PORTION):
        numbers = range(first, min(first + PORTION, n_items))
        warehouse.replace_all(
            [
                Write(
                    table,
                    pa.Table.from_pylist(rows, schema=arrow_schema(table)),
                    {"release_id": RELEASE, "item_id": [f"item-{number:05}" for number in numbers]},
                )
                for table, rows in _rows(numbers, texts, ids).items()
            ]
        )
    card = {
        **{
            "release_id": RELEASE,
            "name": "large",
            "kind": "benchmark",
            "benchmark": "alignmmbench",
        },
        **{"language": "en", "split": None, "origin": "imported", "provider": "made"},
        **{"n_items": n_items, "n_turns": n_items, "n_images": N_PICTURES},
        **{"review_policy": "none", "review_share": 0.0, "created_at": "2026-01-01T00:00:00+00:00"},
    }
    table = pa.Table.from_pylist([row_of(card)], schema=arrow_schema("release.releases"))
    warehouse.replace("release.releases", table)


def _rows(numbers: range, texts: Texts, images: list[str]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {
        **{f"release.{name}": [] for name in ("items", "turns", "references", "images")},
        **{f"evaluate.{name}": [] for name in ("answers", "judgments", "observations")},
    }
    n, n_answers = len(numbers), len(numbers) * N_MODELS
    given = {
        "question": iter(texts.of("question", n)),
        "reference": iter(texts.of("reference", n)),
        "answer": iter(texts.of("answer", n_answers)),
        "explanation": iter(texts.of("explanation", n_answers * len(JUDGES))),
    }
    scores = iter(texts.scores(n_answers * len(JUDGES)))
    for number in numbers:
        place = {"release_id": RELEASE, "item_id": f"item-{number:05}"}
        labels = [(name, f"{name} {number % n}") for name, n in LABELS.items()]
        of_item = {"ordinal": number + 1, "revision": 0, "reviewers": ["one"], "labels": labels}
        rows["release.items"].append({**place, **of_item})
        question = {"turn": 1, "question": next(given["question"]), "image_positions": [1]}
        rows["release.turns"].append({**place, **question})
        reference = {"turn": 1, "kind": "answer", "reference": next(given["reference"])}
        rows["release.references"].append({**place, **reference})
        image = {"position": 1, "image_id": images[number % len(images)], "title": f"Page {number}"}
        rows["release.images"].append({**place, **image})
        for model in range(N_MODELS):
            who = {"benchmark": "alignmmbench", **place, "model": f"model-{model}"}
            turn = {"trial": "plain", "turn": 1, "provider": "made"}
            key = f"{number:056x}{model:08x}"
            answer = {"status": "answered", "answer": next(given["answer"]), "call_key": key}
            rows["evaluate.answers"].append({**who, **turn, **answer, "prompt_version": "once@1"})
            for judge in JUDGES:
                score = next(scores)
                by = {"judge": judge, "judge_version": VERSION, "replicate": 0, "part": "answer"}
                of_call = {"call_key": f"{key[:-1]}{judge[-1]}", "answer_call_key": key}
                said = {"scores": [("Rating", score)], "score": score, "prompt_version": VERSION}
                said["explanation"] = next(given["explanation"])
                rows["evaluate.judgments"].append({**who, **turn, **by, **of_call, **said})
                seen = {"metric": "Rating", "status": "judged", "value": score}
                del turn["provider"]
                rows["evaluate.observations"].append({**who, **turn, **by, **of_call, **seen})
                turn["provider"] = "made"
    return rows


def measured(n_items: int) -> Row:
    """What writing the site takes, and what its bytes are against its texts."""
    from assets.evaluate.site_data import SiteData
    from methods.benchmarks import BENCHMARKS

    warehouse = Warehouse(warehouse_path())
    (release,) = (
        warehouse.read("evaluate/reported_releases").to_pylist()
        or warehouse.select("release.releases").to_pylist()
    )
    # The most memory since now: not that of making the release.
    Path("/proc/self/clear_refs").write_text("5")
    wall, cpu = time.monotonic(), time.process_time()
    pictures = Pictures(site_path(), ImageStore(images_path()))
    write_program()
    data = SiteData(warehouse, BENCHMARKS, release, JUDGES, pictures)
    fingerprint = data.fingerprint()
    before = time.monotonic() - wall
    n_bytes = write_data(RELEASE, fingerprint, data.contents())
    write_page(release, fingerprint)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    again = time.monotonic()
    assert SiteData(warehouse, BENCHMARKS, release, JUDGES, pictures).fingerprint()
    again = time.monotonic() - again
    plain = time.monotonic()
    n_text = sum(len(line.encode()) for line in _lines(warehouse))
    plain = time.monotonic() - plain
    thumbs = sum(path.stat().st_size for path in site_path().glob("thumbs/*/*"))
    return {
        "items": n_items,
        "models": N_MODELS,
        "judges": len(JUDGES),
        "wall_s": round(wall, 1),
        "cpu_s": round(cpu, 1),
        "before_writing_s": round(before, 1),
        "nothing_changed_s": round(again, 1),
        "json_lines_s": round(plain, 1),
        "peak_mib": peak_mib(),
        "site_mb": round((n_bytes + thumbs) / 1e6, 1),
        "texts_and_thumbnails_mb": round((n_text + thumbs) / 1e6, 1),
        "bytes_ratio": round((n_bytes + thumbs) / (n_text + thumbs), 3),
    }


def _lines(warehouse: Warehouse) -> Iterator[str]:
    """The texts as JSON lines, with nothing else."""
    for table, columns in {
        "release.turns": ("question",),
        "release.references": ("reference",),
        "evaluate.answers": ("answer",),
        "evaluate.judgments": ("explanation",),
    }.items():
        rows = warehouse.select(table, *columns, release_id=RELEASE)
        for batch in rows.to_batches(max_chunksize=10_000):
            yield from (json.dumps(row, ensure_ascii=False) for row in batch.to_pylist())


def main() -> None:
    """Make the home, write the site, and print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=N_ITEMS)
    parser.add_argument("--keep", type=Path, help="a folder that the site is left in")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LOOM_HOME"] = folder
        print("making a release ...", file=sys.stderr)
        make_home(chosen.items)
        figures: dict[str, Any] = measured(chosen.items)
        figures |= browsed(site_path(), f"{RELEASE}.html")
        if chosen.keep:
            shutil.copytree(site_path(), chosen.keep, dirs_exist_ok=True)
    for name, value in figures.items():
        print(f"{name:>28}  {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
