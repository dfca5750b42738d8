"""Images, releases and the site where machines share them: the home has copies of them."""

import json
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from obstore.exceptions import GenericError
from starlette.testclient import TestClient

from resources.files.object_storage import LISTING, SharedFiles, SharedFilesError, shared_files
from resources.files.system_errors import ResourceExhausted
from resources.images.store import ImageDamaged, ImageNotStored, ImageStore
from resources.publishing.server import files_of
from tests.doubles.odd_api import Asked, answering
from tests.doubles.one_colour import one_colour
from tests.doubles.servers import S3Server
from tests.resources.folder_content import everything

pytestmark = pytest.mark.slow


@pytest.fixture
def bucket_server(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return s3


@pytest.fixture(params=["bucket", "folder"])
def shared(request, loom_home, monkeypatch, tmp_path) -> SharedFiles:
    address = str(tmp_path / "mounted" / "folder")
    if request.param == "bucket":
        address = f"s3://{request.getfixturevalue('bucket_server').bucket()}/some/where/"
    monkeypatch.setenv("LOOM_FILES", address)
    return shared_files()


@pytest.fixture
def machine(shared: SharedFiles, tmp_path: Path) -> Callable[[str], ImageStore]:
    return lambda name: ImageStore(tmp_path / name / "images", shared)


def test_an_address_or_a_server_of_another_form_is_refused(loom_home, monkeypatch):
    assert shared_files() is None, "nothing is set"
    for address in ("bucket", "https://bucket", "s3://", "s3:///", "./folder", "s3://My Bucket"):
        monkeypatch.setenv("LOOM_FILES", address)
        with pytest.raises(SharedFilesError, match=f"LOOM_FILES is '{address}': set it to s3://"):
            shared_files()
    monkeypatch.setenv("LOOM_FILES", "s3://bucket")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "s3:9000")
    with pytest.raises(SharedFilesError, match="AWS_ENDPOINT_URL is 's3:9000': set it to the addr"):
        shared_files()


def test_a_bucket_that_is_not_there_is_said_in_a_sentence(bucket_server):
    nowhere = SharedFiles("s3://nowhere/a")
    for use, *given in ((nowhere.put, "b", b""), (nowhere.get, "b"), (nowhere.keys, "b")):
        with pytest.raises(SharedFilesError, match="is no bucket 'nowhere' for s3://nowhere/a"):
            use(*given)


@pytest.mark.parametrize("length", [2_000_000, 10**13])
def test_an_object_that_is_too_large_is_not_read(length, bucket_server, monkeypatch):
    def endless(asked: Asked) -> None:
        asked.begin(Content_Length=str(length), Last_Modified="Mon, 01 Jan 2024 00:00:00 GMT")
        asked.write(b"x")

    with answering(endless) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server.address}")
        with pytest.raises(SharedFilesError, match=f"at least {length} bytes"):
            SharedFiles(f"s3://large-{length}").get("a", most=1_000_000)


