"""Which lake a home's variables name, and what is said of one that cannot be used."""

import re

import duckdb
import pytest

from methods.errors import UserError
from resources.files.system_errors import ResourceExhausted
from resources.upkeep.backup import back_up
from resources.upkeep.backup_contents import BackupError
from resources.warehouse.configured import warehouse_of_home
from resources.warehouse.lake_connection import (
    LakeAddress,
    LakeError,
    lake_address,
    lake_error,
    load_extensions,
)


@pytest.mark.parametrize(
    ("value", "files", "said"),
    [
        ("warehouse.duckdb", "", "does not begin with ducklake:postgres:"),
        ("ducklake:sqlite:x", "", "does not begin with ducklake:postgres:"),
        ("ducklake:postgres:", "", "names no database"),
        ("ducklake:postgres:host=db", "", "names no database"),
        ("ducklake:postgres:colour=red", "", "has no options of libpq"),
        ("ducklake:postgres:postgresql://u:s3cr3t/x@db/loom", "", "password as %XX"),
        ("ducklake:postgres:postgresql://u:s3cr3t@x@db/loom", "", "password as %XX"),
        ("ducklake:postgres:dbname=x", "gs://bucket", "LOOM_FILES is .*set it to s3://"),
    ],
)
def test_unknown_and_half_settings_are_refused_in_one_sentence(
    loom_home, monkeypatch, value, files, said
):
    monkeypatch.setenv("LOOM_WAREHOUSE", value)
    monkeypatch.setenv("LOOM_FILES", files)
    with pytest.raises(UserError, match=said) as refused:
        warehouse_of_home()
    assert "\n" not in str(refused.value) and "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize(
    "said", ["dbname=loom host=db password=s3cr3t", "postgresql://:s3cr3t@db/loom"]
)
def test_a_lake_is_named_by_options_or_a_url_and_is_not_backed_up(loom_home, monkeypatch, said):
    monkeypatch.setenv("LOOM_WAREHOUSE", f"ducklake:postgres:{said}")
    for files, where in (
        ("", f"{loom_home}/lake/"),
        (f"{loom_home}/files/", f"{loom_home}/files/lake/"),
        ("s3://b/p/", "s3://b/p/lake/"),
    ):
        monkeypatch.setenv("LOOM_FILES", files)
        address = lake_address()
        assert (address.name, address.files) == ("the lake loom on db", where)
        assert address.without_secrets(f"at {address.catalogue} with s3cr3t") == "at ... with ..."
    with pytest.raises(BackupError, match=r"on the lake loom on db: .*pg_dump.*p/lake/") as refused:
        back_up(loom_home, loom_home.with_name("backup"))
    assert "s3cr3t" not in str(refused.value)


def test_a_duckdb_without_ducklake_is_one_sentence(monkeypatch):
    monkeypatch.setattr("resources.warehouse.lake_connection.EXTENSIONS", ("not_there",))
    wanted = f"install duckdb-extension-not-there=={duckdb.__version__}"
    with (
        duckdb.connect() as connection,
        pytest.raises(LakeError, match=f"needs DuckDB's extension not_there.*{wanted}"),
    ):
        load_extensions(connection, LakeAddress("dbname=x", "/lake/"))


def test_a_slow_link_has_minutes_for_a_data_file_of_a_bucket():
    with duckdb.connect() as connection:
        load_extensions(connection, LakeAddress("dbname=x", "s3://bucket/lake/"))
        query = "SELECT current_setting('http_timeout')"
        assert connection.cursor().execute(query).fetchone() == (180,)


UNUSABLE, GONE = (
    "check LOOM_FILES, the AWS_",
    "A file of the lake loom on db is gone .* put it back",
)
OTHER_VERSION = "another version of DuckLake .* install here the version of vlm-loom"


@pytest.mark.parametrize(
    ("error", "said", "passing"),
    [
        (
            "Could not connect to server error for HTTP GET to 'http://s3/b/x.parquet'",
            UNUSABLE,
            True,
        ),
        (
            "HTTP Error: Unable to connect to URL s3://b/x.parquet: Forbidden (HTTP code 403)",
            UNUSABLE,
            False,
        ),
        ("HTTP GET error reading 'http://h/x.parquet' (HTTP 404 Not Found) NoSuchKey", GONE, False),
        ('Cannot open file "s3://b/lake/x.parquet": No such file or directory', GONE, False),
        ("DuckLake catalog version mismatch: catalog version is 99.0", OTHER_VERSION, False),
    ],
)
def test_what_is_wrong_with_files_or_the_catalogues_version_is_one_sentence(error, said, passing):
    """As DuckDB 1.5.5 says it: a server that was stopped, a key without rights, a later version."""
    address = LakeAddress("dbname=loom host=db password=s3cr3t", "s3://b/lake/")
    found = lake_error(address, duckdb.IOException(f"{error} s3cr3t"))
    assert isinstance(found, LakeError) and found.passing is passing
    assert re.search(said, str(found)) and "s3cr3t" not in str(found)


def test_a_full_server_of_data_files_is_one_sentence_and_no_outage():
    """As DuckDB 1.5.5 says what MinIO answered."""
    error = duckdb.HTTPException(
        "HTTP Error: Unable to connect to URL s3://b/lake/x.parquet: Insufficient Storage (HTTP code "
        "507)\n\nXMinioStorageFull: Storage backend has reached its minimum free drive threshold."
    )
    found = lake_error(LakeAddress("dbname=loom host=db", "s3://b/lake/"), error)
    assert isinstance(found, LakeError) and isinstance(found, ResourceExhausted)
    assert not found.passing
    assert str(found).startswith("The storage server of s3://b/lake/ is full: make room on it and")
