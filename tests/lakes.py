"""New lakes for tests, with their catalogues on a Postgres of the tests."""

import shutil
import tempfile
from pathlib import Path

import psycopg

from resources.warehouse.lake import Lake
from resources.warehouse.lake_connection import SCHEMA, LakeAddress
from tests.doubles.servers import PostgresServer

_made: dict[str, tuple[Lake, tempfile.TemporaryDirectory[str]]] = {}
"""By server, a lake with its tables and no rows, which others are copies of, and its folder."""


def new_lake(postgres: PostgresServer, folder: Path) -> Lake:
    """A lake that is made when it is first used, with its files in `folder`."""
    lake = Lake(LakeAddress(postgres.database(), f"{folder}/lake/"))
    # Tests look for a file there.
    lake.path = folder / lake.path.name
    return lake


def made_lake(postgres: PostgresServer, folder: Path) -> Lake:
    """A lake that has its tables: a copy of the server's first one, which took seconds to make."""
    if postgres.address not in _made:
        first = tempfile.TemporaryDirectory()
        _made[postgres.address] = new_lake(postgres, Path(first.name)), first
        _made[postgres.address][0].check()
    original = _made[postgres.address][0].address
    lake = Lake(LakeAddress(postgres.database(original.catalogue), f"{folder}/lake/"))
    shutil.copytree(original.files, lake.address.files)
    lake.path = folder / lake.path.name
    query = f"UPDATE {SCHEMA}.ducklake_metadata SET value = %s WHERE key = 'data_path'"
    with psycopg.connect(lake.address.catalogue, autocommit=True) as catalogue:
        assert catalogue.execute(query, [lake.address.files]).rowcount == 1
    return lake