def test_a_server_that_does_not_answer_is_said_without_the_key(bucket_server, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    with pytest.raises(SharedFilesError, match="cannot be used") as raised:
        SharedFiles("s3://another").get("a")
    assert "very-secret" not in str(raised.value)


def test_a_slow_link_has_minutes_for_a_request_and_variables_of_the_client_count(
    bucket_server, monkeypatch
):
    store = SharedFiles("s3://slow")._store
    assert store.client_options == {"timeout": "600s", "allow_http": "true"}
    assert store.retry_config["retry_timeout"].total_seconds() == 600
    monkeypatch.setenv("AWS_TIMEOUT", "20s")
    monkeypatch.setenv("AWS_PROXY_URL", "http://proxy:3128")
    options = SharedFiles("s3://of-a-proxy")._store.client_options
    assert options["timeout"] == "20s" and options["proxy_url"] == "http://proxy:3128"


def test_a_full_server_is_one_sentence_and_no_outage(bucket_server, monkeypatch):
    """As MinIO answers."""
    full = (
        "Generic S3 error: Error performing PUT http://s3:9000/b/a in 3s, after 10 retries, "
        "max_retries: 10, retry_timeout: 600s  - Server returned non-2xx status code: "
        "507 Insufficient Storage: <Error><Code>XMinioStorageFull</Code></Error>"
    )
    monkeypatch.setattr("obstore.put", Mock(side_effect=GenericError(full)))
    with pytest.raises(ResourceExhausted) as raised:
        SharedFiles("s3://b").put("a", b"")
    assert isinstance(raised.value, SharedFilesError) and not raised.value.passing
    assert str(raised.value).startswith("The storage server of s3://b is full: make room on it and")


def test_an_image_of_one_machine_is_read_on_another(machine, shared):
    red = one_colour("red")
    one, another = machine("one"), machine("another")
    stored = one.put(red)
    assert shared.get(f"images/{stored.path}") == red
    assert another.read(stored.image_id) == red
    assert another.has(stored.image_id) and another.relative_path(stored.image_id) == stored.path
    # It is kept there, and a damaged copy is fetched again.
    path = another.path(stored.image_id)
    assert path.read_bytes() == red
    path.write_bytes(b"cut")
    assert another.read(stored.image_id) == red
    path.write_bytes(b"cut")
    assert another.path(stored.image_id).read_bytes() == red


def test_an_image_is_in_the_bucket_before_it_is_in_the_home(machine, monkeypatch):
    one = machine("one")
    away = SharedFilesError("The bucket is away.")
    monkeypatch.setattr(SharedFiles, "put", Mock(side_effect=away))
    with pytest.raises(SharedFilesError):
        one.put(one_colour("red"))
    assert not one.root.exists()


def test_an_image_with_other_bytes_in_the_bucket_is_not_taken(machine, shared):
    stored = machine("one").put(one_colour("red"))
    shared.put(f"images/{stored.path}", one_colour("blue"))
    with pytest.raises(ImageNotStored):
        machine("another").read(stored.image_id)
    one = machine("one")
    one.path(stored.image_id).write_bytes(b"cut")
    with pytest.raises(ImageDamaged):
        one.read(stored.image_id)
    # Stored again it is whole in both.
    one.put(one_colour("red"))
    assert machine("another").read(stored.image_id) == one_colour("red")


def test_a_folder_is_sent_once_and_is_the_same_on_another_machine(shared, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "a").mkdir(parents=True)
    (here / "index.html").write_text("<p>one")
    (here / "a" / "b.json").write_text("{}")
    (here / ".draft").write_text("not yet")
    assert shared.publish("site", here) == 2
    assert shared.publish("site", here) == 0
    assert shared.fetch("site", there) == 2
    assert everything(there) == {"index.html": b"<p>one", "a/b.json": b"{}"}
    (here / "index.html").write_text("<p>two")
    (here / "a" / "b.json").unlink()
    (there / "own.txt").write_text("of this machine")
    assert shared.publish("site", here) == 1
    assert shared.fetch("site", there) == 1
    assert (there / "index.html").read_text() == "<p>two"
    assert shared.get("site/a/b.json") is None
    # What was not published stays where it is.
    assert (there / "own.txt").exists()
    assert shared.fetch("site", there) == 0


def test_who_is_killed_while_sending_leaves_the_listing_of_before(shared, tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    for name in "abc":
        (here / name).write_text(name)
    shared.publish("site", here)
    for name in "abc":
        (here / name).write_text(name * 2)
    put = SharedFiles.put

    def killed(self: SharedFiles, key: str, data: bytes | Path) -> None:
        if key.endswith(LISTING):
            raise KeyboardInterrupt
        put(self, key, data)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(SharedFiles, "put", killed)
        shared.publish("site", here)
    # What has other bytes than the listing of before says is not taken.
    assert shared.fetch("site", there) == 0
    assert shared.publish("site", here) == 3
    assert shared.fetch("site", there) == 3


def test_a_listing_that_leads_out_of_the_folder_is_refused(shared, tmp_path):
    shared.put(f"site/{LISTING}", json.dumps({"../outside": "0" * 64}).encode())
    with pytest.raises(SharedFilesError, match="outside of it"):
        shared.fetch("site", tmp_path / "site")
    assert not (tmp_path / "outside").exists()


def test_the_ui_shows_what_the_bucket_has(shared, loom_home):
    for name in ("reports/index.html", "reports/items/list.js", f"releases/{LISTING}"):
        shared.put(name, name.encode())
    client = TestClient(files_of(loom_home), base_url="http://127.0.0.1", client=("127.0.0.1", 1))
    # Dagster's web server gives scripts the other of their two types.
    scripts = ("text/javascript", "application/javascript")
    for path, kind in (("", "text/html; charset=utf-8"), ("items/list.js", scripts)):
        page = client.get(f"/loom/reports/{path}")
        assert page.text == f"reports/{path or 'index.html'}"
        assert page.headers["content-type"].startswith(kind)
        assert "content-security-policy" in page.headers
    for path in ("reports/none.html", "reports/../ledger.sqlite", f"releases/{LISTING}"):
        assert client.get(f"/loom/{path}").status_code == 404
