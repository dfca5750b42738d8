"""Storage of the Dagster instance of a shared installation: Dagster's own on Postgres, in its schema.

What belongs here: the address, and that the schema is made by one process at a time. Only the settings
of such an instance name this module (`dagster_shared.yaml`): its packages are an extra.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import psycopg2
from dagster._config.config_schema import UserConfigSchema
from dagster._serdes import ConfigurableClassData
from dagster_postgres import DagsterPostgresStorage
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from resources import store_backend
from resources.migrations import StoreError
from resources.store_backend import VARIABLE

SCHEMA = "dagster"
_MAKING = 0x6C6F6F6D64
"""The lock of the process that makes the schema and its tables."""


def database() -> str | None:
    """As of `store_backend`, for Dagster: with the database's name, without which it is refused."""
    address = store_backend.database()
    return str(_url(address).render_as_string(hide_password=False)) if address else None


def _url(address: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError:
        url = None
    if url is None or url.drivername not in ("postgresql", "postgres") or not url.database:
        raise StoreError(
            f"{VARIABLE} is no address of a Postgres database: set it as in "
            "postgresql://user@host:5432/database, with special characters of a password as %XX."
        )
    return url.set(drivername="postgresql")


def _in_schema(url: URL) -> URL:
    """The address with whose connections a table without a schema is one of Dagster's.

    It names the driver: SQLAlchemy takes the newer one where both are installed, and dagster-postgres
    closes that one's connections when it sets the webserver's limit for statements.
    """
    options = url.query.get("options", "")
    given = options if isinstance(options, str) else " ".join(options)
    of_dagster = url.set(drivername="postgresql+psycopg2")
    return of_dagster.update_query_dict({"options": f"{given} -csearch_path={SCHEMA}".strip()})


class Storage(DagsterPostgresStorage):
    """All that an instance stores, in the schema `dagster` of the database."""

    def __init__(self, address: str, inst_data: ConfigurableClassData | None = None):
        url = _url(address)
        try:
            connection = psycopg2.connect(url.render_as_string(hide_password=False))
        except psycopg2.OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            raise StoreError(
                f"The database of {VARIABLE} cannot be used ({reason}): start its server, or correct "
                "the address.",
                passing=True,
            ) from None
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                # Let go of when the connection is closed.
                cursor.execute("SELECT pg_advisory_lock(%s)", (_MAKING,))
                cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (SCHEMA,))
                if cursor.fetchone() is None:
                    cursor.execute(f"CREATE SCHEMA {SCHEMA}")
            super().__init__(
                _in_schema(url).render_as_string(hide_password=False), inst_data=inst_data
            )
        finally:
            connection.close()

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        """The address, which settings take from the environment."""
        return {"address": dg.StringSource}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "Storage":
        """The storage that `dagster_shared.yaml` names."""
        return cls(config_value["address"], inst_data)
