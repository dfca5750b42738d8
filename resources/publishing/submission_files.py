"""Write submission files for a benchmark's own evaluation: the answers of each model on a release."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from methods.evaluation.candidates import is_model
from methods.release import held_out
from methods.release_card import benchmark_of, card_of, edition_of
from methods.release_items import items_of_release
from methods.results.submissions import (
    FORMS,
    Answers,
    Sheet,
    SubmissionInput,
    dataset_name,
    file_name,
    file_names,
    submission,
)
from resources.files.home import reports_path
from resources.files.xlsx_text import escaped
from resources.publishing.releases import rows_of_release
from resources.publishing.result_files import ResultError, write_files
from resources.warehouse import Warehouse

MOST_CHARACTERS = 32_767
"""The most characters of a spreadsheet cell. The end of a longer text is kept, because answers usually
state their letter there."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_TIMES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


def write_submissions(
    warehouse: Warehouse, row: Mapping[str, Any], folder: Path
) -> tuple[list[Path], list[str]]:
    """Write the answers of every model on a release in the format of the benchmark's own evaluation.

    Args:
        warehouse: The tables.
        row: The row of `release.releases`.
        folder: The folder to write to.

    Returns:
        The files, and sentences on what is missing or changed in them.

    Raises:
        ResultError: There are no answers, the benchmark has no submission format, the folder is
            one of the reports and the references are held out, or the folder cannot be written.
    """
    card = card_of(row)
    release_id: str = card["release_id"]
    if benchmark_of(card) not in FORMS:
        raise ResultError(
            f"{release_id} is not a release of a benchmark with an evaluation that takes files: "
            f"{', '.join(FORMS)} "
            "are."
        )
    # Answers tell references: after a circular pass that is wrong there is no other.
    in_reports = folder.resolve().is_relative_to(reports_path().resolve())
    if in_reports and held_out(edition_of(card)):
        raise ResultError(
            f"The references of {release_id} are held out, and a submission has answers, which tell "
            f"them. {folder} is one of the reports, which may be published: add --to with another "
            "folder."
        )
    models = warehouse.read("evaluate/answering_models_of", {"release_id": release_id})
    named = file_names(filter(is_model, models["model"].to_pylist()))
    if not named:
        raise ResultError(f"{release_id} has no answers yet: run vlm-loom run evaluate.")
    items = items_of_release(rows_of_release(warehouse, release_id))
    written: list[Path] = []
    notes: dict[str, list[str]] = {}
    for model, name in named.items():
        answers = _answers(warehouse, release_id, model)
        dataset = file_name(dataset_name(card))
        result = submission(SubmissionInput(items, edition_of(card), name, dataset, answers))
        if result is None:
            continue
        lost: Counter[str] = Counter()
        files = (
            (path, _xlsx(content, lost) if isinstance(content, Sheet) else content.encode())
            for path, content in result.files.items()
        )
        written += write_files(folder, files)
        for note in (*result.notes, *_losses(lost)):
            notes.setdefault(note, []).append(model)
    remarks = [
        note if len(names) == len(named) else f"{', '.join(names)}: {note}"
        for note, names in notes.items()
    ]
    return written, remarks


def _answers(warehouse: Warehouse, release_id: str, model: str) -> Answers:
    """Read a model's own answers, by item, variant and turn."""
    rows = warehouse.select(
        "evaluate.shown_answers",
        *("item_id", "trial", "turn", "status", "answer"),
        release_id=release_id,
        model=model,
    ).to_pylist()
    return {
        (row["item_id"], row["trial"], row["turn"]): row["answer"]
        for row in rows
        if row["status"] != "given"
    }


def _xlsx(sheet: Sheet, lost: Counter[str]) -> bytes:
    """Make a reproducible spreadsheet. `lost` counts replaced characters and cut cells."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    page = book.create_sheet()

    def cell(value: str | int) -> Any:
        if not isinstance(value, str):
            return value
        if not value:
            return None
        text, n_unheld = ILLEGAL_CHARACTERS_RE.subn("\ufffd", value)
        lost["characters"] += n_unheld
        lost["cells"] += len(text) > MOST_CHARACTERS
        written = WriteOnlyCell(page, escaped(text[-MOST_CHARACTERS:]))
        # Otherwise a text that begins with = would be a formula, and one like #N/A an error.
        written.data_type = "s"
        return written

    page.append(list(sheet.header))
    for row in sheet.rows:
        page.append([cell(value) for value in row])
    data = io.BytesIO()
    book.save(data)
    return _without_times(data)


def _without_times(data: io.BytesIO) -> bytes:
    """Remove the time of writing from a spreadsheet."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(data) as archive,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for name in archive.namelist():
            content = archive.read(name)
            if name == "docProps/core.xml":
                content = _TIMES.sub(rb"\g<1>1980-01-01T00:00:00Z", content)
            copy.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _losses(lost: Counter[str]) -> Iterator[str]:
    if lost["characters"]:
        yield (
            f"{lost['characters']} control characters, which no spreadsheet holds, are written as "
            "\ufffd."
        )
    if lost["cells"]:
        yield f"{lost['cells']} texts are cut to their last {MOST_CHARACTERS:,} characters, as Excel's."
