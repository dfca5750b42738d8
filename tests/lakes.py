"""New lakes for tests, with their catalogues on a Postgres of the tests."""

from pathlib import Path

from resources.warehouse.lake import Lake
from resources.warehouse.lake_connection import LakeAddress
from tests.doubles.servers import PostgresServer


def new_lake(postgres: PostgresServer, folder: Path) -> Lake:
    """A lake that is made when it is first used, with its files in `folder`."""
    lake = Lake(LakeAddress(postgres.database(), f"{folder}/lake/"))
    # Tests look for a file there.
    lake.path = folder / lake.path.name
    return lake
