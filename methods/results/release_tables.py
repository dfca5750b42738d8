"""Tables of a release that are of no judge: counts of items, letters by pass, and extractors."""

from collections.abc import Iterator, Sequence

from methods.results.results_table import Row, in_name
from methods.results.tables import ResultTable, TableCell, interval_text

READING = "extraction_quality"


def release_tables(
    release_id: str, counts: Sequence[Row], findings: Sequence[Row]
) -> Iterator[ResultTable]:
    """Make the tables of a release.

    Args:
        release_id: The id of the release.
        counts: Rows of name, value, n and unit, such as the classes of tokens (MMDU, Figure 4).
        findings: Rows of `evaluate.findings` of the release.

    Yields:
        A table for each name of `counts`; the letters that each model named by pass (MMBench,
        Figure 4); the metrics under each extractor (MMBench, Table 6).
    """
    for name in dict.fromkeys(row["name"] for row in counts):
        rows = [row for row in counts if row["name"] == name]
        yield ResultTable(
            f"counts-{in_name(name)}",
            release_id,
            f"{name}: {rows[0]['unit']} of {release_id}.",
            (name, rows[0]["unit"].capitalize()),
            (False, False),
            tuple((TableCell(row["value"]), TableCell(str(row["n"]))) for row in rows),
        )
    readings = [row for row in findings if row["analysis"] == READING]
    if named := [row for row in readings if row["measure"] == "named"]:
        yield _letters(release_id, named)
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
        f"Letters that each model named by pass on {release_id}, in percent of its answers.",
        ("Model", "Pass", "Answers", *letters),
        (False, False, False, *[True] * len(letters)),
        tuple(lines),
    )


def _extractors(release_id: str, rows: Sequence[Row]) -> ResultTable:
    lines = [
        (
            TableCell(row["subject"]),
            TableCell(f"{row['metric']} ({row['aggregation']})"),
            TableCell(f"{row['judge']} less {row['other']}" if row["other"] else row["judge"]),
            TableCell(number=row["value"]),
            TableCell(interval_text(row)),
        )
        for row in rows
        if row["subject"] and row["value"] is not None
    ]
    return ResultTable(
        "extractors",
        release_id,
        f"Scores on {release_id} by who reads the letters, and differences of two readers on the "
        "same answers. Intervals are of 95 %.",
        ("Model", "Metric", "Reader", "Score", "Interval"),
        (False, False, False, True, False),
        tuple(lines),
    )
