"""What ingestion costs: a WIT shard stored, against unpacking alone and other readers; and images.

Run by `make bench NAME=ingest`. Every figure is taken in a process of its own, the ways take turns, and
the fastest round of each counts. Prints tables, and as the last line all figures as one JSON object.
"""

import argparse
import atexit
import contextlib
import gzip
import http.server
import io
import itertools
import json
import os
import random
import resource
import shutil
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from resources.files.home import REPO_ROOT
from tests.doubles.serving import serving

FEW, MANY = 200_000, 1_000_000
WARMING = "warming.tsv.gz"
"""A shard of a few rows, which every way reads first."""
ONE_IN_BROKEN = 1_000
N_PICTURES = 200
WAYS = ("gzip", "python gzip", "stored", "read_csv of DuckDB", "pandas", "datasets")
LIMIT = "python gzip"
"""The faster of the two that only unpack; everything is measured against it."""


# --- What is read --------------------------------------------------------------------------------


def write_shard(path: Path, n_rows: int) -> None:
    """A WIT shard of about 1.1 KB of text a row; a third of the rows have quotes, a few are cut."""
    import csv

    from methods.ingest.wit import COLUMNS

    random_ = random.Random(7)
    words = ["".join(random_.choices(string.ascii_lowercase, k=2 + n % 9)) for n in range(20_000)]
    weights = list(itertools.accumulate(1 / (place + 1) for place in range(len(words))))
    pool = random_.choices(words, cum_weights=weights, k=400_000)

    def text(n_words: int) -> str:
        start = random_.randrange(len(pool) - n_words)
        return " ".join(pool[start : start + n_words])

    with gzip.open(path, "wt", encoding="utf-8", newline="", compresslevel=6) as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        for number in range(n_rows):
            if number % ONE_IN_BROKEN == 7:
                file.write("en\thttps://en.wikipedia.org/wiki/Short\n")
                continue
            title, about = text(3).title(), text(75)
            writer.writerow(
                [
                    random_.choice(["en", "en", "de", "fr"]),
                    f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}_{number}",
                    f"https://upload.wikimedia.org/wikipedia/commons/a/ab/{number}.jpg",
                    title,
                    text(2),
                    text(4),
                    text(12) if number % 2 else "",
                    text(15),
                    text(8) if number % 3 else "",
                    "image/jpeg",
                    random_.randint(100, 5000),
                    random_.randint(100, 5000),
                    random_.choice(["true", "false"]),
                    random_.choice(["true", "false", ""]),
                    "false",
                    f'The "{about[:20]}" {about[20:]}' if number % 3 == 0 else about,
                    text(35),
                ]
            )


def write_pictures(folder: Path) -> None:
    """Pictures as large as Wikipedia's: smooth shapes with grain, most of them JPEG."""
    import numpy as np
    from PIL import Image

    for number in range(N_PICTURES):
        generator = np.random.default_rng(number)
        coarse = generator.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        smooth = np.asarray(Image.fromarray(coarse).resize((1280, 960), Image.Resampling.BICUBIC))
        grainy = smooth.astype(np.int16) + generator.integers(-12, 13, smooth.shape)
        picture = Image.fromarray(np.clip(grainy, 0, 255).astype(np.uint8))
        kind = "png" if number % 10 == 0 else "jpg"
        picture.save(folder / f"{number}.{kind}", quality=88)


# --- The ways ------------------------------------------------------------------------------------


def gzip_alone(path: Path) -> int:
    """The program gzip, into nothing."""
    subprocess.run(["gzip", "-dc", str(path)], stdout=subprocess.DEVNULL, check=True)
    return 0


def python_gzip(path: Path) -> int:
    """Python's gzip, into nothing."""
    with gzip.open(path) as file:
        while file.read(1 << 20):
            pass
    return 0


