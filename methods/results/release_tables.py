"""Result tables of a release that do not depend on one judge: item counts, letters by pass, quality of
answer extraction, agreement of judges.
"""

from collections.abc import Iterator, Mapping, Sequence

from methods.evaluation.statistics.estimates import LEAST_CLUSTERS
from methods.naming import decimal_text
from methods.results.results_table import Row, in_name
from methods.results.table_cells import (
    ResultTable,
    TableCell,
    interval_text,
    number_cell,
    own_clusters_cell,
)

READING, JUDGING = "extraction_quality", "judge_quality"
SHARES = {"read": "Read", "none": "Read as no choice", "unread": "Not read"}
"""Measures that are shares of answers, and their names in the table."""
AGREEMENT = {"raw": "Same letter", "cohen_kappa": "Cohen kappa"}
"""Measures of the agreement of two readers (methods of letter extraction), and their names."""
COEFFICIENT_DECIMALS = 3
READERS = (
    "Readers: rule: the project's rules; extractor: the model that is asked where no rule reads, and "
    "about a sample of other answers; strict: both, as scores have it; compat_rule: VLMEvalKit's "
    "rules; compat: those, and strict where they read nothing; people: annotators."
)
_OVER = (
    f"Intervals are of 95 % over C clusters; ~ marks those of fewer than {LEAST_CLUSTERS}, which are "
    "only indicative."
)


def release_tables(
    release_id: str,
    counts: Sequence[Row],
    findings: Sequence[Row],
    labels: Mapping[str, str],
) -> Iterator[ResultTable]:
    """Make the tables of a release.

    Args:
        release_id: The id of the release.
        counts: Rows of name, value, n and unit, such as the classes of tokens (MMDU, Figure 4).
        findings: Rows of `evaluate.findings` of the release.
        labels: The display name of each model.

    Yields:
        A table for each name of `counts`; the agreement of judges with people and each other (MMDU,
        Table 4; AlignMMBench, Table 2; ConvBench, Table 7); the letters in each model's answers by pass
        (MMBench, Figure 4); the share of answers that each reader can extract (MMBench, Table 1); the
        agreement of every two readers (MMBench, Figure 5); the metrics by extractor (MMBench, Table 6).
    """
    for name in dict.fromkeys(row["name"] for row in counts):
        rows = [row for row in counts if row["name"] == name]
        yield ResultTable(
            f"counts-{in_name(name)}",
            release_id,
            f"{name}: {rows[0]['unit']} of {release_id}.",
            (name, rows[0]["unit"].capitalize()),
            tuple((TableCell(row["value"]), TableCell(str(row["n"]))) for row in rows),
        )
    findings = [{**row, "subject": labels.get(row["subject"], row["subject"])} for row in findings]
    judged = [
        row
        for row in findings
        if row["analysis"] == JUDGING and row["other"] and row["value"] is not None
    ]
    if judged:
        yield _judges(release_id, judged)
    readings = [row for row in findings if row["analysis"] == READING]
    if named := [row for row in readings if row["measure"] == "named"]:
        yield _letters(release_id, named)
    if shares := [row for row in readings if row["measure"] in SHARES]:
        yield _shares(release_id, shares)
    if agreement := [row for row in readings if row["measure"] in AGREEMENT]:
        yield _agreement(release_id, agreement)
    if scores := [row for row in readings if row["measure"] in ("score", "difference")]:
        yield _extractors(release_id, scores)


def _letters(release_id: str, rows: Sequence[Row]) -> ResultTable:
    letters = sorted({row["subset_value"] for row in rows})
    shares = {(row["subject"], row["unit"], row["subset_value"]): row["value"] for row in rows}
    n_answers = {(row["subject"], row["unit"]): row["n"] for row in rows}
    lines = [
        (
            TableCell(model or "All models"),
            TableCell(trial),
            TableCell(str(n)),
            *(
                TableCell(number=100 * shares.get((model, trial, letter), 0.0))
                for letter in letters
            ),
        )
        for (model, trial), n in sorted(n_answers.items())
    ]
    return ResultTable(
        "letters",
        release_id,
        f"Letters that each model named by pass on {release_id}, in percent of its answers. Z: no "
        "choice is named.",
        ("Model", "Pass", "Answers", *letters),
        tuple(lines),
    )


