"""Files that list pictures by the SHA-256 of their files.

What belongs here: reading such a list, and the sentence for what is wrong with it.
"""

import re
from pathlib import Path

from methods.errors import UserError

_SHA256 = re.compile(r"[0-9a-f]{64}")


class KnownImagesError(UserError):
    """A list of pictures cannot be used; the message names the file and the line."""


def known_images(file: Path) -> set[str]:
    """The SHA-256 of each line, as `sha256sum` writes them, too; what follows them is not read.

    Empty lines and lines that begin with # are left out. Raises KnownImagesError.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KnownImagesError(f"The list of pictures {file} cannot be read: {error}.") from None
    found = set()
    for number, line in enumerate(lines, start=1):
        first = line.split(maxsplit=1)[0].lower() if line.strip() else "#"
        if first.startswith("#"):
            continue
        if not _SHA256.fullmatch(first):
            raise KnownImagesError(
                f"Line {number} of the list of pictures {file} does not begin with a SHA-256 "
                "(64 hexadecimal digits)."
            )
        found.add(first)
    return found
