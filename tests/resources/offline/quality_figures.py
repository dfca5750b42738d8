"""The table of the guide to the checks: what they find of planted faults.

    python -m tests.resources.offline.quality_figures     writes it into docs/guides/quality.md anew

What belongs here: the table and its place in the page. The faults are planted by
`tests/methods/quality/planted.py` and `checked_pairs.py`.
"""

from resources.home import REPO_ROOT
from tests.methods.quality import planted
from tests.methods.quality.planted import Found
from tests.resources.offline import checked_pairs

GUIDE = REPO_ROOT / "docs" / "guides" / "quality.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def table() -> str:
    """One line a check: faults, those that were found, pairs named without one."""
    lines = [
        "| check | made by | planted | found | named without a fault | precision | recall |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for made_by, figures in (
        ("rule", planted.figures()),
        ("model: the offline stand-in", checked_pairs.figures()),
    ):
        lines += [_line(made_by, found) for found in figures]
    return "\n".join(lines) + "\n"


def _line(made_by: str, found: Found) -> str:
    figures = f"{found.n_planted} | {found.n_found} | {found.n_wrong}"
    return (
        f"| `{found.check}` | {made_by} | {figures} | {found.precision:.2f} | {found.recall:.2f} |"
    )


def page(before: str) -> str:
    """The guide with the table as the code makes it now."""
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}{table()}{END}{tail}"


if __name__ == "__main__":
    GUIDE.write_text(page(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
