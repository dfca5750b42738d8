"""Golden files: what the project wrote when it was last looked at, compared line by line."""

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

FILES = Path(__file__).parents[1] / "golden" / "files"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-golden",
        action="store_true",
        help="write the golden files again instead of comparing with them",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: fails with the difference unless the file of that name holds the text."""
    regenerate = request.config.getoption("--regenerate-golden")

    def compare(name: str, text: str) -> None:
        path = FILES / name
        text = text.rstrip("\n") + "\n"
        if regenerate:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        known = path.read_text() if path.exists() else ""
        if text != known:
            lines = difflib.unified_diff(
                known.splitlines(), text.splitlines(), f"golden {name}", "now", lineterm=""
            )
            shown = "\n".join(lines)
            pytest.fail(
                f"{name} is not what it was:\n{shown}\n"
                f"If this is meant, run 'pytest {request.node.path.relative_to(FILES.parents[2])} "
                "--regenerate-golden' and commit the file.",
                pytrace=False,
            )

    return compare
