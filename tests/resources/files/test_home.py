"""Everything that is written at run time stands under one folder, and LOOM_WORKSPACE moves it."""

import runpy
import shutil
from pathlib import Path

from resources.files import home


def test_the_folder_is_data_in_the_project_or_where_one_starts(monkeypatch, tmp_path):
    monkeypatch.setenv("LOOM_WORKSPACE", "")
    assert home.home() == home.REPO_ROOT / "data"
    monkeypatch.delenv("LOOM_WORKSPACE")
    assert home.home() == home.REPO_ROOT / "data"
    assert (home.REPO_ROOT / "pyproject.toml").is_file()
    # An installation that is no checkout.
    packages = tmp_path / "site-packages" / "resources"
    packages.mkdir(parents=True)
    copy = Path(shutil.copy(home.__file__, packages))
    monkeypatch.chdir(tmp_path)
    assert runpy.run_path(str(copy))["home"]() == tmp_path / "data"


def test_a_relative_home_is_absolute_and_the_former_variable_names_one_too(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOOM_WORKSPACE", raising=False)
    monkeypatch.setenv("LOOM_HOME", "former")
    assert home.home() == tmp_path / "former"
    monkeypatch.setenv("LOOM_WORKSPACE", "here")
    assert home.home() == tmp_path / "here"
