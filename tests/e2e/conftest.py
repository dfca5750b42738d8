"""The main job, run once as a user runs it; tests that change its home work on a copy."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.browser import FLAGS
from tests.e2e.running import PAGE_PATIENCE, Run, small_demo
from tests.shared import once_for_all_workers


@pytest.fixture(scope="session")
def main_job(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The main job on the embedded defaults, from a home that has settings alone."""

    def build(root: Path) -> None:
        done = small_demo(root / "home")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        (root / "printed.txt").write_text(done.stdout)

    built = once_for_all_workers(tmp_path_factory, "main", build)
    return Run(built / "home", (built / "printed.txt").read_text())


@pytest.fixture
def copied(main_job: Run, tmp_path: Path) -> Run:
    """A copy of the main job's home that a test may change."""
    shutil.copytree(main_job.home, tmp_path / "home")
    return Run(tmp_path / "home", main_job.output)


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser for the tests of a file, which loads the UI's scripts once."""
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("profile")),
            executable_path=chromium,
            args=FLAGS,
            viewport={"width": 1500, "height": 1000},
        )
        context.set_default_timeout(PAGE_PATIENCE)
        expect.set_options(timeout=PAGE_PATIENCE)
        yield context
        context.close()


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    """An empty page; what it opens is closed with it."""
    yield browser.new_page()
    for each in browser.pages[1:]:
        each.close()
