"""Two homes on one bucket: what one of them writes, the other one has."""

import shutil
from pathlib import Path

import pytest

from resources.files.object_storage import SharedFiles
from resources.images.store import ImageStore
from tests.doubles.servers import S3Server
from tests.e2e.running import Run, command

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.nightly]
FILES = ("images", "releases", "reports")


def names(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_a_home_without_files_gets_those_of_the_bucket(
    copied: Run, s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"s3://{s3.bucket()}/wit"
    settings = {**s3.environment, "LOOM_FILES": address}
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    shared = SharedFiles(address)
    images = ImageStore(tmp_path / "elsewhere", shared)
    for path in (copied.home / "images").rglob("*.*"):
        images.put(path.read_bytes())
    # A machine that has the tables, and neither pictures nor folders of releases.
    other = tmp_path / "other"
    shutil.copytree(copied.home, other, ignore=shutil.ignore_patterns(*FILES))
    for home in (copied.home, other):
        for stage in ("release", "evaluate"):
            run = command(home, "run", stage, **settings)
            assert run.returncode == 0, run.stderr + run.stdout
    before, after = names(copied.home / "releases"), names(other / "releases")
    assert after == before
    for name in sorted(before):
        assert (other / "releases" / name).read_bytes() == (
            copied.home / "releases" / name
        ).read_bytes()
    # Pages of the site have their pictures.
    assert names(other / "reports" / "items") == names(copied.home / "reports" / "items")
    assert shared.get("reports/index.html") == (other / "reports" / "index.html").read_bytes()
    assert set(shared.listing("releases")) == before
