"""The Dagster instance of the project: `dagster/` under the home folder, with its own dagster.yaml.

What belongs here: making that folder ready. It is called before anything opens the instance.
"""

import os
from pathlib import Path

import dagster as dg

from resources.home import home

SETTINGS = Path(__file__).with_name("dagster.yaml")


def prepare_dagster_home() -> Path:
    """Make `DAGSTER_HOME` point under the home folder, with the project's settings in it."""
    folder = home() / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / SETTINGS.name
    if not target.exists() or target.read_bytes() != SETTINGS.read_bytes():
        target.write_bytes(SETTINGS.read_bytes())
    os.environ["DAGSTER_HOME"] = str(folder)
    return folder


def open_instance() -> dg.DagsterInstance:
    """The instance that the UI shows."""
    prepare_dagster_home()
    return dg.DagsterInstance.get()
