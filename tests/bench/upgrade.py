"""What bringing an instance to this version costs: 45,000 dialogues of the first release's form.

Run by `make bench-upgrade`. Warehouse and ledger are filled with made-up rows in the sizes of a real
instance, brought to this version, and compared with copying their files. Each way runs in a process of
its own. Prints a table, and as the last line all figures as one JSON object.
"""

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

N_DIALOGUES = 45_000
"""With nine turns each, 405,000 pairs of question and answer: about what MMDU's instruction set has."""
VERSION_2_LEDGER = 2
FILL = """
SET preserve_insertion_order = false;
CREATE MACRO hex(n) AS sha256(n::VARCHAR);
CREATE MACRO words(n, size) AS left(repeat(sha256(n::VARCHAR) || ' ', size // 65 + 1), size);
INSERT INTO ingest.entries
SELECT 'wit', hex(i), hex(i // 2), 'https://en.wikipedia.org/wiki/' || i, 'Title ' || i, 'en',
    ['Category ' || i % 5000], words(i, 120), words(i, 1500), hex(i + 7), ['animals'], 'by A',
    'CC BY-SA 4.0', NULL, 'A'
FROM range($n_entries) AS t (i);
INSERT INTO cluster.embeddings
SELECT sha256('text ' || i), 'model', 'text ' || i, [random()::FLOAT FOR _ IN range(384)]
FROM range($n_entries) AS t (i);
INSERT INTO cluster.communities
SELECT 'g' || i, 'group', NULL, hex(i), hex(i), hex(i), 30, 'run', 'model', 0.5, 2, 'exact', 'exact'
FROM range($n_entries // 30) AS t (i);
INSERT INTO cluster.clusters
SELECT hex(i), hex(i), hex(i), 'g' || i // 30, 'founded', hex(i), 0.8, 0.7, NULL, NULL,
    'c' || i // 10, CASE i % 3 WHEN 0 THEN 'founded' ELSE 'assigned' END, hex(i), 0.9, 0.8, NULL, NULL
FROM range($n_entries) AS t (i);
INSERT INTO ingest.duplicates SELECT hex(i), hex(i), 2, 3 FROM range($n_entries // 10) AS t (i);
INSERT INTO cluster.image_sets
SELECT hex(i // 3), (i // 3 % 64)::VARCHAR, 'instruction', 'c' || i // 10, i % 3 + 1, hex(i), hex(i + 7)
FROM range($n * 3) AS t (i);
INSERT INTO dialogue.questions
SELECT (i // 9 % 64)::VARCHAR, hex(i // 9), hex(i), 'multi', NULL, i % 9 + 1, words(i, 120), hex(i),
    'p@1', 'offline'
FROM range($n * 9) AS t (i);
INSERT INTO dialogue.answers
SELECT (i // 9 % 64)::VARCHAR, hex(i // 9), hex(i), words(i, 900), hex(i), 'p@1', 'offline'
FROM range($n * 9) AS t (i);
INSERT INTO dialogue.dialogues
SELECT (i % 64)::VARCHAR, hex(i), hex(i), 'instruction', [hex(i), hex(i + 1), hex(i + 2)], 3, 9,
    [{question_id: hex(9 * i + k), question: words(9 * i + k, 120), answer: words(9 * i + k, 900)}
     FOR k IN range(9)]
FROM range($n) AS t (i);
INSERT INTO dialogue.failed
SELECT '00', CASE i % 2 WHEN 0 THEN 'prompts' ELSE 'answers' END, hex(i), hex(i), 'refused', 'no', NULL
FROM range($n // 10) AS t (i);
INSERT INTO rewrite.prompts
SELECT (i // 5 % 64)::VARCHAR, hex(i // 5), hex(i), hex(i // 5), i % 5 + 1, words(i, 120),
    words(i, 120), hex(i), 'p@1', 'offline'
FROM range($n * 5) AS t (i);
INSERT INTO review.queue
SELECT dialogue_id, 'dialogue', set_id, bucket, to_json({image_ids: image_ids, turns: turns}), set_id,
    NULL, image_ids
FROM dialogue.dialogues;
INSERT INTO review.queue
SELECT 'r' || rewrite_id, 'rewrite', set_id, bucket, to_json({original: original, rewrite: rewrite}),
    set_id, NULL, []
FROM rewrite.prompts;
INSERT INTO review.queue
SELECT 's' || i, 'score', hex(i), '00', to_json({answer: words(i, 900)}), hex(i), NULL, []
FROM range($n // 10) AS t (i);
INSERT INTO release.turns
SELECT 'mmdu-1', set_id, ordinal, question, [], call_key, prompt_version FROM dialogue.questions;
INSERT INTO release.references
SELECT 'mmdu-1', set_id, ordinal, answer, a.call_key, a.prompt_version
FROM dialogue.answers AS a JOIN dialogue.questions AS q USING (set_id, question_id);
INSERT INTO evaluate.scores
SELECT 'mmdu', 'mmdu-' || i, 'm', 'j', 'offline', 'd', a, 50, 40, 60, 10, 90, 90, 0, 0
FROM range(500) AS t (i), (VALUES ('turn_mean'), ('dialogue_mean')) AS u (a);
INSERT INTO ledger.calls
SELECT hex(i), 'answered', 'offline', 'm', 'p@1',
    CASE WHEN i % 15 < 5 THEN 'rewrite.prompts' ELSE 'dialogue.answers' END, 'r', 'live', 'stop', 900,
    200, 0, 1, 1, '2026-01-01T00:00:00Z'
FROM range($n * 15) AS t (i);
"""


