"""Dagster's storage on Postgres, which waits for a server that restarts as the other stores do.

dagster-postgres tries to connect for 11 seconds. Then the run, or a thread of Dagster's services, ends.
"""

import threading
from typing import Any

from dagster_postgres.storage import DagsterPostgresStorage
from sqlalchemy import Engine, event

from resources.stores import address
from resources.stores.outages import open_session

CLEANUP = "grpc-server-cleanup"
"""The thread of a code server that ends runs of dead processes and a replaced server. Dagster does not
restart it."""


class PostgresStorage(DagsterPostgresStorage):
    """dagster-postgres's storage, whose sessions wait for a server that was reached before."""

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> Any:
        """Make the storage as Dagster configures it, and let its driver's sessions wait."""
        if not event.contains(Engine, "do_connect", _connect):
            event.listen(Engine, "do_connect", _connect)
        return super().from_config_value(inst_data, config_value)


def _connect(dialect: Any, _record: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
    """Open a session of SQLAlchemy's driver psycopg2, which only Dagster's storage uses here.

    A standby, which is read-only until a failover ends, counts as away unless the address allows it.
    """
    stores = address.database()
    if dialect.driver != "psycopg2" or stores is None:
        return None
    options = {"target_session_attrs": "read-write", **options}
    return open_session(
        stores,
        address.shown_address(stores),
        lambda: dialect.connect(*arguments, **options),
        dialect.loaded_dbapi.OperationalError,
        endless=threading.current_thread().name == CLEANUP,
    )
