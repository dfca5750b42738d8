"""The configured warehouse of a workspace: a DuckDB file, or the lake that `LOOM_WAREHOUSE` names.

A workspace without a lake does not import the lake's modules. This module also checks the path of a
workspace.
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
"""Maximum length of a workspace's path in bytes. SQLite accepts paths of up to 512 bytes, and the names
of files in the workspace have up to 100 bytes."""
_MISREAD = re.compile(r"[?*\[\\]|%[0-9A-Fa-f]{2}")
"""Characters in a workspace's path that DuckDB or Dagster would misread. DuckDB reads ? as the start of
options, and a backslash as a slash. Dagster reads %41 in the URLs of its databases as A, and * and [ in
the path of its settings as a glob pattern."""


def require_plain_path(folder: Path) -> None:
    """Raise StoreError if a workspace's path is too long, or if DuckDB or Dagster would misread it."""
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
    """Return the warehouse of a workspace. Does not open it.

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
