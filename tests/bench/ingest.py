"""What ingestion costs: a WIT shard stored, against unpacking alone and other readers; and images.

Run by `make bench NAME=ingest`. Every figure is taken in a process of its own, the ways take turns, and
the fastest round of each counts. Prints tables, and as the last line all figures as one JSON object.
"""

import atexit
import gzip
import io
import itertools
import json
import os
import random
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.bench import measuring
from tests.bench.measuring import Row
from tests.doubles.serving import serving_folder

FEW, MANY = 200_000, 1_000_000
WARMING = "warming.tsv.gz"
"""A shard of a few rows, which every way reads first."""
ONE_IN_BROKEN = 1_000
N_PICTURES = 200
LIMIT = "python gzip"
"""The faster of the two that only unpack; everything is measured against it."""
OF_MANY = ("gzip", LIMIT, "stored")


# --- What is read --------------------------------------------------------------------------------


def write_shard(path: Path, n_rows: int) -> None:
    """A WIT shard of about 1.1 KB of text a row; a third of the rows have quotes, a few are cut."""
    import csv

    from methods.ingest.wit import COLUMNS

    print(f"writing a shard of {n_rows:,} rows ...", file=sys.stderr)
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
            page = f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}_{number}"
            image = f"https://upload.wikimedia.org/wikipedia/commons/a/ab/{number}.jpg"
            titles = [title, text(2), text(4)]
            captions = [text(12) if number % 2 else "", text(15), text(8) if number % 3 else ""]
            size = [random_.randint(100, 5000), random_.randint(100, 5000)]
            marks = [random_.choice(["true", "false"]), random_.choice(["true", "false", ""])]
            quoted = f'The "{about[:20]}" {about[20:]}' if number % 3 == 0 else about
            language = random_.choice(["en", "en", "de", "fr"])
            writer.writerow(
                [language, page, image, *titles, *captions, "image/jpeg", *size, *marks]
                + ["false", quoted, text(35)]
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


def serve(folder: str) -> None:
    with serving_folder(Path(folder), "HTTP/1.1") as address:
        print(address, flush=True)
        sys.stdin.read()


# --- Readers of a shard: the number of its rows ------------------------------------------------------


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
    LIMIT: python_gzip,
    "stored": stored,
    "read_csv of DuckDB": duckdb_reader,
    "pandas": pandas_reader,
    "datasets": datasets_reader,
}


# --- Ways with pictures: each is made ready, and measured by what it returns ------------------------


def decoded(folder: Path) -> Callable[[], object]:
    """Pillow alone: every picture decoded, one after the other."""
    from PIL import Image

    pictures = [path.read_bytes() for path in sorted(folder.iterdir())]
    return lambda: [Image.open(io.BytesIO(data)).load() for data in pictures]


def checked(folder: Path) -> Callable[[], object]:
    """Every picture decoded, checked, hashed and measured, one after the other."""
    from methods.ingest.image_quality import measure_image

    pictures = [path.read_bytes() for path in sorted(folder.iterdir())]
    measure_image(pictures[0])
    return lambda: [measure_image(data) for data in pictures]


def taken(folder: Path) -> Callable[[], object]:
    """Every picture fetched over HTTP, checked, measured, stored and remembered."""
    from methods.ingest.image_filters import ImageLimits
    from resources.images.fetcher import ImageFetcher
    from resources.images.index import ImageIndex
    from resources.images.intake import ImageIntake, WantedImage
    from resources.images.store import ImageStore

    home = Path(tempfile.mkdtemp(dir=folder.parent))
    stack = ExitStack()
    atexit.register(stack.close)
    address = measuring.address_of(
        stack.enter_context(measuring.served(__spec__.name, str(folder)))
    )
    index, store = ImageIndex(home / "index.sqlite"), ImageStore(home / "images")
    intake = ImageIntake(ImageFetcher(allow_private=True), store, index, ImageLimits(), {})
    urls = [f"{address}/{path.name}" for path in sorted(folder.iterdir())]
    wanted = [WantedImage(url, url) for url in urls]
    return lambda: [facts.image_id for _, facts in intake.take(wanted)]


PICTURES: dict[str, Callable[[Path], Callable[[], object]]] = {
    "Pillow decodes": decoded,
    "decode + checks": checked,
    "fetch + check + store": taken,
}


# --- Measuring -----------------------------------------------------------------------------------


def measure(way: str, path: str) -> Row:
    """The figures of one way, here and now. Imports and a first call are not counted."""
    stages: dict[str, Row] = {}
    if way in PICTURES:
        work = PICTURES[way](Path(path))
    else:
        READERS[way](Path(path).parent / WARMING)
        work = partial(READERS[way], Path(path))
    with measuring.stage(stages, way):
        work()
    return stages[way]


def bench(rounds: int) -> Row:
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as name:
        folder = Path(name)
        cache = {"HF_HOME": f"{name}/hf", "HF_HUB_OFFLINE": "1"}
        pictures = folder / "pictures"
        pictures.mkdir()
        write_pictures(pictures)
        write_shard(folder / WARMING, 100)

        def best(ways: tuple[str, ...], path: Path, rounds: int) -> dict[str, Row]:
            return measuring.best_of(
                ways, rounds, lambda way: measuring.figures_of(__spec__.name, way, path, **cache)
            )

        shards = {}
        for n_rows, ways, n_rounds in ((FEW, tuple(READERS), rounds), (MANY, OF_MANY, 1)):
            path = folder / f"{n_rows}.tsv.gz"
            write_shard(path, n_rows)
            shards[n_rows] = best(ways, path, n_rounds)
        images = best(tuple(PICTURES), pictures, rounds)
    for rows in shards.values():
        for row in rows.values():
            row["of_unpacking"] = round(row["wall_s"] / rows[LIMIT]["wall_s"], 2)
            row["of_gzip"] = round(row["wall_s"] / rows["gzip"]["wall_s"], 2)
    for row in images.values():
        row["images_per_s"] = round(N_PICTURES / row["wall_s"], 1)
        row["of_decoding"] = round(row["wall_s"] / images["Pillow decodes"]["wall_s"], 2)
    few = shards[FEW]
    return {
        "cores": os.cpu_count(),
        "rows": shards,
        "images": images,
        "datasets_of_stored": round(few["datasets"]["wall_s"] / few["stored"]["wall_s"], 2),
    }


def main() -> None:
    if measuring.is_part(serve=serve, measure=measure):
        return
    figures = bench(measuring.options(__doc__, rounds=3).rounds)
    for n_rows, rows in figures["rows"].items():
        title = f"A shard of {n_rows:,} rows on {figures['cores']} cores"
        measuring.print_table(title, rows, ["wall_s", "of_unpacking", "of_gzip", "peak_mib"])
    print(f"\nStored {figures['datasets_of_stored']:.1f} x as fast as `datasets` reads.")
    title = f"{N_PICTURES} pictures of 1280 x 960"
    measuring.print_table(title, figures["images"], ["wall_s", "images_per_s", "of_decoding"])
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
