"""The configured warehouse of a workspace: a file, or the lake that `LOOM_WAREHOUSE` names.

A workspace without a lake does not import the lake's modules. The valid paths of a workspace are
checked here, too.
"""

import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

from resources.files import home
from resources.migrations import StoreError
from resources.warehouse import Warehouse
from resources.warehouse.lake_connection import lake_address

_LOG = logging.getLogger(__name__)
_LONGEST_PATH = 400
"""Bytes of a workspace's path: SQLite takes paths of 512, and those of files in it add up to 100."""
_MISREAD = re.compile(r"[?*\[\\]|%[0-9A-Fa-f]{2}")
"""DuckDB takes ? for the start of options and a backslash for a slash; Dagster names its databases by
URLs, in which %41 is A, and finds its settings by a pattern, in which * and [ stand for others."""


def require_plain_path(folder: Path) -> None:
    """Raise StoreError where a workspace's path is too long, or a part of it would be misread."""
    if len(os.fsencode(folder)) > _LONGEST_PATH:
        raise StoreError(
            f"The workspace's path has more than {_LONGEST_PATH} bytes, and SQLite takes no longer "
            "ones for the files in it. Set --workspace or LOOM_WORKSPACE to a folder with a "
            "shorter path."
        )
    if misread := _MISREAD.search(str(folder)):
        raise StoreError(
            f"The workspace {folder} cannot be used: databases and Dagster do not take {misread[0]} in "
            "a path as it is written. Rename that folder, or set --workspace or LOOM_WORKSPACE to "
            "another one."
        )


def warehouse_of_home(
    log: Callable[[str], None] = _LOG.warning, folder: Path | None = None
) -> Warehouse:
    """Give the tables of a workspace. Does not open them.

    Args:
        log: Receives warnings.
        folder: The workspace; the configured one by default.

    Returns:
        The lake that LOOM_WAREHOUSE names, or else the workspace's DuckDB file.

    Raises:
        StoreError: The setting or the path cannot be used.
    """
    if address := lake_address():
        from resources.warehouse.lake import Lake

        return Lake(address, log)
    folder = folder or home.home()
    require_plain_path(folder)
    return Warehouse(folder / home.warehouse_path().name, log)
