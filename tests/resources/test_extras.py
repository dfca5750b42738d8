"""The extras: what each declares is there, and the core goes on without their folders."""

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from resources.extras import Extra, extras
from resources.home import REPO_ROOT

CORE = ("assets", "dagster_project", "methods", "resources", "review", "sql", "models.yaml")
WITHOUT = """
from dagster_project.cli import vlm_loom
from resources.extras import extras

assert extras() == ()
for group in ("review", "result"):
    assert vlm_loom.commands[group].commands
"""


@pytest.mark.parametrize("extra", extras(), ids=str)
def test_what_an_extra_declares_is_there(extra: Extra) -> None:
    if extra.commands:
        assert all(import_module(extra.commands).COMMANDS.values())
    for module in map(import_module, extra.review_formats.values()):
        assert callable(module.write_items) and callable(module.read_records)


def test_the_core_works_without_extras(tmp_path: Path) -> None:
    for name in CORE:
        source = REPO_ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "sample_corpus")
            shutil.copytree(source, tmp_path / name, ignore=ignored)
        else:
            shutil.copy(source, tmp_path)

    subprocess.run([sys.executable, "-c", WITHOUT], cwd=tmp_path, check=True)
