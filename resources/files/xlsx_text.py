"""Texts in the cells of Excel (.xlsx) files, which escape characters as `_xHHHH_`.

`_x000D_` is a carriage return. `_x005F_` is an underscore, so a literal `_x000D_` is written
`_x005F_x000D_`. openpyxl does not handle these escapes correctly, neither in writing nor in reading.
"""

import re
import warnings
from collections.abc import Collection
from typing import IO, Any
from xml.parsers.expat import ParserCreate
from zipfile import ZipFile

from methods.evaluation.published import PublishedError

MOST_SHEETS = 50
MOST_TEXTS = 4_000_000
"""The most distinct texts of all cells together."""
MOST_INSIDE = 100_000
"""The most XML elements of a row or a text: a row has up to 16,384 cells, each with a value."""
MOST_DEPTH = 32
"""The most levels of nested XML elements."""
MOST_RICH = 2_000_000
"""The most XML elements of formatted texts in all parts together. openpyxl needs about 20 µs for each.
The first element of a text does not count: a text without formats has only this one."""
MOST_TOKEN = 200_000
"""The most bytes of a tag or comment. The text of a cell is between tags. With each piece of a file,
expat before 2.6 starts again at the beginning of an unfinished tag."""
_PIECE = 16_000
"""The bytes that are parsed at once."""
_TEXTS = ("si", "is")
"""XML elements of a text: shared by cells, or in a cell."""
_WHOLE = {"row": 3, "si": 2}
"""XML elements that openpyxl builds one at a time and then drops, with their depth. It keeps all
others."""
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_LIKE_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


def escaped(text: str) -> str:
    """Escape a text for a cell, so that it is read back unchanged."""
    return _LIKE_ESCAPE.sub("_x005F_", text)


def unescaped(cell: Any) -> Any:
    """Return the value of a cell, with the escapes of a text decoded."""
    if not isinstance(cell, str):
        return cell
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), cell)
    # Two escapes may be the halves of one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def require_small_elements(xml: IO[bytes], n_rich: int = 0) -> int:
    """Check an unpacked part of a spreadsheet, before openpyxl builds whole rows and texts in memory.

    Args:
        xml: The part.
        n_rich: The elements of formatted texts in the parts before.

    Returns:
        The elements of formatted texts, with those of this part.

    Raises:
        PublishedError: A row or text has more elements than in a real file, or there are as many
            outside of them or in formatted texts, or a tag is too long, or the XML declares entities.
        ExpatError: The part is not XML.
    """
    parser = ParserCreate()
    depth = n_inside = n_outside = n_of_text = text_depth = 0
    is_inside = False

    def start(name: str, _attributes: object) -> None:
        nonlocal depth, n_inside, n_outside, is_inside, n_rich, n_of_text, text_depth
        depth += 1
        local = name.rpartition(":")[2]
        if text_depth:
            n_of_text += 1
            n_rich += n_of_text > 1
            if n_rich > MOST_RICH:
                raise PublishedError(
                    f"its formatted texts have more than {MOST_RICH:,} XML elements: remove the "
                    "formats inside of cells"
                )
        elif local in _TEXTS:
            text_depth, n_of_text = depth, 0
        if depth == _WHOLE.get(local):
            n_inside, is_inside = 0, True
        elif is_inside:
            n_inside += 1
        else:
            n_outside += 1
        if max(n_inside, n_outside) > MOST_INSIDE or depth > MOST_DEPTH:
            raise PublishedError(f"a row or text has more than {MOST_INSIDE:,} elements")

    def end(name: str) -> None:
        nonlocal depth, is_inside, text_depth
        if depth == _WHOLE.get(name.rpartition(":")[2]):
            is_inside = False
        if depth == text_depth:
            text_depth = 0
        depth -= 1

    def refuse(*_: object) -> None:
        raise PublishedError("its XML declares entities")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    n_bytes = 0
    while piece := xml.read(_PIECE):
        parser.Parse(piece)
        n_bytes += len(piece)
        if n_bytes - parser.CurrentByteIndex > MOST_TOKEN:
            raise PublishedError(f"a tag or comment has more than {MOST_TOKEN:,} bytes")
    parser.Parse(b"", True)
    return n_rich


def open_workbook(data: IO[bytes], checked: Collection[str]) -> Any:
    """Open a workbook like `openpyxl.load_workbook`, but keep the escapes in its shared texts.

    `load_workbook` removes `x005F_` from these texts, so that an escape cannot be distinguished from a
    text that looks like one.

    Args:
        data: The spreadsheet.
        checked: The names of the parts that passed `require_small_elements`. No other part is read.

    Raises:
        PublishedError: The workbook exceeds the limits, or a sheet is not in a checked part.
    """
    from openpyxl.cell.text import Text
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    class Archive(ZipFile):
        def open(self, name: Any, *args: Any, **kwargs: Any) -> IO[bytes]:
            if name not in checked:
                raise PublishedError(f"its part {ascii(name[:200])} is not XML, or it is an image")
            return super().open(name, *args, **kwargs)

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
            # Opening a sheet reads it up to its first row, so the sheets are counted first.
            if len(self.parser.sheets) > MOST_SHEETS:
                raise PublishedError(f"it has more than {MOST_SHEETS} sheets")
            parts = [relation.target for _, relation in self.parser.find_sheets()]
            if len(set(parts)) < len(parts):
                raise PublishedError("two of its sheets are the same part of the file")
            super().read_worksheets()

    reader = Reader(data, read_only=True, data_only=False, keep_links=False)
    reader.archive = Archive(data)
    with warnings.catch_warnings():
        # Some programs write no styles of cells, which are not needed to read texts.
        warnings.filterwarnings("ignore", "Workbook contains no stylesheet")
        reader.read()
    return reader.wb
