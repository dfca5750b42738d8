"""Homes that versions of vlm-loom made, unpacked for a test. README.md says what is in them."""

import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

HOMES = Path(__file__).parent
VERSIONS = sorted(path.name.removesuffix(".tar.xz") for path in HOMES.glob("*.tar.xz"))
OF_0_2_0 = "0.2.0"
FIRST, SECOND, INSTRUCTION = "mmdu-8e6c59da3d", "mmdu-486b6ced95", "mmdu-instruct-2efd1f9b8c"
"""Releases of that home: the second benchmark is in force, and so is the instruction set."""


def unpack(folder: Path, version: str = OF_0_2_0) -> Path:
    """Copy the home that a version made into `folder`; the home."""
    return Path(shutil.copytree(Path(_unpacked(version).name) / "home", folder / "home"))


@cache
def _unpacked(version: str) -> tempfile.TemporaryDirectory[str]:
    """The home, unpacked once in each process, as that takes longer than copying it."""
    folder = tempfile.TemporaryDirectory()
    with tarfile.open(HOMES / f"{version}.tar.xz") as archive:
        archive.extractall(folder.name, filter="data")
    return folder
