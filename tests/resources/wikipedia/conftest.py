"""Wikipedia as the tests of this folder ask it."""

from pathlib import Path

import pytest

from resources.wikipedia import Wikipedia, api_client
from tests.resources.wikipedia.mediawiki_double import MediaWiki


@pytest.fixture
def wikipedia(wiki: MediaWiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wikipedia:
    monkeypatch.setattr(api_client, "FIRST_BACKOFF", 0.005)
    monkeypatch.setattr(api_client, "TIMEOUT", 5.0)
    return Wikipedia("me@example.org", api=wiki.api, folder=tmp_path)
