"""Results of a release as files: CSV, Parquet, JSON, LaTeX, Markdown, figures, OpenVLM leaderboard."""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from methods.benchmarks import BENCHMARKS
from methods.delimited import csv_line
from methods.errors import UserError
from methods.evaluation.candidates import is_model
from methods.json_text import to_json
from methods.naming import listed, nearest, unique_names
from methods.release_card import benchmark_of, card_of
from methods.release_items import items_of_release
from methods.results.latex_and_markdown import latex, markdown
from methods.results.methods_paragraph import (
    CallSettings,
    EvaluationCalls,
    citations,
    methods_paragraph,
)
from methods.results.open_vlm import BOARD_METRICS, models_without_score, open_vlm
from methods.results.release_tables import release_tables
from methods.results.results_table import FLOOR, GROUP_ANALYSES, JudgeResults, MetricKey, by_judge
from methods.results.shapes import planes, radars
from methods.results.table_cells import ResultTable
from methods.results.tables import tables
from methods.spreadsheet_cells import mark_formula
from resources.files.atomic import write_atomically
from resources.llm.ledger import Call, Ledger
from resources.publishing.release_counts import release_counts
from resources.publishing.releases import rows_of_release
from resources.reports import figures
from resources.reports.charts import (
    differences_figure,
    in_widths,
    paper_figures,
    plane_figure,
    radar_figure,
    scores_figure,
)
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS, CITATIONS = "methods.txt", "citations.bib"
SUBMISSION = "submission"
"""The kind of a file with answers and without scores (`submission_files.py`)."""
OPEN_VLM = "openvlm"
"""The kind of a file with scores for OpenVLM's leaderboard (`openvlm.json`)."""
_OF_JUDGE = ("judge", "judge_version", "metric", "aggregation")
_ESTIMATE = ("value", "ci_low", "ci_high")
COLUMNS = {
    "leaderboard": (
        *("benchmark", "release_id", *_OF_JUDGE, "model", "label", "rank", "rank_low", "rank_high"),
        *(*_ESTIMATE, "judged_only", "coverage", "why", "n_items", "n_turns"),
        *("n_judged", "n_failed", "n_refused", "n_truncated", "n_reasoning_only", "n_empty"),
        *("n_clusters", "method", "seed", "provider"),
        *("access", "parameters", "backbone", "main_language", "trained_on", "reference_rank"),
        "settings",
    ),
    "pairs": (
        *("release_id", *_OF_JUDGE, "first", "second", "difference", "ci_low", "ci_high"),
        *("p", "p_holm", "detectable", "n_units", "n_clusters", "method", "seed"),
    ),
    "slices": (
        *("release_id", *_OF_JUDGE, "subset_label", "subset_value", "model", "label", *_ESTIMATE),
        *("n_clusters", "method", "seed", "n_units", "n_items", "n_turns"),
    ),
    "metrics": (
        *("release_id", *_OF_JUDGE, "place", "model", "label", *_ESTIMATE, "n_units"),
        *("n_clusters", "method"),
    ),
    "findings": (
        *("analysis", "release_id", *_OF_JUDGE, "subset_label", "subset_value", "measure"),
        *("subject", "other", "unit", *_ESTIMATE, "p", "p_holm", "n", "n_clusters", "method"),
        "reason",
    ),
    "training": (
        *("release_id", *_OF_JUDGE, "before", "after", "trained_on", "value_before"),
        *("value_after", "difference", "ci_low", "ci_high", "p", "p_holm", "n_units"),
        *("n_clusters", "method"),
    ),
    "counts": ("release_id", "name", "value", "n", "unit"),
}
"""The columns of the CSV, Parquet and JSON files. `settings` becomes one column per setting."""
COUNTS = pa.schema(
    [(name, pa.int64() if name == "n" else pa.string()) for name in COLUMNS["counts"]]
)
SETTINGS = (
    *("temperature", "top_p", "seed", "stop", "reasoning", "max_tokens", "extra_body", "prompt"),
    *("context_policy", "max_images", "many_images", "max_side", "detail", "server", "model"),
    "version",
)
"""The request settings of a model: the keys of `settings` in `evaluate.candidates`."""
NAMES = {"leaderboard": {"release_id": "release", "why": "why_no_rank"}}
"""Columns that have another name in a file than in the results."""


