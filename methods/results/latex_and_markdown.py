"""Rendering of result tables as LaTeX (booktabs, siunitx) and Markdown.

Names of models and labels are untrusted input, so they are escaped.
"""

import math
import re
from collections.abc import Sequence

from methods.markdown import code, table
from methods.naming import decimal_text
from methods.results.table_cells import ResultTable, TableCell

COLUMN = 219.0
"""Width in points of a column of a two-column paper, in the narrowest of the usual document classes."""
PAGE = 345.0
"""Width in points of the text of a page, in the narrowest of the usual document classes."""
POINTS = 8.0
"""Width in points of an em in footnotesize."""
GAP = 6.0
"""Points between two columns of a table."""
NAMES, HEAD = 90.0, 50.0
"""Largest width in points of the names of rows, and of a column head. Longer texts are broken."""
_EMS = (
    ("!',.:;[]ijl|", 0.3),
    ("()*-frst ", 0.43),
    ("0123456789acegosyz~_/–", 0.54),
    ("bdhknpquvx", 0.6),
    ("MWm@%&", 1.06),
)
"""Groups of characters with their width in ems. Other characters are as wide as capitals."""
_PIECE = re.compile(r"[a-zA-Z0-9]{1,9}[^a-zA-Z0-9]*|[^a-zA-Z0-9]+")
"""Parts of a long word; a line may end after each."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Control characters that are no spaces: TeX refuses some, and a terminal obeys others."""
PACKAGES = "% Needs \\usepackage{booktabs} and \\usepackage{siunitx}."
_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    # At the beginning of a row, `[` would be read as the optional argument of the `\\` before it.
    "[": "{[}",
    "–": "--",
    "−": "$-$",
}


def latex(result: ResultTable) -> str:
    """Render a table as LaTeX. Numbers are aligned at their decimal points by siunitx.

    A table that is wider than a column of the paper spans both columns (`table*`). A table that is
    wider than the page is split into several tables, each with the names of the rows.
    """
    parts, float_ = _parts(result, COLUMN), "table"
    if len(parts) > 1:
        parts, float_ = _parts(result, PAGE), "table*"
    texts = [
        PACKAGES,
        *(_latex_part(result, columns, place, float_) for place, columns in enumerate(parts)),
    ]
    return "\n".join([*texts, ""])


def _latex_part(result: ResultTable, columns: Sequence[int], place: int, float_: str) -> str:
    """The LaTeX table of some columns: part `place` (from 0), in the environment `float_`."""
    heads = [
        _latex_head(result.heads[column], numeric=result.numeric[column]) for column in columns
    ]
    lines = [
        " & ".join(
            _latex_cell(row[column], result.numeric[column], breaks=column == result.names)
            for column in columns
        )
        for row in result.rows
    ]
    caption = result.caption if not place else f"The same with further columns ({place + 1})."
    label = f"tab:{result.release}-{result.name}" + (f"-part-{place + 1}" if place else "")
    return "\n".join(
        [
            f"\\begin{{{float_}}}",
            r"\centering\footnotesize\sloppy\setlength{\tabcolsep}{3pt}",
            f"\\caption{{{latex_text(caption, room=COLUMN)}}}",
            f"\\label{{{label}}}",
            f"\\begin{{tabular}}{{@{{}}{''.join(_column(result, column) for column in columns)}@{{}}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *(line + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
            f"\\end{{{float_}}}",
        ]
    )


def _parts(result: ResultTable, most: float) -> list[list[int]]:
    """Split the columns into lists that fit into `most` points, each with the names of the rows."""
    groups: list[list[int]] = []
    for column in range(len(result.heads)):
        # A number and the interval to its right stay together.
        if (
            groups
            and groups[-1] == [column - 1]
            and result.numeric[column - 1] > result.numeric[column]
        ):
            groups[-1].append(column)
        elif column != result.names:
            groups.append([column])
    parts: list[list[int]] = []
    room = 0.0
    for group in groups:
        width = sum(_width(result, column) + GAP for column in group)
        if not parts or width > room:
            parts.append([result.names])
            room = most - _width(result, result.names)
        parts[-1] += group
        room -= width
    return [sorted(part) for part in parts] or [[result.names]]


