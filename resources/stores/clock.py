"""The clock of a store: the server's clock if machines share the store, else the machine's clock."""

import time

from sqlalchemy import Connection


def server_seconds(connection: Connection) -> float | None:
    """Return the time in seconds since 1970 by the clock of the store's server; None for a file.

    A transaction asks the server once, when it begins.
    """
    if connection.dialect.name == "sqlite":
        return None
    began = connection.info.get("began")
    if began is not None:
        at, local = began
        return float(at + time.monotonic() - local)
    query = "SELECT extract(epoch FROM clock_timestamp())::float8"
    return float(connection.exec_driver_sql(query).scalar_one())