def stored(path: Path) -> int:
    """What the asset does: read, check, split off what is no row, store, in an empty warehouse."""
    from resources.corpus.tsv import TsvShard
    from resources.files.rows import staging_folder
    from resources.warehouse import TableWrite, Warehouse

    home = Path(tempfile.mkdtemp(dir=path.parent))
    # Its removal is not counted.
    atexit.register(shutil.rmtree, home)
    os.environ["LOOM_WORKSPACE"] = str(home)
    warehouse = Warehouse(home / "warehouse.duckdb")
    shard = TsvShard("bench", str(path), home)
    shard.fetch(print)
    with staging_folder("bench") as folder:
        staged = shard.stage(folder)
        of_shard = {"wit_shard": "bench"}
        warehouse.replace_all(
            [
                TableWrite("ingest.wit_rows", staged.rows, of_shard),
                TableWrite("ingest.rejected", staged.rejected, {**of_shard, "kind": "row"}),
            ]
        )
    with warehouse.kept_open():
        assert warehouse.count("ingest.wit_rows") == staged.n_rows
        assert warehouse.count("ingest.rejected") == sum(staged.reasons.values())
    return staged.n_rows + sum(staged.reasons.values())


def duckdb_reader(path: Path) -> int:
    """DuckDB's CSV reader, rejects kept, every column looked at, nothing stored."""
    import duckdb

    from methods.ingest.wit import COLUMNS

    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in COLUMNS)
    lengths = " + ".join(f"coalesce(length({name}), 0)" for name in COLUMNS)
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT count(*), sum({lengths}) FROM read_csv('{path}', delim = '\t', header = true, "
            f"quote = '\"', escape = '\"', columns = {{{columns}}}, auto_detect = false, "
            "store_rejects = true)"
        ).fetchall()
    return int(rows[0][0])


def pandas_reader(path: Path) -> int:
    """pandas.read_csv, in memory, nothing stored."""
    import pandas

    return len(pandas.read_csv(path, sep="\t", on_bad_lines="skip", low_memory=False))


def datasets_reader(path: Path) -> int:
    """`datasets`, the csv streamed, nothing stored."""
    import datasets

    rows = datasets.load_dataset(
        "csv", data_files=[str(path)], sep="\t", split="train", streaming=True
    )
    return sum(1 for _ in rows)


READERS: dict[str, Callable[[Path], int]] = {
    "gzip": gzip_alone,
    "python gzip": python_gzip,
    "stored": stored,
    "read_csv of DuckDB": duckdb_reader,
    "pandas": pandas_reader,
    "datasets": datasets_reader,
}


def decoded(folder: Path) -> float:
    """Pillow alone: every picture decoded, one after the other."""
    from PIL import Image

    pictures = [path.read_bytes() for path in sorted(folder.iterdir())]
    return timed(lambda: [Image.open(io.BytesIO(data)).load() for data in pictures])


def checked(folder: Path) -> float:
    """Every picture decoded, checked, hashed and measured, one after the other."""
    from methods.ingest.image_quality import measure_image

    pictures = [path.read_bytes() for path in sorted(folder.iterdir())]
    measure_image(pictures[0])
    return timed(lambda: [measure_image(data) for data in pictures])


def taken(folder: Path) -> float:
    """Every picture fetched over HTTP, checked, measured, stored and remembered."""
    from methods.ingest.image_filters import ImageLimits
    from resources.images.fetcher import ImageFetcher
    from resources.images.index import ImageIndex
    from resources.images.intake import ImageIntake, WantedImage
    from resources.images.store import ImageStore

    with served(folder) as address, tempfile.TemporaryDirectory(dir=folder.parent) as home:
        index = ImageIndex(Path(home) / "index.sqlite")
        intake = ImageIntake(
            ImageFetcher(allow_private=True),
            ImageStore(Path(home) / "images"),
            index,
            ImageLimits(),
            {},
        )
        urls = [f"{address}/{path.name}" for path in sorted(folder.iterdir())]
        wanted = [WantedImage(url, url) for url in urls]
        seconds = timed(lambda: [facts.image_id for _, facts in intake.take(wanted)])
        index.close()
        return seconds


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder behind an address on this machine, from a process of its own."""
    code = "import sys; from tests.bench.ingest import serve; serve(sys.argv[1])"
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(
        command, cwd=REPO_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def serve(folder: str) -> None:
    """Serve the folder until standard input is closed."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    with serving(server):
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        sys.stdin.read()


PICTURES: dict[str, Callable[[Path], float]] = {
    "Pillow decodes": decoded,
    "decode + checks": checked,
    "fetch + check + store": taken,
}


# --- Measuring -----------------------------------------------------------------------------------