def _width(result: ResultTable, column: int) -> float:
    """Width of a column in points, with its long names and heads broken."""
    shown = [row[column] for row in result.rows]
    texts = [
        points(cell.text if cell.number is None else _decimal(cell), bold=cell.bold)
        for cell in shown
    ]
    content = max(texts, default=0.0)
    head = points(result.heads[column])
    return (
        min(max(content, head), NAMES) if column == result.names else max(content, min(head, HEAD))
    )


def points(text: str, *, bold: bool = False) -> float:
    """Estimate the width of a text in footnotesize, in points. The estimate is rather too wide."""
    return POINTS * sum(map(_em, text)) * (1.15 if bold else 1)


def _em(sign: str) -> float:
    """The width of a character in Computer Modern, in ems."""
    return next((em for signs, em in _EMS if sign in signs), 0.8 if sign.isascii() else 1.05)


def _column(result: ResultTable, column: int) -> str:
    if result.numeric[column]:
        return f"S[table-format={_format(result, column)}, detect-weight, mode=text]"
    if column == result.names and _width(result, column) >= NAMES:
        return f">{{\\raggedright\\arraybackslash}}p{{{NAMES:g}pt}}"
    return "l"


def _latex_head(head: str, *, numeric: bool) -> str:
    text = latex_text(head)
    if points(head) > HEAD:
        text = f"\\parbox[b]{{{HEAD:g}pt}}{{\\raggedright {latex_text(head, room=HEAD)}}}"
    return f"{{{text}}}" if numeric else text


def markdown(result: ResultTable) -> str:
    """Render a table of results as Markdown."""
    rows = [[_markdown_cell(cell) for cell in row] for row in result.rows]
    heads = list(map(_shown, result.heads))
    return "\n".join([f"**{_plain(result.caption)}**", "", *table(heads, rows), ""])


def latex_text(text: str, *, room: float = math.inf) -> str:
    """Escape a text for LaTeX.

    Args:
        text: The text.
        room: The width of a line in points. TeX only breaks lines at spaces and hyphens, so words that
            are wider get further break points.
    """
    words = []
    for word in _CONTROL.sub("", text).split():
        fits = all(points(part) <= room for part in word.split("-"))
        pieces = [word] if fits else _PIECE.findall(word)
        escaped = ("".join(_SPECIAL.get(sign, sign) for sign in piece) for piece in pieces)
        words.append(r"\allowbreak{}".join(escaped))
    return " ".join(words)


def _latex_cell(cell: TableCell, numeric: bool, *, breaks: bool = False) -> str:
    if cell.number is not None:
        # siunitx cannot set infinite numbers.
        shown = _decimal(cell) if math.isfinite(cell.number) else r"{$\infty$}"
        return f"\\bfseries {shown}" if cell.bold else shown
    text = latex_text(cell.text, room=NAMES if breaks else math.inf)
    if numeric:
        return f"{{{text}}}"
    return f"\\textbf{{{text}}}" if cell.bold else text


def _markdown_cell(cell: TableCell) -> str:
    shown = _shown(cell.text) if cell.number is None else decimal_text(cell.number, cell.decimals)
    return f"**{shown}**" if cell.bold and shown else shown


def _shown(text: str) -> str:
    """Set a text as code if it has a character that Markdown might interpret."""
    return code(text) if re.search(r"[^a-zA-Z0-9.,%() \[\]–−-]", text) else text


def _format(result: ResultTable, place: int) -> str:
    """The siunitx format of a column, such as "-2.1": digits before and after the decimal point, with
    a sign if any number has one.
    """
    cells = [row[place] for row in result.rows if row[place].number is not None]
    numbers = [_decimal(cell) for cell in cells if math.isfinite(cell.number or 0)]
    parts = [number.lstrip("-").split(".") for number in numbers]
    before, after = (max((len(part[n]) for part in parts), default=1) for n in (0, 1))
    sign = "-" if any(number.startswith("-") for number in numbers) else ""
    return f"{sign}{before}.{after}"


def _decimal(cell: TableCell) -> str:
    """Format the number. If it rounds to zero, it has no minus sign."""
    return f"{cell.number:z.{cell.decimals}f}"


def _plain(text: str) -> str:
    return re.sub(r"([*_`|\\<>])", r"\\\1", " ".join(text.split()))
