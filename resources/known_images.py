"""Files that list pictures by the digests of their files.

What belongs here: opening a list, and the sentence for what is wrong with it. Lines are read by
`methods/ingest/image_filters.py`.
"""

from pathlib import Path

from methods.errors import UserError
from methods.ingest.image_filters import parse_exclusions


class KnownImagesError(UserError):
    """A list of pictures cannot be used; the message names the file and what is wrong."""


def known_images(file: Path) -> set[str]:
    """The MD5 and SHA-256 digests of a list, in lower case. Raises KnownImagesError."""
    try:
        return set(parse_exclusions(file.read_text(encoding="utf-8-sig").splitlines(), file.name))
    except (OSError, ValueError) as error:
        raise KnownImagesError(
            f"The list of pictures {file} cannot be used ({error}): write it as md5sum or sha256sum "
            "does, or leave excluded of rewrite.candidates empty."
        ) from None
