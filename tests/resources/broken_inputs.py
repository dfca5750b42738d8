"""The record of broken inputs: each input, fed to the code, and the outcome.

python -m tests.resources.broken_inputs        writes tests/resources/broken_inputs.md
"""

import tempfile
from pathlib import Path

from resources.files.home import REPO_ROOT
from tests.resources import broken_files, broken_images, broken_settings, broken_wikis
from tests.resources.broken_outcomes import Case, table_line

RECORD = Path(__file__).with_suffix(".md")
GUIDES = [REPO_ROOT / "docs" / "guides" / f"{name}.md" for name in ("broken-inputs", "ingestion")]
"""The pages that explain the reasons."""
SECTIONS: dict[str, list[Case]] = {
    "Rows": broken_files.ROWS + broken_files.RECORDS,
    "Shards": broken_files.SHARDS + broken_wikis.FAR,
    "Images": broken_images.BYTES,
    "Image servers": broken_images.SERVERS,
    "Wikipedia": broken_wikis.WIKIPEDIA,
    "Settings": broken_settings.SETTINGS,
    "Categories": broken_files.CATEGORIES,
}
TITLE = """\
# Broken inputs and their outcomes

`python -m tests.resources.broken_inputs` writes this file; a test compares it with the code. FOLDER is
the corpus folder or the workspace, HOST a server.
"""
HEAD = "| input | outcome | reason and message | where |\n| --- | --- | --- | --- |"


def record() -> str:
    """The whole record, with every input fed to the code."""
    parts = [TITLE]
    for title, cases in SECTIONS.items():
        lines = [_line(case) for case in cases]
        parts.append("\n".join([f"## {title}\n", HEAD, *lines, ""]))
    return "\n".join(parts)


def _line(case: Case) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return table_line(case, Path(folder))


if __name__ == "__main__":
    RECORD.write_text(record(), encoding="utf-8")
