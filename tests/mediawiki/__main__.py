"""`python -m tests.mediawiki`: the tests of other wikis against a real MediaWiki, with PHP and SQLite.

With RECORD=yes what it answered is written down for the ordinary tests, which need no such server.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.mediawiki.real_wiki import RealWiki, install, write_recorded
from tests.resources.wikipedia import recorded_wiki

TESTS = Path(__file__).resolve().parent.parent
FILES = ("resources/wikipedia/test_other_wikis.py", "assets/ingest/test_other_wikis.py")

if __name__ == "__main__":
    if missing := install():
        print(missing, file=sys.stderr)
        sys.exit(2)
    recorded_wiki.open_wiki[0] = RealWiki
    files = [str(TESTS / file) for file in FILES]
    failed = pytest.main(["-n", "0", "-q", *files, *sys.argv[1:]])
    if not failed and os.environ.get("RECORD") == "yes":
        write_recorded()
    sys.exit(failed)
