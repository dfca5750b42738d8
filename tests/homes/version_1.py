"""A home that the first release made, unpacked for a test. README.md says what is in it."""

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).with_name("version_1.tar.xz")


def unpack(folder: Path) -> Path:
    """Unpack `home` and the corpus it was built from, `corpus`, into `folder`; the home."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "home"