class ResultError(UserError):
    """Results cannot be written as requested; the message says what to do."""


class ReleaseResults(NamedTuple):
    """The results of one release. `findings` has those of all analyses, `counts` counts its items."""

    scores: pa.Table
    differences: pa.Table
    findings: pa.Table
    training: pa.Table
    counts: pa.Table

    def by_judge(self) -> list[JudgeResults]:
        """Group the results by judge and version of the judge."""
        scores = self.scores.to_pylist()
        benchmark = BENCHMARKS.get(scores[0]["benchmark"] or "")
        return by_judge(
            scores,
            benchmark.label_metrics if benchmark else None,
            {metric.name: metric.decimals for metric in benchmark.metrics} if benchmark else None,
            differences=self.differences.to_pylist(),
            groups=[row for row in self.findings.to_pylist() if row["analysis"] in GROUP_ANALYSES],
            training=self.training.to_pylist(),
        )


def read_results(warehouse: Warehouse, release_id: str) -> ReleaseResults:
    """Read the scores of a release.

    Args:
        warehouse: The tables.
        release_id: The id of the release.

    Returns:
        Scores, comparisons, the findings of all analyses, and the counts of items.

    Raises:
        ResultError: The release has no scores.
    """
    results = ReleaseResults(
        warehouse.read("evaluate/results_of", {"release_id": release_id}),
        warehouse.select(
            "evaluate.comparisons",
            order="judge, judge_version, metric, aggregation, first, second",
            release_id=release_id,
            form=FLOOR,
        ),
        warehouse.select("evaluate.findings", order="analysis, place", release_id=release_id),
        warehouse.select("evaluate.training_effects", release_id=release_id),
        _counts(warehouse, release_id),
    )
    if not results.scores.num_rows:
        if warehouse.select(
            "release.releases", "release_id", release_id=release_id, kind="instruction"
        ).num_rows:
            raise ResultError(
                f"{release_id} is an instruction set: models are trained on these, not evaluated, so "
                "it has no scores."
            )
        raise ResultError(f"{release_id} has no scores yet: run vlm-loom run evaluate.")
    return results


def _counts(warehouse: Warehouse, release_id: str) -> pa.Table:
    """Count the items or questions of the release by kind, label and class of tokens."""
    items = items_of_release(rows_of_release(warehouse, release_id))
    rows = [
        {"release_id": release_id, "name": counts.name, "value": value, "n": n, "unit": counts.per}
        for counts in release_counts(warehouse, release_id, items)
        for value, n in counts.counts
    ]
    return pa.Table.from_pylist(rows, COUNTS)


def read_calls(warehouse: Warehouse, ledger: Ledger, release_id: str) -> EvaluationCalls:
    """Read the settings, dates and versions of the model calls behind the scores of a release.

    Args:
        warehouse: The tables.
        ledger: The model calls.
        release_id: The id of the release.
    """
    rows = warehouse.read("evaluate/calls_behind", {"release_id": release_id}).to_pylist()
    rows = [row for row in rows if is_model(row["candidate"])]
    roles: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        if row["call_key"]:
            roles.setdefault(row["call_key"], set()).add((row["role"], row["asked"]))
    sent: dict[tuple[str, str], dict[_CallFacts, None]] = {}
    for call in ledger.calls(list(roles)):
        for role in roles[call.key]:
            sent.setdefault(role, {})[_CallFacts.from_call(call)] = None
    readers = Counter(row["asked"] for row in rows if row["role"] == "reader")
    return EvaluationCalls(
        [_settings(*role, list(facts)) for role, facts in sorted(sent.items())],
        dict(sorted(readers.items())),
    )


class _CallFacts(NamedTuple):
    """The facts of a call that the methods paragraph states."""

    day: str
    temperature: float | None
    limit: int | None
    served_as: str
    prompt: str

    @classmethod
    def from_call(cls, call: Call) -> "_CallFacts":
        request: Mapping[str, Any] = call.request
        params = request["params"]
        return cls(
            call.created_at[:10],
            params.get("temperature"),
            params.get("max_tokens") or params.get("max_completion_tokens"),
            call.answered_as or request["model"],
            request["prompt_version"],
        )