def timed(work: Callable[[], object]) -> float:
    """Seconds of the work alone."""
    started = time.monotonic()
    work()
    return time.monotonic() - started


def measure(way: str, path: Path) -> None:
    """One way, here and now: prints its figures as JSON. Imports and a first call are not counted."""
    if way in PICTURES:
        figures = {"wall_s": PICTURES[way](path)}
    else:
        read = READERS[way](path.parent / WARMING)

        def work() -> None:
            nonlocal read
            read = READERS[way](path)

        figures = {"wall_s": timed(work), "rows": read}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({**figures, "peak_mib": round(peak / 1024)}))


def measured(way: str, path: Path) -> dict:
    """The figures of one way, from a process of its own."""
    command = [sys.executable, "-m", "tests.bench.ingest", "measure", way, str(path)]
    environment = {**os.environ, "HF_HOME": str(path.parent / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=REPO_ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def best_of(ways: tuple[str, ...], path: Path, rounds: int) -> dict[str, dict]:
    """The fastest round of each way; they take turns."""
    runs = [{way: measured(way, path) for way in ways} for _ in range(rounds)]
    best = {way: min((run[way] for run in runs), key=lambda row: row["wall_s"]) for way in ways}
    for way in ways:
        best[way]["all_wall_s"] = [round(run[way]["wall_s"], 3) for run in runs]
        best[way]["peak_mib"] = max(run[way]["peak_mib"] for run in runs)
    return best


def bench(rounds: int) -> dict:
    """Every figure there is."""
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as name:
        folder = Path(name)
        shards = {n_rows: folder / f"{n_rows}.tsv.gz" for n_rows in (FEW, MANY)}
        for n_rows, path in shards.items():
            print(f"writing a shard of {n_rows:,} rows ...", file=sys.stderr)
            write_shard(path, n_rows)
        write_shard(folder / WARMING, 100)
        pictures = folder / "pictures"
        pictures.mkdir()
        write_pictures(pictures)
        few = best_of(WAYS, shards[FEW], rounds)
        many = best_of(("gzip", LIMIT, "stored"), shards[MANY], 1)
        images = best_of(tuple(PICTURES), pictures, rounds)
    for rows in (few, many):
        for row in rows.values():
            row["of_unpacking"] = round(row["wall_s"] / rows[LIMIT]["wall_s"], 2)
            row["of_gzip"] = round(row["wall_s"] / rows["gzip"]["wall_s"], 2)
    for row in images.values():
        row["images_per_s"] = round(N_PICTURES / row["wall_s"], 1)
        row["of_decoding"] = round(row["wall_s"] / images["Pillow decodes"]["wall_s"], 2)
    return {
        "cores": os.cpu_count(),
        "rows": {FEW: few, MANY: many},
        "images": images,
        "datasets_of_stored": round(few["datasets"]["wall_s"] / few["stored"]["wall_s"], 2),
    }


def show(figures: dict) -> None:
    """The figures for people."""
    for n_rows, rows in figures["rows"].items():
        print(f"\nA shard of {n_rows:,} rows on {figures['cores']} cores")
        print(f"{'':24}{'s':>8}{'of Python gzip':>16}{'of gzip':>9}{'peak MiB':>10}")
        for way, row in rows.items():
            print(
                f"{way:24}{row['wall_s']:8.2f}{row['of_unpacking']:16.2f}{row['of_gzip']:9.2f}"
                f"{row['peak_mib']:10}"
            )
    print(f"\nStored {figures['datasets_of_stored']:.1f} x as fast as `datasets` reads.")
    print(f"\n{N_PICTURES} pictures of 1280 x 960")
    print(f"{'':24}{'s':>8}{'images/s':>10}{'of decoding':>13}")
    for way, row in figures["images"].items():
        print(f"{way:24}{row['wall_s']:8.2f}{row['images_per_s']:10.1f}{row['of_decoding']:13.2f}")
    print()


def main() -> None:
    """Everything; or one way in a process of its own, as the arguments say."""
    if sys.argv[1:2] == ["measure"]:
        return measure(sys.argv[2], Path(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    figures = bench(parser.parse_args().rounds)
    show(figures)
    print(json.dumps(figures))
    return None


if __name__ == "__main__":
    main()
