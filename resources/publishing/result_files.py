"""Results of a release as files: tables, images, and OpenVLM's leaderboard file."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from methods.benchmarks import BENCHMARKS
from methods.errors import UserError
from methods.json_text import to_json
from methods.naming import listed, nearest
from methods.release_card import Card, benchmark_of, card_of
from methods.results.open_vlm import BOARD_METRICS, lacking, open_vlm
from methods.results.shapes import planes, radars
from methods.results.tables import LeaderboardData, boards, tables
from methods.results.texts import all_in_words, latex, markdown
from methods.spreadsheet_cells import marked
from resources.files.atomic import write_atomically
from resources.reports import figures
from resources.reports.charts import (
    differences_figure,
    paper_figures,
    plane_figure,
    radar_figure,
    scores_figure,
)
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = "methods.txt"
SUBMISSION = "submission"
"""The kind of files that have answers, and no scores."""
OPEN_VLM = "openvlm"
"""The kind of file that has the numbers of another board."""
QUERIES = {
    "leaderboard": "evaluate/board_of",
    "pairs": "evaluate/board_pairs_of",
    "slices": "evaluate/board_slices_of",
    "metrics": "evaluate/board_metrics_of",
}


class ResultError(UserError):
    """Results cannot be written as asked; the message says what to do."""


class ReleaseResults(NamedTuple):
    """The scores of one release: a table for each of `QUERIES`."""

    leaderboard: pa.Table
    pairs: pa.Table
    slices: pa.Table
    metrics: pa.Table

    def boards(self) -> list[LeaderboardData]:
        """What each judge, under each version, says."""
        return boards(*(table.to_pylist() for table in self))


def read_results(warehouse: Warehouse, release_id: str) -> ReleaseResults:
    """The scores of a release. Raises ResultError where it has none."""
    where = {"release_id": release_id}
    results = ReleaseResults(*(warehouse.read(query, where) for query in QUERIES.values()))
    if not results.leaderboard.num_rows:
        if warehouse.select(
            "release.releases", "release_id", release_id=release_id, kind="instruction"
        ).num_rows:
            raise ResultError(
                f"{release_id} is an instruction set: models are trained on these, not evaluated, so "
                "it has no scores."
            )
        raise ResultError(f"{release_id} has no scores yet: run vlm-loom run evaluate.")
    return results


def require_kind(kind: str) -> None:
    """Raise ResultError unless results are written as this."""
    kinds = (*KINDS, OPEN_VLM, SUBMISSION)
    if kind not in kinds:
        if not kind:
            raise ResultError(f"No format given. Pass --as with one of {', '.join(kinds)}.")
        raise ResultError(f"Results are not written as {kind!r}; {nearest(kind, kinds)}.")


def write_results(
    results: ReleaseResults,
    kind: str,
    folder: Path,
    card: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> list[Path]:
    """Write the files of a kind, and how the scores were made in words; earlier ones are replaced.

    Raises ResultError where the folder cannot be made or written into.
    """
    words = all_in_words(results.leaderboard.to_pylist(), results.pairs.to_pylist(), card, settings)
    files = {**dict(KINDS[kind](results, {**card, **settings})), METHODS: words.encode()}
    return write_files(folder, files.items())


def write_files(folder: Path, files: Iterable[tuple[str, bytes]]) -> list[Path]:
    """Write files into a folder; their paths. Raises ResultError where that cannot be."""
    written = []
    try:
        for name, data in files:
            write_atomically(folder / name, data)
            written.append(folder / name)
    except OSError as error:
        raise ResultError(
            f"Results cannot be written into {folder} ({error.strerror}): give another folder with "
            "--to."
        ) from error
    return written


# --- For programs --------------------------------------------------------------------------------


def _csv(results: ReleaseResults, _: Card) -> Iterator[tuple[str, bytes]]:
    for name, table in zip(QUERIES, results, strict=True):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow(
                [marked(cell) if isinstance(cell, str) else cell for cell in row.values()]
            )
        yield f"{name}.csv", text.getvalue().encode()


def _parquet(results: ReleaseResults, _: Card) -> Iterator[tuple[str, bytes]]:
    import pyarrow.parquet as pq

    for name, table in zip(QUERIES, results, strict=True):
        data = io.BytesIO()
        pq.write_table(table, data)
        yield f"{name}.parquet", data.getvalue()


def _json(results: ReleaseResults, _: Card) -> Iterator[tuple[str, bytes]]:
    named = {name: table.to_pylist() for name, table in zip(QUERIES, results, strict=True)}
    yield "results.json", (to_json(named, indent=1) + "\n").encode()


# --- For papers ----------------------------------------------------------------------------------


def _latex(results: ReleaseResults, _: Card) -> Iterator[tuple[str, bytes]]:
    for number, board in enumerate(results.boards(), start=1):
        for table in tables(board, number):
            yield f"{table.name}.tex", latex(table).encode()


def _markdown(results: ReleaseResults, _: Card) -> Iterator[tuple[str, bytes]]:
    texts = [
        markdown(table)
        for number, board in enumerate(results.boards(), start=1)
        for table in tables(board, number)
    ]
    yield "results.md", "\n".join(texts).encode()


def _pictures(
    ending: str, drawn: Callable[[Any], bytes]
) -> Callable[[ReleaseResults, Card], Iterator[tuple[str, bytes]]]:
    def write(results: ReleaseResults, _: Card) -> Iterator[tuple[str, bytes]]:
        for number, board in enumerate(results.boards(), start=1):
            suffix = "" if number == 1 else f"-{number}"
            for name, figure in _figures(board):
                yield f"{name}{suffix}.{ending}", drawn(figure)

    return write


KINDS: Mapping[str, Callable[[ReleaseResults, Card], Iterator[tuple[str, bytes]]]] = {
    "csv": _csv,
    "parquet": _parquet,
    "json": _json,
    "latex": _latex,
    "markdown": _markdown,
    "svg": _pictures("svg", figures.svg),
    "png": _pictures("png", figures.png),
    "pdf": _pictures("pdf", figures.pdf),
}
"""What scores are written as; each gives the names of files and what is in them, of the scores and of
what the release's card and the settings say."""


