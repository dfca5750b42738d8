"""The UI's webserver: pages of other sites start nothing, programs and its own pages go on working."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import httpx2
import pytest
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import EmptyWorkspaceTarget
from dagster_graphql import DagsterGraphQLClient, DagsterGraphQLClientError

from dagster_project.webserver import Webserver
from tests.doubles.http_pages import serving_app

QUERY = "{ version }"
MUTATION = 'mutation { setConcurrencyLimit(concurrencyKey: "taken", limit: 1) }'
ASSET = "evaluate/scores"
HANDSHAKE = {
    **{"connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13"},
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}
"""The headers that open a websocket."""


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        yield instance


@pytest.fixture
def ui(instance: dg.DagsterInstance, loom_home: Path) -> Iterator[str]:
    """The address of the webserver, on an instance without definitions."""
    with (
        WorkspaceProcessContext(instance, EmptyWorkspaceTarget()) as context,
        serving_app(Webserver(context).create_asgi_app()) as port,
    ):
        yield f"http://127.0.0.1:{port}"


def test_a_port_that_was_taken_meanwhile_ends_the_webserver(instance, tmp_path):
    # As `dagster dev` starts it, which stops it by a word in this pipe.
    shutdown, _ = pipe = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = ["-m", "dagster_project.webserver", "--host", "127.0.0.1", "--port", port]
        done = subprocess.run(
            [sys.executable, *command, "--empty-workspace", "--shutdown-pipe", str(shutdown)],
            env={**os.environ, "DAGSTER_HOME": str(tmp_path), "LOOM_HOME": str(tmp_path)},
            pass_fds=[shutdown],
            capture_output=True,
            text=True,
            timeout=120,
        )
    for end in pipe:
        os.close(end)
    assert done.returncode > 0
    assert f"The port {port} of 127.0.0.1 cannot be used (Address already in use)" in done.stderr


def changed(instance: dg.DagsterInstance) -> bool:
    """Whether somebody has set a limit or reported an asset."""
    limits = instance.event_log_storage.get_concurrency_keys()
    return bool(limits) or instance.has_asset_key(dg.AssetKey(ASSET.split("/")))


def test_get_executes_nothing(ui: str, instance: dg.DagsterInstance) -> None:
    for query in (MUTATION, QUERY):
        refused = httpx2.get(f"{ui}/graphql", params={"query": query})
        assert refused.status_code == 405 and "by POST" in refused.text
        page = httpx2.get(f"{ui}/graphql", params={"query": query}, headers={"accept": "text/html"})
        assert "GraphiQL" in page.text
    assert not changed(instance)


def test_pages_of_the_workspace_refuse_websockets_and_the_log_has_no_error(ui, caplog):
    for path in ("/loom/calls", "/loom/reports/index.html"):
        assert httpx2.get(f"{ui}{path}", headers=HANDSHAKE).status_code == 403
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_no_notebook_of_a_folder_runs_in_the_browser(ui):
    for path in ("/notebook", "/dagit/notebook"):
        page = httpx2.get(f"{ui}{path}", params={"repoLocName": "vlm-loom", "path": "x.ipynb"})
        assert (page.status_code, page.text) == (404, "This UI shows no notebooks.")


def test_a_name_that_a_site_leads_to_this_machine_is_refused_on_every_path(ui, instance):
    rebound = {"host": f"evil.example:{ui.rpartition(':')[2]}"}
    for path in ("/", "/server_info", "/logs/x/y.out", "/download_debug/x", "/loom/calls"):
        assert httpx2.get(f"{ui}{path}", headers=rebound).status_code == 403
    same = rebound | {"origin": f"http://{rebound['host']}", "sec-fetch-site": "same-origin"}
    answer = httpx2.post(f"{ui}/graphql", json={"query": MUTATION}, headers=same)
    assert answer.status_code == 403 and "LOOM_UI" in answer.text
    assert (
        httpx2.post(f"{ui}/report_asset_materialization/{ASSET}", headers=same).status_code == 403
    )
    assert not changed(instance)


def test_programs_and_own_pages_go_on_working(ui: str, instance: dg.DagsterInstance) -> None:
    host, port = ui.removeprefix("http://").split(":")
    assert httpx2.post(f"{ui}/graphql", json={"query": QUERY}).json().keys() == {"data"}
    assert httpx2.get(f"{ui}/server_info").status_code == 200
    assert httpx2.get(f"{ui}/assets").headers["x-frame-options"] == "SAMEORIGIN"
    client = DagsterGraphQLClient(host, port_number=int(port))
    with pytest.raises(DagsterGraphQLClientError, match="Could not find"):
        client.submit_job_execution("none", repository_location_name="x", repository_name="y")
    own = {"origin": ui, "sec-fetch-site": "same-origin"}
    assert httpx2.post(f"{ui}/graphql", json={"query": MUTATION}, headers=own).json() == {
        "data": {"setConcurrencyLimit": True}
    }
    assert changed(instance)


@pytest.mark.parametrize("origin", ["http://127.0.0.1:1", "http://evil.example", "null"])
def test_a_page_on_another_port_or_of_another_name_starts_nothing(ui, instance, origin):
    foreign = {"origin": origin, "sec-fetch-site": "cross-site"}
    for kind in ("application/json", "text/plain", "text/plain; application/graphql"):
        answer = httpx2.post(
            f"{ui}/graphql",
            content=json.dumps({"query": MUTATION}),
            headers={**foreign, "content-type": kind},
        )
        assert answer.status_code == 403
    report = f"{ui}/report_asset_materialization/{ASSET}"
    assert httpx2.post(report, headers=foreign).status_code == 403
    assert httpx2.get(f"{ui}/graphql", headers={**HANDSHAKE, **foreign}).status_code == 403
    assert not changed(instance)
