"""Material of Debian's archive, fetched once into a folder that git ignores."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import httpx2

from resources.files.home import REPO_ROOT

FOLDER = REPO_ROOT / ".strangers"
"""Where downloads, corpora and homes are kept."""
ARCHIVE = "http://deb.debian.org/debian/dists/bookworm/main/dep11"
"""The descriptions of applications, in all languages, and their icons."""


class OutOfReachError(Exception):
    """Material cannot be fetched here; the message is a sentence that says why."""


def package(name: str, *under: str) -> Path:
    """The folder with a package's files whose paths begin with one of `under` (`usr/share/…`).

    Raises OutOfReachError.
    """
    return _kept(name, lambda folder: _unpack(name, under, folder))


def archive_file(name: str) -> Path:
    """A file of the archive's folder of applications, or the folder that it unpacks to if its name
    ends in `.tar.gz`. Raises OutOfReachError.
    """
    return _kept(name, lambda folder: _download(name, folder)) / name


def _kept(name: str, fetch: Callable[[Path], None]) -> Path:
    """The folder of this name among the downloads, filled by `fetch` unless it is there."""
    folder = FOLDER / "downloads" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as begun:
            whole = Path(begun, name)
            whole.mkdir()
            fetch(whole)
            whole.rename(folder)
    return folder


def _unpack(name: str, under: tuple[str, ...], folder: Path) -> None:
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise OutOfReachError(f"{program} is not here, and the package {name} is Debian's.")
    with tempfile.TemporaryDirectory(dir=folder.parent) as begun:
        fetched = subprocess.run(
            ["apt-get", "download", name], cwd=begun, capture_output=True, text=True
        )
        files = list(Path(begun).glob("*.deb"))
        if fetched.returncode or not files:
            said = (fetched.stderr.strip() or "no file came").splitlines()[-1]
            raise OutOfReachError(f"The package {name} cannot be downloaded: {said}")
        with (
            subprocess.Popen(
                ["dpkg-deb", "--fsys-tarfile", files[0]], stdout=subprocess.PIPE
            ) as unpacking,
            tarfile.open(mode="r|", fileobj=unpacking.stdout) as members,
        ):
            for member in members:
                if member.name.removeprefix("./").startswith(under):
                    members.extract(member, folder, filter="data")


def _download(name: str, folder: Path) -> None:
    try:
        with (
            httpx2.stream("GET", f"{ARCHIVE}/{name}", timeout=60, follow_redirects=True) as reply,
            (folder / name).open("wb") as file,
        ):
            reply.raise_for_status()
            for part in reply.iter_bytes():
                file.write(part)
        if name.endswith(".tar.gz"):
            packed = (folder / name).rename(folder / "packed")
            with tarfile.open(packed) as members:
                members.extractall(folder / name, filter="data")
            packed.unlink()
    except httpx2.HTTPError as error:
        raise OutOfReachError(f"{ARCHIVE}/{name} cannot be downloaded: {error}.") from None
