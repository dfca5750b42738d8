"""Table cells: converts typed values of tables and records to the texts that a TSV has."""

import json
from collections.abc import Mapping
from datetime import datetime, time
from typing import Any, NamedTuple

from methods.evaluation.published import PublishedError
from methods.evaluation.published_tables import encode_image

MOST_WHOLE = 2.0**53
"""A float of this size may stand for several integers. As one, it could have 309 digits."""


class FileRow(NamedTuple):
    """A record of a file: its name for messages, and its cells as texts."""

    where: str
    cells: Mapping[str, str]


class ImageCells(NamedTuple):
    """The cells `image` and `image_path` of a row."""

    image: str = ""
    image_path: str = ""


def text_of(value: Any) -> str:
    """Convert a value to the text of a table cell; empty for a missing value.

    None and NaN are missing; the texts "None" and "NA" are texts. A date without a time becomes its ISO
    form. A float with an integer value below MOST_WHOLE becomes an integer, because pandas converts
    integer columns with missing values to floats. Raises UnicodeDecodeError for bytes that are not
    UTF-8.
    """
    match value:
        case None:
            return ""
        case str():
            return value
        case bytes():
            return value.decode()
        case float() if value != value:
            return ""
        case float() if value.is_integer() and abs(value) < MOST_WHOLE:
            return str(int(value))
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case list() if all(isinstance(text, str) for text in value):
            return repr(value)
        case list() | dict():
            return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def image_cells(where: str, value: Any) -> ImageCells:
    """Read the images of a row.

    Args:
        where: The row, for messages.
        value: Base64 as a text, bytes, `{bytes, path}`, or a list of any of these. Bytes take
            precedence over the path next to them.

    Returns:
        The cell of images in base64 and the cell of paths.

    Raises:
        PublishedError: Some images of a list are inside and some by path.
    """
    images = value if isinstance(value, list) else [value]
    inside, paths = [], []
    for image in images:
        named = image if isinstance(image, Mapping) else {"bytes": image}
        data = named.get("bytes")
        if data:
            inside.append(encode_image(data) if isinstance(data, bytes) else text_of(data))
        elif named.get("path"):
            paths.append(text_of(named["path"]))
    if inside and paths:
        raise PublishedError(f"{where} has some images inside and some by path")
    if not isinstance(value, list):
        return ImageCells("".join(inside), "".join(paths))
    return ImageCells(repr(inside) if inside else "", repr(paths) if paths else "")