def fill_warehouse(path: Path, n: int) -> int:
    """A warehouse of version 1 with `n` dialogues; its number of rows."""
    import duckdb

    from resources.migrations import migrations
    from resources.warehouse_schema import MIGRATIONS

    with duckdb.connect(str(path)) as connection:
        connection.execute(migrations(MIGRATIONS)[0].text())
        connection.execute("CREATE TABLE main.schema_version AS SELECT 'a hash' AS version")
        values = {"n": n, "n_entries": max(n * 3, 30)}
        for statement in connection.extract_statements(FILL):
            needed = {name: values[name] for name in statement.named_parameters}
            connection.execute(statement, needed or None)
        connection.execute("DROP MACRO words")
        connection.execute("DROP MACRO hex")
        sizes = connection.execute("SELECT sum(estimated_size) FROM duckdb_tables()").fetchone()
    assert sizes
    return int(sizes[0])


def fill_ledger(path: Path, n: int) -> int:
    """A ledger of version 2 with the calls behind `n` dialogues; their number."""
    from resources.llm.ledger.file import LedgerFile

    folder = LedgerFile.SCHEMA[0].with_name("migrations")
    step = next(folder.glob("0002_*.sql")).read_text()
    tables = step[step.index("CREATE TABLE") : step.index("INSERT INTO calls")]
    request = os.urandom(700)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(tables)
        connection.executemany(
            "INSERT INTO calls (key, provider, model, prompt_version, stage, run, via, finish_reason, "
            "prompt_tokens, completion_tokens, cost_usd, seconds, attempts, created_at, response, "
            "request) VALUES (?, 'p', 'm', 'v', ?, 'r', 'live', 'stop', 9, 9, 0, 1, 1, 't', ?, ?)",
            (
                (
                    f"{number:064x}",
                    "rewrite.prompts" if number % 15 < 5 else "dialogue.answers",
                    "answer " * 100,
                    request,
                )
                for number in range(n * 15)
            ),
        )
        connection.execute(f"PRAGMA user_version = {VERSION_2_LEDGER}")
    return n * 15


def copy(path: Path) -> None:
    """The file once more, on disk."""
    target = path.with_suffix(".copy")
    shutil.copyfile(path, target)
    with target.open("rb+") as file:
        os.fsync(file.fileno())
    target.unlink()


def upgrade(path: Path) -> None:
    """The file brought to this version."""
    if path.suffix == ".duckdb":
        from resources.warehouse import Warehouse

        Warehouse(path).check()
    else:
        from resources.llm.ledger import Ledger

        Ledger(path).close()


WAYS = {"copy": copy, "upgrade": upgrade}


def measure(way: str, path: Path) -> None:
    """One way, here and now: prints its figures as JSON."""
    started = time.monotonic()
    WAYS[way](path)
    seconds = time.monotonic() - started
    # Not getrusage: it counts what the parent held when it started this process.
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0])
    print(json.dumps({"wall_s": round(seconds, 2), "peak_mib": round(peak / 1024)}))


def measured(way: str, path: Path) -> dict:
    """The figures of one way, from a process of its own."""
    command = [sys.executable, "-m", "tests.bench.upgrade", "measure", way, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def bench(n: int) -> dict:
    """Every figure there is."""
    from resources.warehouse import Warehouse

    figures: dict = {"dialogues": n, "cores": os.cpu_count(), "stores": {}}
    with tempfile.TemporaryDirectory(prefix="vlm-loom-bench-") as name:
        for file, fill in (("warehouse.duckdb", fill_warehouse), ("ledger.sqlite", fill_ledger)):
            path = Path(name) / file
            print(f"filling {file} ...", file=sys.stderr)
            rows = fill(path, n)
            row = {"rows": rows, "mib": round(path.stat().st_size / 2**20)}
            row |= {way: measured(way, path) for way in ("copy", "upgrade")}
            figures["stores"][file] = row
        warehouse = Warehouse(Path(name) / "warehouse.duckdb")
        found = {table: warehouse.count(table) for table in ("rewrite.rewrites", "review.queue")}
        assert found == {"rewrite.rewrites": 5 * n, "review.queue": 6 * n}, found
        assert warehouse.count("evaluate.score_queue") == n // 10
    return figures


def show(figures: dict) -> None:
    """The figures for people."""
    print(f"{figures['dialogues']:,} dialogues, {9 * figures['dialogues']:,} pairs\n")
    print(f"{'store':<18} {'rows':>11} {'MiB':>6}  {'way':<8} {'seconds':>8} {'peak MiB':>9}")
    for file, row in figures["stores"].items():
        for way in WAYS:
            print(
                f"{file:<18} {row['rows']:>11,} {row['mib']:>6}  {way:<8} "
                f"{row[way]['wall_s']:>8.2f} {row[way]['peak_mib']:>9}"
            )


def main() -> None:
    """Fill, copy, upgrade; print the table and the JSON."""
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=int, default=N_DIALOGUES)
    figures = bench(parser.parse_args().dialogues)
    show(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
