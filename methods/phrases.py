"""Tables of phrases as one regular expression.

What belongs here: the form of such a table. Phrases stand in the modules of what they tell.
"""

import re


def phrases(table: str, **parts: str) -> re.Pattern[str]:
    """The expression that finds any phrase of a table, in capitals or not.

    A line is a phrase, itself an expression; an indented line goes on with the one above, without a
    space between them. `<name>` stands for the part of that name.
    """
    return re.compile(alternatives(table, **parts), re.IGNORECASE)


def alternatives(table: str, **parts: str) -> str:
    """The text of that expression, to be a part of others."""
    lines: list[str] = []
    for line in table.strip("\n").splitlines():
        if line[:1].isspace():
            lines[-1] += line.strip()
        elif line:
            lines.append(line.rstrip())
    text = f"(?:{'|'.join(lines)})"
    for name, part in parts.items():
        text = text.replace(f"<{name}>", part)
    return text
