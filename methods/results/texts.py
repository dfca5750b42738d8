"""Tables of results as LaTeX (booktabs, siunitx) and Markdown, and how they were made, in words.

Names of models and labels come from outside: they are escaped.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from methods.markdown import code, table
from methods.naming import number_of
from methods.results.tables import LeaderboardData, ResultTable, TableCell, boards

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
AVERAGED = {
    "micro": "the mean over all turns",
    "macro": "the mean over dialogues of the mean of their turns",
}
BY_RULE = "rule"


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


def in_words(board: LeaderboardData, card: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """How the scores of a board were made: a paragraph for a paper.

    `settings` has least_coverage and version; `card` is that of the release.
    """
    first = board.models[0]
    by = (
        "by rule"
        if first["judge"] == BY_RULE
        else f"by the judge {first['judge']} under the prompts {first['judge_version']}"
    )
    averaged = AVERAGED.get(first["aggregation"], f"the mean by {first['aggregation']}")
    ranked = [row for row in board.models if row["rank"] is not None]
    unranked = [row for row in board.models if row["rank"] is None]
    sentences = [
        f"We evaluated {number_of(len(board.models), 'model')} on the release {first['release']} "
        f"({card['n_items']} items, {card['n_turns']} turns, {card['n_images']} pictures), which is "
        "frozen under an id that is a hash of its content.",
        f"Answers were scored {by}; a model's score is {averaged} of {first['metric']}, in which what "
        "it failed or cut off counts as the lowest value.",
        f"Intervals are of 95 %, over up to {board.n_clusters} clusters, which are items, or groups of "
        "items that belong together. Each is Student's t interval with two pseudo-clusters added, one "
        "at each end of the scale (Agresti and Coull, 1998), or that of Clopper and Pearson (1934) "
        "where each cluster is one value at an end of the scale.",
    ]
    if board.pairs:
        sentences.append(
            "Every two models were compared on the units that both have "
            f"({number_of(len(board.pairs), 'pair')}): interval and p of the difference are of a "
            "paired t-test over clusters with the CR2 standard error (Pustejovsky and Tipton, 2018) "
            "and Hall's (1992) correction for skewness where it is the stricter one, p adjusted by "
            "Holm over all pairs; a difference counts where the adjusted p is below 0.05, and ranks "
            "follow from that."
        )
    if unranked:
        names = ", ".join(row["model"] for row in unranked)
        sentences.append(
            f"{len(ranked)} models have a rank; the others do not, as they are no models by "
            f"themselves or less than {100 * settings['least_coverage']:g} % of what the metric needs "
            f"was judged: {names}."
        )
    refused = sum(row["n_refused"] for row in board.models)
    failed = sum(row["n_failed"] for row in board.models)
    sentences.append(
        f"In all, {refused} turns were refused and {failed} have no judgment; made with vlm-loom "
        f"{settings['version'] or 'of an unknown version'}."
    )
    return " ".join(sentences)


def all_in_words(
    models: Sequence[Mapping[str, Any]],
    pairs: Sequence[Mapping[str, Any]],
    card: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> str:
    """A paragraph for each board."""
    return (
        "\n\n".join(in_words(board, card, settings) for board in boards(models, pairs, [])) + "\n"
    )


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
