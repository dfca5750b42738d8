"""Storage of the Dagster instance of a shared installation: Dagster's own on Postgres, in its schema.

What belongs here: the address, that the schema is made by one process at a time, and that a run at work
waits for a server that is away. Only the settings of such an instance name this module
(`dagster_shared.yaml`): its packages are an extra.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import psycopg2
from dagster._config.config_schema import UserConfigSchema
from dagster._serdes import ConfigurableClassData
from dagster_postgres import DagsterPostgresStorage
from sqlalchemy import event
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from resources.migrations import StoreAway, StoreError
from resources.stores import address as store_address
from resources.stores.address import VARIABLE

SCHEMA = "dagster"
PATIENCE = 300.0
"""Seconds that a run at work waits for a server that is away: for as long its steps are tried again."""
at_work: set[str] = set()
"""The runs that this process executes, whose events must not be lost."""
_MAKING = 0x6C6F6F6D64
"""The lock of the process that makes the schema and its tables."""


def database() -> str | None:
    """The address of the stores' database for Dagster, which refuses one without a name."""
    address = store_address.database()
    if address:
        # Looked at alone: SQLAlchemy writes a blank of a password as libpq does not read it.
        _url(address)
    return address


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


def _connected(dialect: Any, _record: object, positional: Any, named: Any) -> Any:
    """A connection once the server answers, while a run is at work; else SQLAlchemy connects."""
    if not at_work:
        return None
    patient = Retrying(
        retry=retry_if_exception_type(psycopg2.OperationalError),
        stop=stop_after_delay(PATIENCE),
        wait=wait_exponential(multiplier=0.2, max=5.0),
        reraise=True,
    )
    return patient(dialect.connect, *positional, **named)


def _named(context: ExceptionContext) -> BaseException | None:
    """What a step is told of a server that went away is one sentence, after which it is tried again."""
    error = context.original_exception
    if at_work and isinstance(error, psycopg2.OperationalError):
        return _away(error)
    return None


def _away(error: Exception) -> StoreAway:
    reason = str(error).strip().partition("\n")[0]
    return StoreAway(
        f"The database of {VARIABLE} cannot be used ({reason}): start its server, or correct the "
        "address."
    )


class Storage(DagsterPostgresStorage):
    """All that an instance stores, in the schema `dagster` of the database."""

    def __init__(self, address: str, inst_data: ConfigurableClassData | None = None):
        url = _url(address)
        try:
            connection = psycopg2.connect(address)
        except psycopg2.OperationalError as error:
            raise _away(error) from None
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
        parts: list[Any] = [self.run_storage, self.event_log_storage, self.schedule_storage]
        for part in parts:
            event.listen(part._engine, "do_connect", _connected)
            event.listen(part._engine, "handle_error", _named)

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
