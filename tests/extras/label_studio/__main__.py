"""`python -m tests.extras.label_studio`: the tests against a real Label Studio, in an own environment.

The tests' file has no name that pytest collects by itself: the default tests install no server.
"""

import sys
from pathlib import Path

import pytest

from tests.extras.label_studio.server import install

FOLDER = Path(__file__).resolve().parent
VENV = FOLDER.parent.parent.parent / ".venv-label-studio"

if __name__ == "__main__":
    install(VENV)
    sys.exit(pytest.main([str(FOLDER / "real_server.py"), *sys.argv[1:]]))
