"""Wikipedia as the tests of this folder ask it."""

from pathlib import Path

import pytest

from resources.wikipedia import Wikipedia
from tests.resources.wikipedia.mediawiki_double import MediaWiki


@pytest.fixture
def wikipedia(wiki: MediaWiki, tmp_path: Path) -> Wikipedia:
    return Wikipedia("me@example.org", api=wiki.api, folder=tmp_path, backoff=0.005, timeout=5.0)