def _figures(board: LeaderboardData) -> Iterator[tuple[str, "Figure"]]:
    """The figures of a board with their names: scores, differences, radars, quadrants."""
    yield "leaderboard", scores_figure(board)
    if board.pairs:
        yield "pairs", differences_figure(board)
    benchmark = BENCHMARKS.get(board.models[0]["benchmark"] or "")
    for radar in radars(board, benchmark):
        yield from paper_figures(radar.name, len(radar.lines), partial(radar_figure, radar))
    for plane in planes(board, benchmark):
        yield from paper_figures(plane.name, len(plane.points), partial(plane_figure, plane))


def write_open_vlm(
    warehouse: Warehouse, release: Mapping[str, Any], made_at: str | None, folder: Path
) -> tuple[list[Path], list[str]]:
    """Write `openvlm.json`, with a number for each further judge or version of its judging.

    Args:
        warehouse: The tables of the scores.
        release: A row of `release.releases`.
        made_at: The time of the scores, ISO 8601; the release's time if it is not known.
        folder: Where the files are written; it is made if it does not exist.

    Returns:
        The files, and sentences on what the numbers are.

    Raises:
        ResultError: VLMEvalKit has no score of the benchmark, the metric is not stored for a model, no
            model is scored, or the folder cannot be written.
    """
    card = card_of(release)
    release_id: str = card["release_id"]
    benchmark = benchmark_of(card) or "none"
    metric = BOARD_METRICS.get(benchmark)
    if metric is None:
        raise ResultError(
            f"{release_id}: VLMEvalKit computes no score of the benchmark {benchmark}, only of "
            f"{', '.join(BOARD_METRICS)}. Write the scores with --as json."
        )
    rows = warehouse.read("evaluate/open_vlm_scores_of", {"release_id": release_id}).to_pylist()
    named = f"{metric.name}/{metric.aggregation}"
    if without := lacking(rows, metric):
        raise ResultError(
            f"{release_id}: the score {named}, which VLMEvalKit computes, is not stored for "
            f"{listed(without)}. Score the release again with vlm-loom run evaluate."
        )
    time = f"{datetime.fromisoformat(made_at or card['created_at']):%y%m%d%H%M%S}"
    files = []
    for number, (_, scores) in enumerate(
        groupby(rows, itemgetter("judge", "judge_version")), start=1
    ):
        document = open_vlm(scores, metric, card, time)
        if document["results"]:
            suffix = "" if number == 1 else f"-{number}"
            files.append(
                (f"openvlm{suffix}.json", (json.dumps(document, indent=1) + "\n").encode())
            )
    if not files:
        raise ResultError(
            f"{release_id} has no scores of models yet. Score it with vlm-loom run evaluate."
        )
    rule = "turns without a grade as 0" if metric.lost_are_zero else "letters read by its rules"
    return write_files(folder, files), [
        f"The numbers are {named}, as VLMEvalKit computes them ({rule}); baselines are left out."
    ]
