"""The guide to broken inputs, made by feeding each of them to the code.

    python -m tests.resources.broken_inputs        writes docs/guides/broken-inputs.md anew

What belongs here: the guide's words and order. What does not: the inputs (the modules named
`broken_*` beside this one).
"""

import tempfile
from pathlib import Path

from resources.files.home import REPO_ROOT
from tests.resources import broken_files, broken_images, broken_settings, broken_wikis
from tests.resources.broken_outcomes import Case, table_line

GUIDE = REPO_ROOT / "docs" / "guides" / "broken-inputs.md"
SECTIONS: dict[str, list[Case]] = {
    "Rows": broken_files.ROWS + broken_files.RECORDS,
    "Shards": broken_files.SHARDS + broken_wikis.FAR,
    "Images": broken_images.BYTES,
    "Servers of images": broken_images.SERVERS,
    "Wikipedia": broken_wikis.WIKIPEDIA,
    "Settings": broken_settings.SETTINGS,
    "Categories": broken_files.CATEGORIES,
}
WORDS = """\
# Broken inputs

What becomes of each. Every line was made by feeding that input to the code, and a test holds this
page to it; `python -m tests.resources.broken_inputs` writes it anew.

- **A row or an image that cannot be used is left out**, and stands in `ingest.rejected` with its
  place, a reason and a sentence. The metadata of `ingest/wit_rows` and `ingest/images` count the
  reasons. If more than a fifth of a shard's rows (`max_rejected_share`) or of its images
  (`max_lost_share`; what limits and lists leave out does not count) is lost, the asset fails with a
  sentence and keeps its earlier rows; rows that were refused are listed all the same, and of a shard
  that cannot be read to its end those before that place.
- **What a person has to put right stops the run** with one sentence, in its log and in the UI, at the
  asset that met it. That asset's rows stay as they were; another run goes on from there.
- **What says nothing is left out and listed**: rows in other languages than the corpus's, pages
  without text or topic, rows without a caption, without their image, or with an image that an earlier
  row has on the same page stand in `ingest.left_out`, with the reason; the metadata of `ingest/pages`
  and `ingest/entries` count them. Every accepted row is an entry or stands there.
- **A picture whose row states another type is taken**: `ingest.images` has its own type, and the row's
  in `stated_mime_type`; the metadata count them as `types corrected`.

Images that were refused are asked for again in the next run, those that were taken are not. FOLDER
stands for the corpus's folder or that of the home, HOST for a server.
"""
HEAD = "| input | what happens | reason, sentence | where it is seen |\n| --- | --- | --- | --- |"


def guide() -> str:
    """The whole page, every input fed to the code."""
    parts = [WORDS]
    for title, cases in SECTIONS.items():
        lines = [_line(case) for case in cases]
        parts.append("\n".join([f"## {title}\n", HEAD, *lines, ""]))
    return "\n".join(parts)


def _line(case: Case) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return table_line(case, Path(folder))


if __name__ == "__main__":
    GUIDE.write_text(guide(), encoding="utf-8")
