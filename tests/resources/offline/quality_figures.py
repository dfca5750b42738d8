"""The tables of the results of the checks: what they find of planted faults, and of other texts.

python -m tests.resources.offline.quality_figures     writes it into docs/results/quality-checks.md
"""

from resources.files.home import REPO_ROOT
from tests.methods.quality import held_out, planted, written
from tests.methods.quality.planted import Found
from tests.resources.offline import checked_pairs

PAGE = REPO_ROOT / "docs" / "results" / "quality-checks.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
BEGIN_WRITTEN, END_WRITTEN = "<!-- two writers -->\n", "<!-- end of two writers -->\n"
BEGIN_HELD_OUT, END_HELD_OUT = "<!-- held out -->\n", "<!-- end of held out -->\n"


def table() -> str:
    """One line a check: faults, those that were found, pairs named without one."""
    lines = [
        "| check | made by | planted | found | named without a fault | precision | recall |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for made_by, figures in (
        ("rule", planted.figures()),
        ("mock model", checked_pairs.figures()),
    ):
        lines += [_line(made_by, found) for found in figures]
    return "\n".join(lines) + "\n"


def held_out_table() -> str:
    """One line a check: texts with its fault, those that were found, texts named without it."""
    lines = [
        "| check | with the fault | found | named without it | precision | recall |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| `{found.check}` | {found.n_planted} | {found.n_found} | {found.n_wrong} "
        f"| {found.precision:.2f} | {found.recall:.2f} |"
        for found in held_out.figures()
    ]
    return "\n".join(lines) + "\n"


def _line(made_by: str, found: Found) -> str:
    figures = f"{found.n_planted} | {found.n_found} | {found.n_wrong}"
    return (
        f"| `{found.check}` | {made_by} | {figures} | {found.precision:.2f} | {found.recall:.2f} |"
    )


def page(before: str) -> str:
    """The page with the tables as the code makes them now."""
    for begin, end, lines in (
        (BEGIN, END, table()),
        (BEGIN_WRITTEN, END_WRITTEN, written.table()),
        (BEGIN_HELD_OUT, END_HELD_OUT, held_out_table()),
    ):
        head, _, rest = before.partition(begin)
        _, _, tail = rest.partition(end)
        before = f"{head}{begin}{lines}{end}{tail}"
    return before


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