def _settings(role: str, name: str, calls: Sequence[_CallFacts]) -> CallSettings:
    return CallSettings(
        role,
        name,
        list(dict.fromkeys(call.temperature for call in calls)),
        list(dict.fromkeys(call.limit for call in calls)),
        sorted({call.served_as for call in calls} - {name}),
        sorted({call.prompt for call in calls}),
        min(call.day for call in calls),
        max(call.day for call in calls),
    )


def require_kind(kind: str) -> None:
    """Raise ResultError unless `kind` is a format of results."""
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
    version: str | None,
    calls: EvaluationCalls,
    averages: Mapping[MetricKey, str],
) -> list[Path]:
    """Write the results in one format, with a methods paragraph (`methods.txt`) and
    citations (`citations.bib`).

    Args:
        results: The results of the release.
        kind: One of `KINDS`.
        folder: The folder of the files; earlier files are replaced.
        card: The card of the release.
        version: The version of vlm-loom, if it is known.
        calls: The calls behind the scores.
        averages: What the number of each metric is an average of (`Metric.in_words`).

    Raises:
        ResultError: The folder cannot be made or written into.
    """
    paragraphs = [
        methods_paragraph(of_judge, card, version, calls, averages)
        for of_judge in results.by_judge()
    ]
    files = [
        *KINDS[kind](results),
        (METHODS, ("\n\n".join(paragraphs) + "\n").encode()),
        (CITATIONS, citations(card, _methods(results)).encode()),
    ]
    return write_files(folder, files)


def _methods(results: ReleaseResults) -> set[str]:
    """Collect the names of the methods behind the intervals and tests of a release."""
    tables = (results.scores, results.differences, results.findings)
    return {method for table in tables for method in table["method"].to_pylist() if method}


def write_files(folder: Path, files: Iterable[tuple[str, bytes]]) -> list[Path]:
    """Write files into a folder.

    Args:
        folder: The folder.
        files: The name and content of each file. No two have the same name.

    Returns:
        The paths of the files.

    Raises:
        ResultError: The folder cannot be written.
    """
    written: list[Path] = []
    try:
        for name, data in files:
            path = folder / name
            assert path not in written, f"two files of {folder} have the name {name}"
            write_atomically(path, data)
            written.append(path)
    except OSError as error:
        raise ResultError(
            f"Results cannot be written into {folder} ({error.strerror}): give another folder with "
            "--to."
        ) from error
    return written


# --- For programs --------------------------------------------------------------------------------


def _tables(results: ReleaseResults) -> Iterator[tuple[str, pa.Table]]:
    """Yield the name and the rows of each file, with the column types of the tables."""
    judges = results.by_judge()
    rows = {
        "leaderboard": [row for of_judge in judges for row in of_judge.models],
        "pairs": [row for of_judge in judges for row in of_judge.pairs(of_judge.leading).values()],
        "slices": [row for of_judge in judges for row in of_judge.slices],
        "metrics": [row for of_judge in judges for row in of_judge.metrics],
        "findings": results.findings.to_pylist(),
        "training": [row for of_judge in judges for row in of_judge.training],
        "counts": results.counts.to_pylist(),
    }
    tables_of = {**results._asdict(), "pairs": results.differences}
    for name, columns in COLUMNS.items():
        table = tables_of.get(name, results.scores)
        schema = pa.schema([table.schema.field(column) for column in columns])
        names = NAMES.get(name, {})
        named = pa.Table.from_pylist(rows[name], schema).rename_columns(
            [names.get(column, column) for column in columns]
        )
        yield name, _with_settings(named) if "settings" in columns else named


def _with_settings(table: pa.Table) -> pa.Table:
    """Replace the column with the map of all settings by one column per setting."""
    settings = [dict(of_model or ()) for of_model in table["settings"].to_pylist()]
    table = table.drop_columns("settings")
    for name in SETTINGS:
        values = pa.array([of_model.get(name) for of_model in settings], pa.string())
        table = table.append_column(f"setting_{name}", values)
    return table


def _csv(results: ReleaseResults) -> Iterator[tuple[str, bytes]]:
    for name, table in _tables(results):
        rows = (
            [mark_formula(cell) if isinstance(cell, str) else cell for cell in row.values()]
            for row in table.to_pylist()
        )
        lines = map(csv_line, [table.column_names, *rows])
        yield f"{name}.csv", "".join(lines).encode()


