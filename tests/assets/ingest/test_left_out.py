"""Every row of a shard is an entry or is listed with a reason, in five languages and end to end."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from methods.ingest.wit import SEEN
from resources.warehouse import Warehouse
from tests.assets.corpus import Corpus, WitLine
from tests.assets.filled import put
from tests.assets.ingesting import table, wit_line, write_settings
from tests.assets.world import Result, World, metadata, sentence
from tests.methods.ingest.pictures_drawn import encoded

pytestmark = pytest.mark.slow

WEB = "https://upload.example.org/"
OWLS = {
    "en": ("Owl", "An owl at night", "Owls hunt at night."),
    "de": ("Eule", "Eine Eule bei Nacht", "Eulen jagen bei Nacht."),
    "ja": ("フクロウ", "夜のフクロウ", "フクロウは夜に狩りをする。"),
    "ar": ("بومة", "بومة في الليل", "البوم يصطاد ليلا."),
    "zh-TW": ("貓頭鷹", "夜裡的貓頭鷹", "貓頭鷹在夜間狩獵。"),
}
"""Title, caption and text by the code of the language, in WIT's own letter case."""


def owl(number: int) -> bytes:
    """A picture with edges, another one for each number."""
    x, y = np.meshgrid(np.arange(96), np.arange(96))
    levels = ((number + 3) * x + (2 * number + 5) * y) % 16 * 16
    return encoded(Image.fromarray(levels.astype(np.uint8)))


def rows_of(language: str, n_pages: int = 2) -> list[WitLine]:
    """Pages with an image each; all in one category."""
    title, caption, text = OWLS[language]
    return [
        wit_line(
            f"{title} {number}",
            f"{WEB}{language}-{number}.png",
            language=language,
            caption_reference_description=caption,
            context_page_description=text,
        )
        for number in range(n_pages)
    ]


def junk() -> list[WitLine]:
    """Rows of which none becomes an entry, each for another reason."""
    return [
        wit_line("Silent", WEB + "silent.png", context_page_description=" "),
        wit_line("Bare", WEB + "bare.png", caption_reference_description=""),
        wit_line("Gone", WEB + "gone.png"),
        wit_line("Dot", WEB + "dot.png"),
        rows_of("en")[0],
    ]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    corpus = Corpus(tmp_path / "corpus")
    rows = [row for language in OWLS for row in rows_of(language)] + junk()
    corpus.write_shard("mini", rows)
    for number, row in enumerate(rows):
        name = row["image_url"].removeprefix(WEB)
        if name != "gone.png" and not (corpus.images / name).exists():
            (corpus.images / name).write_bytes(owl(number))
    Image.new("RGB", (1, 1)).save(corpus.images / "dot.png")
    for row in rows:
        corpus.add_categories(row["page_title"], ["Owls"])
    return corpus


def reasons(world: World) -> dict[str, int]:
    """Rows left out by reason."""
    found = world.rows(
        "SELECT reason, sum(n_rows)::INTEGER AS n FROM ingest.left_out GROUP BY reason ORDER BY ALL"
    )
    return {row["reason"]: row["n"] for row in found}


def assert_all_accounted_for(world: World) -> None:
    """Rows of the shard are those of its entries and those that are left out."""
    (row,) = world.rows(
        "SELECT (SELECT count(*) FROM ingest.wit_rows) AS n_rows, "
        "(SELECT count(*) FROM ingest.entries) AS n_entries, "
        "(SELECT sum(n_rows) FROM ingest.left_out)::INTEGER AS n_left_out"
    )
    assert row["n_rows"] == row["n_entries"] + row["n_left_out"]


def told(run: Result, asset: str) -> tuple[int, str]:
    found = metadata(run, asset)
    return found["rows left out"], found["reasons"]


def test_five_languages_come_through_from_rows_to_image_sets(world: World) -> None:
    ingested = world.ingest()
    assert ingested.success, sentence(ingested)
    languages = world.rows("SELECT language, count(*) AS n FROM ingest.entries GROUP BY language")
    assert {row["language"]: row["n"] for row in languages} == {
        language.lower(): 2 for language in OWLS
    }
    assert reasons(world) == {
        "duplicate": 1,
        "without_caption": 1,
        "without_image": 2,
        "without_text": 1,
    }
    assert_all_accounted_for(world)
    assert told(ingested, "ingest/pages")[0] == 1
    n_left_out, shown = told(ingested, "ingest/entries")
    assert n_left_out == 4 and "| without_image | 2 |" in shown
    details = {row["reference"]: row["detail"] for row in table(world, "left_out")}
    assert details["line 14"].startswith("missing: ")
    assert details["line 15"].startswith("too_small: ")
    assert details["line 16"] == "Line 2 has the same image on the same page."

    assert world.cluster().success
    sets = world.rows(
        "SELECT set_id, list(DISTINCT language) AS languages FROM cluster.image_sets"
        " JOIN ingest.entries USING (entry_id) GROUP BY set_id"
    )
    read = world.rows("SELECT language FROM cluster.languages WHERE is_read")
    assert sets and all(len(row["languages"]) == 1 for row in sets)
    assert {row["languages"][0] for row in sets} <= {row["language"] for row in read}


def test_a_picture_that_two_shards_lack_leaves_out_a_row_of_each(world: World) -> None:
    others = [row for language in OWLS for row in rows_of(language)]
    world.corpus.write_shard("more", [*others, wit_line("Gone", WEB + "gone.png")])
    for shard in ("mini", "more"):
        assert world.ingest(shard).success
    assert_all_accounted_for(world)


def test_where_no_row_is_taken_the_next_stage_says_so_in_a_sentence(world, capsys):
    write_settings(world.corpus.folder, languages=["fi"])
    run = world.ingest()
    assert run.success
    assert_all_accounted_for(world)
    assert "pages: 0 kept, 15 rows left out (15 language)" in capsys.readouterr().out
    clustered = world.cluster()
    assert not clustered.success
    said = [
        event.step_failure_data.user_failure_data.description
        for event in clustered.all_events
        if event.is_step_failure
    ]
    assert any(line.startswith("There are no entries: ingest a shard first;") for line in said)


def test_a_page_that_one_of_two_shards_leaves_out_counts_in_the_other_alone(
    empty_warehouse: Warehouse,
) -> None:
    """By its first row the page is German in one shard and English in the other."""
    languages = {"one": ("de", "en"), "two": ("en", "de")}
    rows = [
        {"wit_shard": shard, "page_url": "page", "image_url": "image", "line_number": number}
        | {"language": language}
        for shard, of_rows in languages.items()
        for number, language in enumerate(of_rows, 1)
    ]
    accepted = {"wit_shard": "two", "page_url": "page"}
    put(empty_warehouse, {"ingest.wit_rows": rows, "ingest.pages": [accepted]})
    english = {"shards": [*languages], "languages": ["en"]}
    pages, other_languages, images = (
        [
            (row["wit_shard"], row.get("n_rows"))
            for row in empty_warehouse.read(f"ingest/{name}_of_shards", values).to_pylist()
        ]
        for name, values in (
            ("pages", {**english, "seen": SEEN}),
            ("other_languages", english),
            ("image_urls", {"shards": [*languages]}),
        )
    )
    assert pages == [("two", 2)] and other_languages == [("one", 2)]
    assert images == [("two", None)]