def _shares(release_id: str, rows: Sequence[Row]) -> ResultTable:
    lines = [
        (
            TableCell(row["subject"] or "All models"),
            TableCell(row["judge"]),
            TableCell(": ".join(filter(None, (SHARES[row["measure"]], row["subset_value"])))),
            TableCell(str(row["n"])),
            *_percent(row),
        )
        for row in rows
    ]
    return ResultTable(
        "extraction-shares",
        release_id,
        f"Answers on {release_id} by who read their letters, in percent. {READERS} {_OVER}",
        ("Model", "Reader", "Answers that are", "n", "Share", "Interval", "C"),
        tuple(lines),
    )


def _agreement(release_id: str, rows: Sequence[Row]) -> ResultTable:
    lines = [
        (
            TableCell(row["subject"] or "All models"),
            TableCell(f"{row['judge']} and {row['other']}"),
            TableCell(row["subset_value"] or "all"),
            TableCell(AGREEMENT[row["measure"]]),
            TableCell(str(row["n"])),
            *_percent(row),
        )
        for row in rows
        if row["value"] is not None
    ]
    return ResultTable(
        "extraction-agreement",
        release_id,
        f"Agreement of two readers of the same answers on {release_id}, times 100. {READERS} {_OVER}",
        ("Model", "Readers", "Answers", "Measure", "n", "Value", "Interval", "C"),
        tuple(lines),
    )


def _judges(release_id: str, rows: Sequence[Row]) -> ResultTable:
    lines = [
        (
            TableCell(row["judge"]),
            TableCell(row["other"]),
            TableCell(row["metric"]),
            TableCell(": ".join(filter(None, (row["subset_label"], row["subset_value"]))) or "all"),
            TableCell(row["unit"]),
            TableCell(row["measure"].replace("_", " ")),
            TableCell(str(row["n"])),
            TableCell(decimal_text(row["value"], COEFFICIENT_DECIMALS)),
            TableCell(interval_text({**row, "decimals": COEFFICIENT_DECIMALS})),
            own_clusters_cell(row),
        )
        for row in rows
    ]
    return ResultTable(
        "judge-agreement",
        release_id,
        f"Agreement of judges with people and with each other on {release_id}. {_OVER}",
        ("Judge", "With", "Metric", "Subset", "On", "Measure", "n", "Value", "Interval", "C"),
        tuple(lines),
    )


def _percent(row: Row) -> tuple[TableCell, TableCell, TableCell]:
    """Cells of a share or coefficient times 100, its interval and its number of clusters."""
    ends = {end: None if row[end] is None else 100 * row[end] for end in ("ci_low", "ci_high")}
    return (
        TableCell(number=None if row["value"] is None else 100 * row["value"]),
        TableCell(interval_text({**row, **ends})),
        own_clusters_cell(row),
    )


def _extractors(release_id: str, rows: Sequence[Row]) -> ResultTable:
    lines = [
        (
            TableCell(row["subject"]),
            TableCell(f"{row['metric']} ({row['aggregation']})"),
            TableCell(f"{row['judge']} less {row['other']}" if row["other"] else row["judge"]),
            number_cell(row),
            TableCell(interval_text(row)),
            own_clusters_cell(row),
        )
        for row in rows
        if row["subject"] and row["value"] is not None
    ]
    return ResultTable(
        "extractors",
        release_id,
        f"Scores on {release_id} by who reads the letters, and differences of two readers on the "
        f"same answers. {READERS} {_OVER}",
        ("Model", "Metric", "Reader", "Score", "Interval", "C"),
        tuple(lines),
    )
