"""Texts in the cells of .xlsx files, which escape characters as `_xHHHH_`.

`_x000D_` is a carriage return. `_x005F_` is an underscore, so that a text may have `_x000D_` itself: it
is written `_x005F_x000D_`. openpyxl neither writes nor reads these escapes as they are meant.
"""

import re
from typing import IO, Any

from methods.evaluation.published import PublishedError

MOST_SHEETS = 50
MOST_TEXTS = 4_000_000
"""Of all cells together, each once."""
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_LIKE_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


def escaped(text: str) -> str:
    """The text as a cell has it that is read back as this text."""
    return _LIKE_ESCAPE.sub("_x005F_", text)


def unescaped(cell: Any) -> Any:
    """The value of a cell; a text is without its escapes."""
    if not isinstance(cell, str):
        return cell
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), cell)
    # Two escapes may be the halves of one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def open_workbook(data: IO[bytes]) -> Any:
    """The workbook as `openpyxl.load_workbook` gives it to read, with the escapes in its shared texts.

    `load_workbook` takes `x005F_` away from these texts, which leaves no difference between an escape
    and a text that looks like one. Raises PublishedError for a workbook beyond the limits.
    """
    from openpyxl.cell.text import Text
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    class Reader(ExcelReader):
        def read_strings(self) -> None:
            part = self.package.find(SHARED_STRINGS)
            if part is None:
                return
            with self.archive.open(part.PartName[1:]) as source:
                for _, node in iterparse(source):
                    if node.tag == f"{{{SHEET_MAIN_NS}}}si":
                        if len(self.shared_strings) == MOST_TEXTS:
                            raise PublishedError(f"it has more than {MOST_TEXTS:,} texts")
                        self.shared_strings.append(Text.from_tree(node).content)
                        node.clear()

        def read_worksheets(self) -> None:
            # Opening a sheet reads it up to its first row, so the sheets are counted before.
            if len(self.parser.sheets) > MOST_SHEETS:
                raise PublishedError(f"it has more than {MOST_SHEETS} sheets")
            parts = [relation.target for _, relation in self.parser.find_sheets()]
            if len(set(parts)) < len(parts):
                raise PublishedError("two of its sheets are the same part of the file")
            super().read_worksheets()

    reader = Reader(data, read_only=True, data_only=False, keep_links=False)
    reader.read()
    return reader.wb