def _parquet(results: ReleaseResults) -> Iterator[tuple[str, bytes]]:
    import pyarrow.parquet as pq

    for name, table in _tables(results):
        data = io.BytesIO()
        pq.write_table(table, data)
        yield f"{name}.parquet", data.getvalue()


def _json(results: ReleaseResults) -> Iterator[tuple[str, bytes]]:
    named = {name: table.to_pylist() for name, table in _tables(results)}
    yield "results.json", (to_json(named, indent=1) + "\n").encode()


# --- For papers ----------------------------------------------------------------------------------


def _for_papers(results: ReleaseResults) -> Iterator[ResultTable]:
    """Yield the tables of each judge, then those of the release, with unique names."""
    judges = results.by_judge()
    counts, findings = results.counts.to_pylist(), results.findings.to_pylist()
    labels = {model: label for of_judge in judges for model, label in of_judge.labels.items()}
    all_tables = [
        *(table for place, judge in enumerate(judges, start=1) for table in tables(judge, place)),
        *release_tables(judges[0].release_id, counts, findings, labels),
    ]
    for table, name in zip(
        all_tables, unique_names(table.name for table in all_tables), strict=True
    ):
        yield replace(table, name=name)


def _latex(results: ReleaseResults) -> Iterator[tuple[str, bytes]]:
    for table in _for_papers(results):
        yield f"{table.name}.tex", latex(table).encode()


def _markdown(results: ReleaseResults) -> Iterator[tuple[str, bytes]]:
    yield "results.md", "\n".join(map(markdown, _for_papers(results))).encode()


def _pictures(
    ending: str, render: Callable[[Any], bytes]
) -> Callable[[ReleaseResults], Iterator[tuple[str, bytes]]]:
    def write(results: ReleaseResults) -> Iterator[tuple[str, bytes]]:
        for number, of_judge in enumerate(results.by_judge(), start=1):
            suffix = "" if number == 1 else f"-{number}"
            for name, figure in _figures(of_judge):
                yield f"{name}{suffix}.{ending}", render(figure)

    return write


KINDS: Mapping[str, Callable[[ReleaseResults], Iterator[tuple[str, bytes]]]] = {
    "csv": _csv,
    "parquet": _parquet,
    "json": _json,
    "latex": _latex,
    "markdown": _markdown,
    "svg": _pictures("svg", figures.svg),
    "png": _pictures("png", figures.png),
    "pdf": _pictures("pdf", figures.pdf),
}
"""The formats of results. Each function yields the name and the content of its files."""


def _figures(results: JudgeResults) -> Iterator[tuple[str, "Figure"]]:
    """Yield the named figures of a judge's results: scores, differences, radars, quadrants."""
    yield from in_widths("leaderboard", partial(scores_figure, results))
    if results.pairs(results.leading):
        yield from in_widths("pairs", partial(differences_figure, results))
    benchmark = BENCHMARKS.get(results.scores[0]["benchmark"] or "")
    for radar in radars(results, benchmark):
        yield from paper_figures(radar.name, len(radar.lines), partial(radar_figure, radar))
    for plane in planes(results, benchmark):
        yield from paper_figures(plane.name, len(plane.points), partial(plane_figure, plane))


def write_open_vlm(
    warehouse: Warehouse, release: Mapping[str, Any], made_at: str | None, folder: Path
) -> tuple[list[Path], list[str]]:
    """Write `openvlm.json`; further judges or judge versions get `openvlm-2.json` and so on.

    Args:
        warehouse: The tables of the scores.
        release: A row of `release.releases`.
        made_at: The time of the scores, ISO 8601; the release's time if it is not known.
        folder: The folder of the files; it is made if it does not exist.

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
    rows = warehouse.read("evaluate/results_of", {"release_id": release_id}).to_pylist()
    named = f"{metric.name}/{metric.aggregation}"
    if without := models_without_score(rows, metric):
        raise ResultError(
            f"{release_id}: the score {named}, which VLMEvalKit computes, is not stored for "
            f"{listed(without)}. Score the release again with vlm-loom run evaluate."
        )
    time = f"{datetime.fromisoformat(made_at or card['created_at']):%y%m%d%H%M%S}"
    files = []
    for number, of_judge in enumerate(by_judge(rows), start=1):
        document = open_vlm(of_judge.scores, metric, card, time)
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
