"""What exporting a release of MMDU-45k's size costs: time against a copy of the same bytes, and memory.

Run by `make bench NAME=export`: 45,000 dialogues of 10 turns and 3 pictures, multiplied from a few
hundred pictures. Each form is written by a process of its own; the copy beside it is the folder, file
by file, with its hashes, as a list of files has them. Prints a table, and as the last line all figures
as one JSON object.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from methods.ids import content_id
from methods.release_card import row_of
from resources.files.home import REPO_ROOT, images_path, releases_path, warehouse_path
from resources.images.store import ImageStore
from resources.warehouse import Warehouse, arrow_schema
from tests.bench.measuring import Row, peak_mib

N_DIALOGUES, N_TURNS, N_SHOWN, N_PICTURES, SIDE = 45_000, 10, 3, 400, 160
PORTION = 5_000
RELEASE = "mmdu-0000000000"
FORMS = ("huggingface", "llava", "openai", "webdataset")


def make_home(n_dialogues: int) -> None:
    """The tables and the pictures of the release."""
    store, generator = ImageStore(images_path()), np.random.default_rng(1)
    ids = []
    for _ in range(N_PICTURES):
        noise = generator.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        with tempfile.TemporaryFile() as file:
            Image.fromarray(noise).save(file, "JPEG", quality=60)
            file.seek(0)
            ids.append(store.put(file.read()).image_id)
    warehouse, chooser = Warehouse(warehouse_path()), random.Random(1)
    for first in range(0, n_dialogues, PORTION):
        rows = portion(range(first, min(first + PORTION, n_dialogues)), ids, chooser)
        for table, table_rows in rows.items():
            arrow = pa.Table.from_pylist(table_rows, schema=arrow_schema(f"release.{table}"))
            items = {row["item_id"] for row in rows["items"]}
            warehouse.replace(
                f"release.{table}", arrow, {"release_id": RELEASE, "item_id": sorted(items)}
            )
    card = row_of(
        {
            **{"release_id": RELEASE, "name": "mmdu", "kind": "benchmark", "benchmark": "mmdu"},
            **{"origin": "built", "n_items": n_dialogues, "n_turns": n_dialogues * N_TURNS},
            **{"n_images": N_PICTURES, "review_policy": "none", "review_share": 0.0},
            **{"provider": "bench", "created_at": "2026-01-01T00:00:00+00:00"},
        }
    )
    table = pa.Table.from_pylist([card], schema=arrow_schema("release.releases"))
    warehouse.replace("release.releases", table, {"release_id": RELEASE})


def portion(numbers: range, ids: list[str], chooser: random.Random) -> dict[str, list[Row]]:
    """Rows of some dialogues: questions of 15 words, answers of 110."""
    words = [f"word{number}" for number in range(5_000)]
    rows: dict[str, list[Row]] = {"items": [], "turns": [], "references": [], "images": []}
    for number in numbers:
        here = {"release_id": RELEASE, "item_id": content_id("dialogue", number)}
        rows["items"].append(
            {**here, "ordinal": number + 1, "revision": 0, "reviewers": [], "labels": []}
        )
        for turn in range(1, N_TURNS + 1):
            shown = turn <= N_SHOWN
            question = "<ImageHere>" * shown + " ".join(chooser.choices(words, k=15))
            answer = " ".join(chooser.choices(words, k=110))
            positions = [turn] if shown else []
            rows["turns"].append(
                {**here, "turn": turn, "question": question, "image_positions": positions}
            )
            rows["references"].append({**here, "turn": turn, "kind": "answer", "reference": answer})
        rows["images"] += [
            {
                **here,
                "position": place,
                "image_id": image_id,
                "licence": "CC-BY-SA-4.0",
                "page_url": f"https://en.wikipedia.org/wiki/{number}",
                "title": f"Page {number}",
                "attribution": "Somebody, CC BY-SA 4.0",
            }
            for place, image_id in enumerate(chooser.sample(ids, N_SHOWN), start=1)
        ]
    return rows


def export_one(form: str) -> Row:
    """Write one form in this process."""
    from dagster_project import definitions  # noqa: F401 - the settings of every asset
    from dagster_project.release_actions import ExportRelease

    before = peak_mib()
    wall, cpu = time.monotonic(), time.process_time()
    ExportRelease(release=RELEASE, form=form).perform(
        Warehouse(warehouse_path()),
        ImageStore(images_path()),
        say=lambda line: print(line, file=sys.stderr),
    )
    return {
        "wall_s": round(time.monotonic() - wall, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
        "peak_mib": peak_mib(),
        "peak_before_mib": before,
    }


def copy(folder: Path) -> Row:
    """Copy a folder and hash every file of the copy."""
    wall, cpu = time.monotonic(), time.process_time()
    target = folder.with_name("copy")
    shutil.copytree(folder, target)
    n_bytes = 0
    for path in target.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                hashlib.file_digest(file, "sha256")
            n_bytes += path.stat().st_size
    figures = {
        "copy_wall_s": round(time.monotonic() - wall, 1),
        "copy_cpu_s": round(time.process_time() - cpu, 1),
        "mb": round(n_bytes / 1e6),
    }
    shutil.rmtree(target)
    return figures


def in_a_process(*arguments: str) -> Any:
    """What this module prints last with these arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.export", *arguments],
        cwd=REPO_ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Every form on one home."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=int, default=N_DIALOGUES)
    parser.add_argument("--forms", nargs="+", default=FORMS)
    parser.add_argument("--one", help="write this form alone, in the home that there is")
    parser.add_argument("--make", action="store_true", help="make the home alone")
    given = parser.parse_args()
    if given.one or given.make:
        print(json.dumps(export_one(given.one) if given.one else make_home(given.dialogues)))
        return
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as folder:
        os.environ["LOOM_HOME"] = folder
        # A process begins with the peak of the one that starts it: this one stays small.
        in_a_process("--make", "--dialogues", str(given.dialogues))
        figures: Row = {"dialogues": given.dialogues, "cores": os.cpu_count(), "forms": {}}
        print(
            f"{'form':12}{'MB':>8}{'s':>8}{'CPU s':>8}{'copy s':>8}{'copy CPU':>10}{'peak MiB':>10}"
        )
        for form in given.forms:
            row: Row = in_a_process("--one", form)
            written = releases_path() / f"{RELEASE}.{form}"
            row |= copy(written)
            shutil.rmtree(written)
            figures["forms"][form] = row
            print(
                f"{form:12}{row['mb']:8}{row['wall_s']:8}{row['cpu_s']:8}{row['copy_wall_s']:8}"
                f"{row['copy_cpu_s']:10}{row['peak_mib']:10}"
            )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
