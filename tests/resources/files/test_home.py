"""Everything that is written at run time stands under one folder, and LOOM_WORKSPACE moves it."""

import subprocess
import sys
from pathlib import Path

import pytest

from resources.files import home


@pytest.mark.parametrize("unset", [None, ""])
def test_the_folder_is_data_in_the_project_by_default(monkeypatch, unset):
    monkeypatch.delenv("LOOM_WORKSPACE", raising=False)
    if unset is not None:
        monkeypatch.setenv("LOOM_WORKSPACE", unset)

    assert home.home() == home.REPO_ROOT / "data"
    assert (home.REPO_ROOT / "pyproject.toml").is_file()


def test_an_installation_that_is_no_checkout_writes_where_it_is_started(tmp_path):
    packages, work = tmp_path / "site-packages" / "resources", tmp_path / "work"
    packages.mkdir(parents=True)
    work.mkdir()
    copy = packages / "home.py"
    copy.write_text(Path(home.__file__).read_text())
    shown = subprocess.run(
        [sys.executable, "-c", "import home; print(home.home())"],
        env={"PYTHONPATH": str(packages)},
        cwd=work,
        check=True,
        capture_output=True,
        text=True,
    )

    assert shown.stdout.strip() == str(work / "data")


def test_a_relative_home_does_not_move_when_the_working_folder_does(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOM_WORKSPACE", "here")
    assert home.home() == tmp_path / "here"
