"""Homes that versions of vlm-loom made, unpacked for a test. README.md says what is in them."""

import tarfile
from pathlib import Path

HOMES = Path(__file__).parent
VERSIONS = sorted(path.name.removesuffix(".tar.xz") for path in HOMES.glob("*.tar.xz"))
OF_0_2_0 = "0.2.0"
FIRST, SECOND, INSTRUCTION = "mmdu-8e6c59da3d", "mmdu-486b6ced95", "mmdu-instruct-2efd1f9b8c"
"""Releases of that home: the second benchmark is in force, and so is the instruction set."""


def unpack(folder: Path, version: str = OF_0_2_0) -> Path:
    """Unpack the home that a version made into `folder`; the home."""
    with tarfile.open(HOMES / f"{version}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "home"
