"""Reading the sample browser's data as a page does."""

import json
import re
from pathlib import Path
from typing import Any

_PIECE = re.compile(r"loom\.put\((\".*?\"),JSON\.parse\('(.*)'\)\);\n", re.DOTALL)


def value_of(script: bytes) -> tuple[str, Any]:
    """Name and value of a piece: the string of the script, and the JSON in it."""
    found = _PIECE.fullmatch(script.decode())
    assert found, script[:200]
    quoted = found[2]
    # What a browser takes as the end of the string, or of the line, is not in it as it is.
    assert not re.search(r"(?<!\\)(\\\\)*'", quoted) and "\n" not in quoted
    return json.loads(found[1]), json.loads(re.sub(r"\\(['\\])", r"\1", quoted))


def pieces_of(folder: Path) -> dict[str, Any]:
    """The values of all pieces below a folder, by name."""
    pieces = dict(value_of(path.read_bytes()) for path in sorted(folder.rglob("*.js")))
    assert set(pieces) == {
        path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.js")
    }
    return pieces
