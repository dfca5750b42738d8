"""Tables of results as LaTeX (booktabs, siunitx) and Markdown.

Names of models and labels come from outside: they are escaped.
"""

import re

from methods.markdown import code, table
from methods.results.tables import ResultTable, TableCell

DECIMALS = 1
PACKAGES = "% Needs \\usepackage{booktabs} and \\usepackage{siunitx}."
_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    # At the beginning of a line it would be an argument of the command that ends the line before.
    "[": "{[}",
    "–": "--",
}


def latex(of: ResultTable) -> str:
    """A table of LaTeX; numbers stand in columns of siunitx, by their decimal points."""
    columns = "".join(
        f"S[table-format={_format(of, place)}, detect-weight, mode=text]" if numeric else "l"
        for place, numeric in enumerate(of.numeric)
    )
    heads = [
        f"{{{latex_text(head)}}}" if numeric else latex_text(head)
        for head, numeric in zip(of.heads, of.numeric, strict=True)
    ]
    lines = [" & ".join(map(_latex_cell, row, of.numeric)) + r" \\" for row in of.rows]
    return "\n".join(
        [
            PACKAGES,
            r"\begin{table}",
            r"\centering",
            f"\\caption{{{latex_text(of.caption)}}}",
            f"\\label{{tab:{of.release}-{of.name}}}",
            f"\\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def markdown(of: ResultTable) -> str:
    """The same in Markdown."""
    rows = [[_markdown_cell(cell) for cell in row] for row in of.rows]
    heads = list(map(_shown, of.heads))
    return "\n".join([f"**{_plain(of.caption)}**", "", *table(heads, rows), ""])


def latex_text(text: str) -> str:
    """A text that LaTeX shows as it is, on one line."""
    return "".join(_SPECIAL.get(sign, sign) for sign in " ".join(text.split()))


def _latex_cell(cell: TableCell, numeric: bool) -> str:
    if cell.number is not None:
        shown = _decimal(cell.number)
        return f"\\bfseries {shown}" if cell.bold else shown
    text = latex_text(cell.text)
    if numeric:
        return f"{{{text}}}"
    return f"\\textbf{{{text}}}" if cell.bold else text


def _markdown_cell(cell: TableCell) -> str:
    shown = _shown(cell.text) if cell.number is None else _decimal(cell.number)
    return f"**{shown}**" if cell.bold and shown else shown


def _shown(text: str) -> str:
    """A text as code, unless every sign of it is plain in Markdown, too."""
    return code(text) if re.search(r"[^a-zA-Z0-9.,%() \[\]–-]", text) else text


def _format(of: ResultTable, place: int) -> str:
    """Digits before and after the point of a column, with a sign where one has it."""
    numbers = [row[place].number for row in of.rows]
    known = [_decimal(number) for number in numbers if number is not None]
    digits = max((len(number.lstrip("-")) - DECIMALS - 1 for number in known), default=1)
    sign = "-" if any(number.startswith("-") for number in known) else ""
    return f"{sign}{digits}.{DECIMALS}"


def _decimal(number: float) -> str:
    """With its decimals; what is rounded to zero has no sign."""
    return f"{number:z.{DECIMALS}f}"


def _plain(text: str) -> str:
    return re.sub(r"([*_`|\\<>])", r"\\\1", " ".join(text.split()))
