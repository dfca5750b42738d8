"""The servers that tests of shared stores stand on answer, and each test has its own place in them."""

import obstore
import psycopg
import pytest
from obstore.store import S3Store

from tests.doubles.servers import PostgresServer, S3Server


def test_databases_of_postgres_are_apart(postgres: PostgresServer) -> None:
    one, another = postgres.database(), postgres.database()
    with psycopg.connect(one) as connection:
        connection.execute("CREATE TABLE mine (a int)")
    with psycopg.connect(another) as connection, pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT * FROM mine")


def test_buckets_are_apart(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    one, another = S3Store(s3.bucket()), S3Store(s3.bucket())
    obstore.put(one, "a/b", b"bytes")
    assert bytes(obstore.get(one, "a/b").bytes()) == b"bytes"
    assert [list(batch) for batch in obstore.list(another)] == []
