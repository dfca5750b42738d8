"""Reports and releases over HTTP: what is answered, what never is, and what a page may do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from resources.publishing.server import files_of
from resources.web.addresses import address
from tests.doubles.http_pages import ask, serving_routes
from tests.resources.reports.report_rows import OWN_HASH

pytestmark = pytest.mark.slow

REPORT = "reports/mmdu-1.html"
SECRET = "what is nobody's to read"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a report, a page with a script, a release, and things that are not served."""
    home = tmp_path / "home"
    for folder in ("reports/cluster", "releases/mmdu-1/images", "images", "elsewhere"):
        (home / folder).mkdir(parents=True)
    (home / REPORT).write_text("<title>A report</title><p>leaderboard</p>")
    (home / "reports/cluster/pictures.html").write_text(
        "<title>plain</title><script>document.title = 'scripted'</script>"
    )
    (home / "releases/mmdu-1/card.json").write_text('{"release_id": "mmdu-1"}')
    for hidden in ("ledger.sqlite", "settings.yaml", "elsewhere/file.html"):
        (home / hidden).write_text(SECRET)
    return home


@pytest.fixture
def port(home: Path) -> Iterator[int]:
    with serving_routes([files_of(home)]) as port:
        yield port


def test_reports_and_files_of_releases_are_answered_under_their_paths_in_the_home(port, home):
    answer, text = ask(port, "/loom/reports/mmdu-1.html")
    assert (answer.status, text) == (200, "<title>A report</title><p>leaderboard</p>")
    assert answer.getheader("content-type") == "text/html; charset=utf-8"
    answer, text = ask(port, address("releases/mmdu-1/card.json"))
    assert (answer.status, text) == (200, '{"release_id": "mmdu-1"}')
    assert answer.getheader("content-type") == "application/json"
    answer, text = ask(port, address(REPORT), "HEAD")
    assert (answer.status, text, answer.getheader("content-length")) == (200, "", "41")
    assert address("reports/a name?.html") == "/loom/reports/a%20name%3F.html"
    # Only reading is allowed.
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert ask(port, address(REPORT), method)[0].status == 405
    assert (home / REPORT).is_file()


@pytest.mark.parametrize(
    "path",
    [
        *("ledger.sqlite", "settings.yaml", "elsewhere/file.html", "../home/settings.yaml", ""),
        *(
            "reports/../settings.yaml",
            "reports/../../settings.yaml",
            "reports/%2e%2e/settings.yaml",
        ),
        *("reports/..%2fsettings.yaml", "reports/cluster/../../ledger.sqlite"),
        *("reports/..%5csettings.yaml", "reports//etc/hostname", "reports/%2fetc/hostname"),
        *("reports/....//settings.yaml", "reports/%00", "reports/" + "a" * 300, "reports"),
        *("reports/", "releases/mmdu-1"),
    ],
)
def test_nothing_else_of_the_home_or_the_machine_is_found(port, path):
    answer, text = ask(port, f"/loom/{path}")
    # A folder without its slash may be sent on to the one with it, which is not found either.
    assert answer.status in (404, 307)
    assert SECRET not in text and "mmdu-1" not in text


def test_a_link_in_a_folder_leads_nowhere_outside_it(home, port, tmp_path):
    (home / "reports/link.html").symlink_to(home / "settings.yaml")
    (home / "reports/folder").symlink_to(home / "elsewhere")
    (home / "reports/inside.html").symlink_to(home / REPORT)
    for path in ("reports/link.html", "reports/folder/file.html"):
        answer, text = ask(port, address(path))
        assert (answer.status, SECRET in text) == (404, False)
    assert ask(port, address("reports/inside.html"))[0].status == 200
    # A home that is itself behind a link is served.
    (tmp_path / "linked").symlink_to(home)
    with serving_routes([files_of(tmp_path / "linked")]) as of_link:
        assert ask(of_link, address(REPORT))[0].status == 200


def test_a_name_that_is_not_this_machines_or_the_installations_is_refused(port, monkeypatch):
    # A web site's name that leads to this machine.
    answer, text = ask(port, address(REPORT), host="reports.example.org")
    assert answer.status == 403
    assert text.startswith("This server does not answer as 'reports.example.org:")
    monkeypatch.setenv("LOOM_UI", "https://reports.example.org")
    assert ask(port, address(REPORT), host="reports.example.org")[0].status == 200


def test_a_reader_on_another_machine_is_refused_until_the_address_for_them_is_set(
    home, monkeypatch
):
    app = Starlette(routes=[files_of(home)])
    elsewhere = TestClient(app, "http://10.0.0.7:3000", client=("10.0.0.9", 50000))
    refused = elsewhere.get(address(REPORT))
    assert refused.status_code == 403 and "set LOOM_UI to the address" in refused.text
    monkeypatch.setenv("LOOM_UI", "http://10.0.0.7:3000")
    assert elsewhere.get(address(REPORT)).status_code == 200


@pytest.mark.parametrize("path", [REPORT, "releases/mmdu-1/card.json", "reports/none.html"])
def test_every_answer_comes_with_the_policy(port, path):
    answer, _ = ask(port, address(path))
    policy = (answer.getheader("content-security-policy") or "").split("; ")
    assert {"default-src 'none'", "form-action 'none'"} <= set(policy)
    of_site = path.startswith("reports/")
    sandbox = "sandbox allow-popups allow-popups-to-escape-sandbox"
    assert sandbox + (" allow-scripts" if of_site else "") in policy
    scripts = [part for part in policy if part.startswith(("script-src", "connect-src"))]
    assert scripts == ([OWN_HASH] if of_site else [])
    assert answer.getheader("x-content-type-options") == "nosniff"
    assert answer.getheader("referrer-policy") == "no-referrer"


def test_only_the_page_of_the_clustering_may_have_scripts_of_its_own(port):
    def scripts(path: str) -> bool:
        policy = ask(port, path)[0].getheader("content-security-policy") or ""
        return "script-src 'unsafe-inline'" in policy

    assert scripts("/loom/reports/cluster/pictures.html")
    assert not scripts("/loom/reports/mmdu-1.html")
    assert not scripts("/loom/reports/cluster/../mmdu-1.html")
    assert not scripts("/loom/reports/cluster%2f..%2fmmdu-1.html")
