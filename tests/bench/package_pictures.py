"""Pictures that others made, out of Debian packages: dark skies, drawings, photographs.

What belongs here: which packages, and which of their pictures; fetching and unpacking them into a
folder, once. Needs `apt-get` and `dpkg` of a Debian or Ubuntu, no rights: nothing is installed.
"""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import ImageLimits, reject_unwanted
from methods.ingest.image_quality import measure_image

CORPORA: Mapping[str, Sequence[tuple[str, str]]] = {
    "dark skies": [("stellarium-data", "usr/share/stellarium/nebulae/default/*.png")],
    # All but `shapes`: star polygons that differ in nothing but the number of their points.
    "drawings": [
        ("openclipart-png", f"usr/share/openclipart/png/{folder}/**/*.png")
        for folder in (
            *("animals", "buildings", "buttons", "computer", "containers", "decorations"),
            *("education", "electronics", "food", "geography", "logos", "office", "people"),
            *("plants", "recreation", "science", "signs_and_symbols", "special", "tools"),
            *("transportation", "unsorted"),
        )
    ],
    "photographs": [
        ("tuxpaint-stamps-default", "usr/share/tuxpaint/stamps/**/*.png"),
        ("mate-backgrounds", "usr/share/backgrounds/mate/**/*.jpg"),
        ("gnome-backgrounds", "usr/share/backgrounds/gnome/*.*"),
    ],
}
"""The packages of each corpus, and where in them its pictures are."""
MOST = 600
"""Pictures of a corpus at most, evenly spread over its packages' files."""


class Unreachable(RuntimeError):
    """A package cannot be fetched; the message says why."""


def pictures_of(corpus: str, folder: Path) -> list[Path]:
    """The pictures of a corpus that ingestion would take, fetched and unpacked in `folder`, by path.

    Raises Unreachable.
    """
    paths = [
        path
        for package, pattern in CORPORA[corpus]
        for path in sorted(unpacked(package, folder).glob(pattern))
    ]
    paths = paths[:: -(-len(paths) // MOST)]
    return [path for path in paths if _is_taken(path)]


def unpacked(package: str, folder: Path) -> Path:
    """The folder with what is in a package. Raises Unreachable."""
    target = folder / package
    if not target.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            _run(["apt-get", "download", package], made)
            [archive] = Path(made).glob("*.deb")
            _run(["dpkg", "-x", archive.name, "files"], made)
            (Path(made) / "files").rename(target)
    return target


def _run(command: list[str], folder: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
        raise Unreachable(f"{' '.join(command)} failed: {reason}") from error


def _is_taken(path: Path) -> bool:
    try:
        facts = measure_image(path.read_bytes())
        reject_unwanted(facts, ImageLimits(), {})
    except (ImageRejected, OSError, Image.DecompressionBombError):
        return False
    return True
