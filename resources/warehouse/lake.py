"""The warehouse on a DuckLake: snapshots of releases, and time travel (reads at a snapshot).

`lake_database.py` has the transactions, `lake_upkeep.py` merges files and expires snapshots.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from methods.json_text import from_json
from resources.files import home
from resources.warehouse.database import NO_TABLES
from resources.warehouse.declarations import sql_text
from resources.warehouse.duckdb_file import quoted
from resources.warehouse.lake_connection import (
    LakeAddress,
    LakeError,
    attach,
    catalogue_exists,
    load_extensions,
)
from resources.warehouse.lake_database import LakeDatabase
from resources.warehouse.query_check import SEALED
from resources.warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    import duckdb

_LOG = logging.getLogger(__name__)


class Lake(Warehouse):
    """Reads and replaces tables of a lake; safe among processes on any number of machines."""

    database: LakeDatabase

    def __init__(self, address: LakeAddress, log: Callable[[str], None] = _LOG.warning):
        # The path of the workspace's DuckDB file, which a lake does not use.
        super().__init__(home.warehouse_path(), log, LakeDatabase(address, log))
        self.address = address

    def snapshots_of_releases(self) -> dict[str, int]:
        """Return release id -> number of the first snapshot that contains the release."""
        rows = self.sql(sql_text("snapshots_of_releases"))
        snapshots: dict[str, int] = {}
        for snapshot_id, extra in zip(*rows.to_pydict().values(), strict=True):
            for release_id in from_json(extra)["releases"]:
                snapshots.setdefault(release_id, snapshot_id)
        return snapshots


@contextmanager
def read_at(address: LakeAddress, moment: str | None) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Open a read-only connection to the lake, now or at a snapshot; it cannot read other files.

    Args:
        address: The address of the lake.
        moment: The number of a snapshot or a time (UTC); None for the current state.

    Raises:
        LakeError: The lake does not answer, or has no tables or no such snapshot.
    """
    import duckdb

    if not catalogue_exists(address):
        raise LakeError(NO_TABLES)
    connection = duckdb.connect(config={"temp_directory": f"{home.warehouse_path()}.tmp"})
    try:
        load_extensions(connection, address)
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        options = ["READ_ONLY"]
        if moment is not None:
            kind = "SNAPSHOT_VERSION" if moment.isdecimal() else "SNAPSHOT_TIME"
            options.append(f"{kind} {moment if moment.isdecimal() else quoted(moment)}")
        try:
            attach(connection, address, *options)
        except duckdb.Error as error:
            reason = address.without_secrets(str(error).splitlines()[0])
            raise LakeError(
                f"{address.name} cannot be read as of {moment} ({reason}): give a time such as "
                "'2026-01-31 12:00', or a number of FROM ducklake_snapshots('warehouse')."
            ) from error
        connection.execute(
            f"USE warehouse; SET allowed_directories = [{quoted(address.files)}]; {SEALED}"
        )
        yield connection
    finally:
        connection.close()
