"""Every row is an entry or is listed with a reason: languages, topics, limits, lists, copies."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, WitLine
from tests.assets.ingesting import (
    ANY_LOSS,
    by_title,
    find_duplicates,
    ingest_part,
    ingest_range,
    rejected,
    table,
    wit_line,
    write_settings,
)
from tests.assets.world import Result, World, metadata, sentence
from tests.methods.ingest.pictures_drawn import encoded

pytestmark = pytest.mark.slow

WEB = "https://upload.example.org/"
Make = Callable[..., World]


@pytest.fixture(scope="module")
def make(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """A world with one shard, `mini`, of these rows, images and settings; not ingested yet."""

    def make(rows: list[WitLine], files: dict[str, bytes], **settings: object) -> World:
        root = tmp_path_factory.mktemp("filters")
        corpus = Corpus(root / "corpus")
        corpus.write_shard("mini", rows)
        for name, data in files.items():
            (corpus.images / name).write_bytes(data)
        write_settings(corpus.folder, **settings)
        return make_world(root, corpus)

    return make


def picture(width: int, height: int, step: int = 16, first: int = 0) -> Image.Image:
    """Sixteen levels of grey, `step` apart, in a pattern that has each of them equally often.

    The levels are `first`, `first + step`, ..., so their mean is `first + 7.5 * step` and their
    entropy 4 bits, if 16 divides a side.
    """
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return Image.fromarray((first + (7 * x + 13 * y) % 16 * step).astype(np.uint8))


@pytest.fixture(scope="module")
def chosen(make: Make) -> tuple[World, Result]:
    """Nine pages, of which three are wanted; only those have their images in the folder."""
    rows = [
        wit_line("Fire balloon", f"{WEB}fire.png"),
        wit_line("Montgolfier", f"{WEB}paper.png", caption_alt_text_description="A BALLOON rises"),
        wit_line("Schwalbenschwanz", f"{WEB}tail.png", language="de"),
        wit_line("Ballon rouge", f"{WEB}rouge.png", language="FR"),
        wit_line("Ballooning", f"{WEB}verb.png"),
        wit_line("Grey stone", f"{WEB}stone.png"),
        wit_line("Toy balloon", f"{WEB}toy.png", context_page_description=""),
    ]
    # Each entry would repeat the text that one row has.
    texts = ["word " * 4_000, *[""] * 299]
    rows += [
        wit_line("Balloon day", f"{WEB}fire.png", context_page_description=text) for text in texts
    ]
    # Or the categories of the page.
    rows += [wit_line("Balloon race", f"{WEB}fire.png")] * 300
    images = {name: encoded(picture(64, 64)) for name in ("fire.png", "paper.png", "tail.png")}
    world = make(
        rows,
        images,
        languages=["en", "DE"],
        topics={
            "flight": {"keywords": ["balloon", "kite"]},
            "insects": {"categories": ["papilio"], "keywords": ["moth"]},
            "paper": {"keywords": ["paper"], "categories": ["Papilio"]},
        },
    )
    world.corpus.add_categories("Schwalbenschwanz", ["Tagfalter", "Papilio"])
    world.corpus.add_categories("Balloon race", [f"{n}" * 250 for n in range(100, 126)])
    run = world.ingest(config=ANY_LOSS)
    assert run.success
    return world, run


def test_pages_of_other_languages_and_topics_are_left_out_and_counted(chosen):
    world, run = chosen
    assert set(by_title(world, "pages")) == {"Fire balloon", "Montgolfier", "Schwalbenschwanz"}
    told = metadata(run, "ingest/pages")
    # `Ballooning` and `Grey stone`; a keyword is a whole word. The toy's page says nothing.
    assert (told["dagster/row_count"], told["rows left out"]) == (3, 604)
    assert "| no_topic | 2 |" in told["reasons"]
    listed = {row["reference"].rpartition("/")[2]: row for row in table(world, "left_out")}
    assert {reference: row["reason"] for reference, row in listed.items()} == {
        "Ballooning": "no_topic",
        "Grey_stone": "no_topic",
        "Toy_balloon": "without_text",
        "Balloon_day": "without_text",
        "Balloon_race": "without_text",
        "language fr": "language",
    }
    assert listed["language fr"]["detail"] == (
        "1 page is in fr, and the languages in corpus.yaml are en, de."
    )
    for title in ("Balloon_day", "Balloon_race"):
        assert listed[title]["detail"].startswith("Its text and categories are not taken: its ")
    # They are rows all the same, for who wants them later.
    assert len(table(world, "wit_rows")) == 607
    assert rejected(world, "row") == {}


@pytest.mark.parametrize("name", ["pages", "entries"])
def test_a_page_and_its_entries_tell_every_topic_they_serve(chosen, name):
    found = {title: row["topics"] for title, row in by_title(chosen[0], name).items()}
    assert found == {
        "Fire balloon": ["flight"],
        "Montgolfier": ["flight"],
        "Schwalbenschwanz": ["insects", "paper"],
    }


def test_a_limit_and_a_list_refuse_images_and_stop_nothing(make: Make) -> None:
    files = {
        "good.png": encoded(picture(96, 96)),
        "small.png": encoded(picture(96, 48)),
        "known.png": encoded(picture(96, 112)),
    }
    rows = [wit_line(name, WEB + name, mime_type="image/png") for name in files]
    world = make(rows, files, images={"limits": {"min_side": 64}, "exclude": ["coco.md5"]})
    md5 = hashlib.md5(files["known.png"]).hexdigest()
    (world.corpus.folder / "coco.md5").write_text(f"{md5}  known.png\n")
    # All but one are left out, and none is lost.
    run = world.ingest()
    assert run.success
    refused = {WEB + "small.png": "too_small", WEB + "known.png": "excluded"}
    assert rejected(world, "image") == refused
    assert [row["title"] for row in table(world, "entries")] == ["good.png"]
    told = metadata(run, "ingest/images")
    assert (told["dagster/row_count"], told["rejected"]) == (1, 2)
    assert "| excluded | 1 |" in told["reasons"]


def test_copies_are_found_whatever_they_were_made_into(make: Make) -> None:
    """One file behind two URLs, the same picture as a JPEG and turned, and another one."""
    x, y = np.meshgrid(np.arange(256), np.arange(256))
    owl = Image.fromarray((127 + 120 * np.sin(x / 29 + (y / 41) ** 2)).astype(np.uint8))
    # Pairs are compared in the order of hashes: the one that is far from the others comes last.
    turned = [encoded(owl.rotate(90), compress_level=level) for level in range(10)]
    files = {
        "owl.png": encoded(owl),
        "owl-again.png": encoded(owl),
        "owl.jpg": encoded(owl, "JPEG", quality=70),
        "owl-turned.png": max(turned, key=lambda data: hashlib.sha256(data).hexdigest()),
        "other.png": encoded(Image.fromarray((127 + 120 * np.sin(y / 5 + x / 9)).astype(np.uint8))),
    }
    types = {name: "image/jpeg" if name.endswith("jpg") else "image/png" for name in files}
    rows = [wit_line(name, WEB + name, mime_type=mime_type) for name, mime_type in types.items()]
    world = make(rows, files)
    assert ingest_part(world, "mini", "wit_rows", "pages", "images").success
    run = find_duplicates(world)
    assert run.success

    ids = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    group = {ids[name] for name in files if name.startswith("owl")}
    found = {row["image_id"]: row for row in world.table("cluster.duplicates")}
    assert set(found) == group and len(group) == 3
    assert {row["group_id"] for row in found.values()} == {min(group)}
    assert [found[ids[name]]["n_urls"] for name in ("owl.png", "owl.jpg")] == [2, 1]
    # Their perceptual hashes are near, but for that of what was turned.
    far = [name for name in files if ids[name] in group and found[ids[name]]["distance"] > 4]
    assert far == ["owl-turned.png"]
    told = metadata(run, "cluster/duplicates")
    assert (told["images"], told["exact: behind several URLs"]) == (4, 1)
    assert (told["near: look like another"], told["groups that look alike"]) == (3, 1)


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
    # The images that both shards have are at other lines.
    world.corpus.write_shard("more", [wit_line("Gone", WEB + "gone.png"), *others])
    assert ingest_range(world, ["mini", "more"]).success
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
