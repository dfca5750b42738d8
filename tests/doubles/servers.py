"""Servers that a shared installation uses, each its own, gone with the tests: Postgres, an S3 server.

Postgres is Debian's package; the S3 server is moto, in this process.
"""

import logging
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from resources.web.ports import HOST

SETTINGS = ("max_connections=400", f"listen_addresses={HOST}")
FORGETFUL = ("fsync=off", "full_page_writes=off")
"""The server dies with the tests, never the machine under it."""


def postgres_binaries() -> Path | None:
    """The folder with `initdb` and `postgres`; None where Postgres is not installed."""
    # Debian keeps the server's programs off the path.
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), reverse=True)
    on_path = shutil.which("postgres")
    programs = [*found, *([Path(on_path)] if on_path else [])]
    return programs[0].parent if programs else None


class PostgresServer:
    """A server that `start` runs; `database()` makes a database of one's own in it."""

    def __init__(self, address: str, program: Sequence[Any], **run_as: Any):
        self.address = address
        self._program, self._run_as = program, run_as

    def start(self) -> None:
        """Run the server; it answers on return."""
        self._process = subprocess.Popen(self._program, **self._run_as)
        _wait_for(self)

    def stop(self, number: signal.Signals) -> None:
        """End the server: SIGINT is its fast shutdown, SIGQUIT the immediate one."""
        self._process.send_signal(number)
        self._process.wait(timeout=30)

    def connect(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(f"{self.address}/postgres", autocommit=True)

    def database(self, like: str = "") -> str:
        """The address of a new database: an empty one, or a copy of the one with the address `like`."""
        name, template = f"loom_{uuid.uuid4().hex[:12]}", ""
        if like:
            self.cut(like)
            template = f"TEMPLATE {like.rpartition('/')[2]}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name} {template}")
        return f"{self.address}/{name}"

    def cut(self, database: str) -> None:
        """End every session of the database, as a server that restarts does."""
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        with self.connect() as connection:
            connection.execute(end, [database.rpartition("/")[2]])

    def drop(self, database: str) -> None:
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE {database.rpartition('/')[2]} WITH (FORCE)")


@contextmanager
def running_postgres(binaries: Path, port: int) -> Iterator[PostgresServer]:
    """A Postgres server that accepts everybody on loopback, as long as the block lasts."""
    # Postgres refuses to be run by root; Debian's package makes this user.
    user: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="loom-postgres-") as folder:
        if user:
            shutil.chown(folder, **user)
        data = Path(folder) / "data"
        made = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"]
        quiet: dict[str, Any] = {
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "cwd": folder,
        }
        subprocess.run([*made, "-E", "UTF8", "--locale=C.UTF-8"], check=True, **quiet, **user)
        options = [*SETTINGS, *FORGETFUL, f"port={port}", f"unix_socket_directories={folder}"]
        program = [binaries / "postgres", "-D", data, *(f"-c{each}" for each in options)]
        server = PostgresServer(f"postgresql://postgres@{HOST}:{port}", program, **quiet, **user)
        server.start()
        try:
            yield server
        finally:
            # Connections that tests left are cut.
            server.stop(signal.SIGQUIT)


@retry(
    retry=retry_if_exception_type(psycopg.OperationalError),
    stop=stop_after_delay(60),
    wait=wait_fixed(0.1),
    reraise=True,
)
def _wait_for(server: PostgresServer) -> None:
    server.connect().close()


class S3Server:
    """A running S3 server; `bucket()` makes a bucket of one's own in it.

    Its clients take the environment's variables: any key is accepted.
    """

    def __init__(self, address: str):
        self.environment = {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }

    def bucket(self) -> str:
        """The name of a new, empty bucket."""
        import boto3

        name = f"loom-{uuid.uuid4().hex[:12]}"
        client = boto3.client(
            "s3",
            endpoint_url=self.environment["AWS_ENDPOINT_URL"],
            region_name=self.environment["AWS_REGION"],
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
        )
        client.create_bucket(Bucket=name)
        client.close()
        return name


@contextmanager
def running_s3() -> Iterator[S3Server]:
    """An S3 server on loopback, as long as the block lasts; other processes reach it, too."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield S3Server(f"http://{host}:{port}")
    finally:
        server.stop()
