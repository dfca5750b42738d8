"""Which warehouse a home has: its file, or the lake that `LOOM_WAREHOUSE` names.

What belongs here: that choice. A home without a lake imports nothing of it.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from resources import home
from resources.lake_file import lake_address
from resources.warehouse import Warehouse

_LOG = logging.getLogger(__name__)


def warehouse_of_home(
    log: Callable[[str], None] = _LOG.warning, folder: Path | None = None
) -> Warehouse:
    """The tables of the home, or of the one in `folder`. Nothing is opened; raises LakeError."""
    if address := lake_address():
        from resources.lake import Lake

        return Lake(address, log)
    return Warehouse((folder or home.home()) / home.warehouse_path().name, log)
