"""What `make strangers` stands on: recipes, odd models, and the reading of advice."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from PIL import Image

from resources.corpus.corpus import Corpus
from resources.llm.registry import Registry
from tests.doubles.garbling_proxy import Asked, GarblingProxy
from tests.strangers import odd_models, recipes
from tests.strangers.corpora import Row, WordNet, some_of, write_corpus
from tests.strangers.runs import Advice, Outcome, advice_of, runs_table, sentences

INDEX = """\
  1 This software and database is being provided to you, the LICENSEE, by
classical_guitar n 1 1 @ 1 0 00000068
guitar n 2 3 @ ~ %p 2 1 00000000 00000068
"""
DATA = (
    b"00000000 06 n 01 guitar 0 001 @ 04338517 n 0000 | a stringed instrument\n"
    b"00000068 06 n 01 classical_guitar 0 001 @ 03467517 n 0000 | a guitar with nylon strings\n"
)
TRACEBACK = "Traceback (most recent call last):"
NOTHING = Advice(False, (), False)


# --- Recipes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "meaning"),
    [
        ("A guitar.", "Guitar: a stringed instrument. Guitar: a guitar with nylon strings."),
        ("my classical guitar (1802)", "Classical guitar: a guitar with nylon strings."),
        ("A theorbo", ""),
    ],
)
def test_wordnet_tells_what_the_longest_run_of_words_means(phrase: str, meaning: str) -> None:
    second = DATA.index(b"\n") + 1
    index = INDEX.replace("00000068", f"{second:08d}")
    assert WordNet(index, DATA).about(phrase) == meaning


def test_a_picture_of_the_sky_has_its_name_its_place_and_who_made_it() -> None:
    names = recipes.proper_names(
        '# a comment\nM    31       _("Andromeda Galaxy") # IAU\nM 31 _("Another")\n'
        'NGC 7000 _("North America")\n'
    )
    assert names == {"M 31": "Andromeda Galaxy", "NGC 7000": "North America"}
    (tile,) = recipes.tiles_of(
        '{"subTiles": [{"imageCredits": {"Short": "HG731GZ", "infoUrl": "https://example.org"}, '
        '"imageUrl": "m31.png", "worldCoords": [[[-10, 41.5], [-12, 41.5], [-12, .5], [-10,.5]]], '
        '"maxBrightness": 13.5}]}'
    )
    row = recipes.sky_row(tile, names, Path("sky"))
    assert row is not None
    assert (row.title, row.caption) == ("M 31", "M 31 (Andromeda Galaxy)")
    assert row.text == (
        "M 31, also called Andromeda Galaxy, stands at a right ascension of 349.00 degrees and a "
        "declination of 21.00 degrees, in the northern sky. The picture is 41.00 degrees high. Its "
        "surface brightness is 13.5."
    )
    assert row.attribution == "Credit: HG731GZ. https://example.org"
    assert recipes.sky_row({"imageUrl": "part.png"}, names, Path("sky")) is None


def test_a_map_is_a_row_and_so_is_each_flag_on_it() -> None:
    rows = list(
        recipes.rows_of_a_map(
            "<map><mapFile>iberia.png</mapFile><name>Iberia</name><divisionsName>Countries</divisionsName>"
            "<author>A. Astals</author><division><name>Water</name><ignore>yes</ignore></division>"
            "<division><name>Spain</name><flag>spain.png</flag><capital>Madrid</capital></division>"
            "<division><name>Gibraltar</name></division></map>",
            Path("maps"),
        )
    )
    assert [(row.title, row.picture) for row in rows] == [
        ("Map of Iberia", Path("maps/iberia.png")),
        ("Spain", Path("maps/flags/spain.png")),
    ]
    assert rows[0].text == "The map of Iberia shows 2 countries: Spain, Gibraltar."
    assert rows[1].text == "Spain is one of the countries of Iberia. Its capital is Madrid."
    assert rows[1].attribution == "A. Astals. Licence: GPL-2.0-or-later"


def test_an_application_is_described_in_a_language_that_it_has_whole(tmp_path: Path) -> None:
    component = {
        "ID": "gitg",
        "Name": {"C": "gitg", "de": "gitg"},
        "Summary": {"C": "For git", "ja": "Git の画面", "de": "Für Git", "ru": "Для git"},
        "Description": {
            "C": "<p>Looks.</p>",
            "ja": "<p>履歴を<em>見る</em></p>",
            "de": "<p>Sieht.</p>",
        },
        "ProjectLicense": "GPL-2.0+",
        "Icon": {"cached": [{"name": "gitg.png", "width": 64}, {"name": "gitg.png", "width": 128}]},
    }
    assert recipes.icon_of(component, tmp_path) is None
    (tmp_path / "gitg.png").touch()
    icon = recipes.icon_of(component, tmp_path)
    assert icon == tmp_path / "gitg.png"
    row = recipes.described_row(component, icon)
    assert row is not None and (row.language, row.title, row.caption) == (
        "ja",
        "gitg",
        "Git の画面",
    )
    assert row.text.split() == ["履歴を", "見る"]
    assert row.attribution == "The authors. Licence: GPL-2.0+"
    del component["Description"]["ja"]
    assert recipes.described_row(component, icon) is None


def test_captions_of_stamps_and_names_of_drawings() -> None:
    assert recipes.first_line("\nA trumpet.\nel.utf8=Μια τρομπέτα.\n") == "A trumpet."
    assert recipes.words_of("cello_mo-01") == "cello mo 01"


def test_a_corpus_is_read_whole(tmp_path: Path) -> None:
    pictures = [tmp_path / name for name in ("owl.png", "drawing.svg")]
    Image.new("RGB", (80, 70), "peru").save(pictures[0])
    pictures[1].write_text("<svg/>")
    rows = [
        Row(
            'An "owl"\tat dusk',
            "Σκοπός",
            "It\nhunts.",
            picture,
            "Licence: CC0-1.0",
            ("Owls",),
            "el",
        )
        for picture in pictures
    ]
    write_corpus(tmp_path / "corpus", rows)
    corpus = Corpus(tmp_path / "corpus", tmp_path)
    assert corpus.shards() == ["rows"]
    staged = corpus.shard("rows").stage(tmp_path)
    assert (staged.n_rows, staged.reasons) == (2, {})
    assert corpus.categories() == {rows[0].title: ["Owls"]}
    assert sorted(path.suffix for path in corpus.images_folder.iterdir()) == [".png", ".svg"]


def test_the_same_rows_are_drawn_in_whatever_order_they_come() -> None:
    rows = [Row(f"page {n}", "", "", Path("x.png"), "") for n in range(20)]
    assert len(some_of(rows, 5)) == 5
    assert some_of(rows, 5) == some_of(rows[::-1], 5)


# --- Odd models ----------------------------------------------------------------------------------

TRUE = json.dumps({"answer": "Two owls", "score": 7})


def answers(odd: Callable[[GarblingProxy], None], n: int) -> list[tuple[int, dict]]:
    """The replies to one request, asked `n` times of a model with an oddity."""
    reply = {
        "model": "asked",
        "choices": [{"message": {"content": TRUE}, "finish_reason": "stop"}],
    }
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, json=reply))
    with httpx2.Client(base_url="http://offline", transport=transport) as client:
        proxy = GarblingProxy("", client)
        odd(proxy)
        asked = Asked({"model": "asked", "messages": [{"role": "user", "content": "?"}]}, "")
        return [
            (status, json.loads(body)) for status, body in (proxy.answer(asked) for _ in range(n))
        ]


@pytest.mark.parametrize(
    ("odd", "is_odd", "n_odd"),
    [
        ("talkative", lambda text: "{" not in text and "Two owls" in text, 40),
        ("half_talkative", lambda text: "{" not in text, 20),
        ("nested", lambda text: text == '{"a":' * 3000, 10),
        ("endless", lambda text: len(text) == 5_000_000 and text.startswith(TRUE), 2),
        ("silent", lambda text: text == "", 20),
    ],
)
def test_a_model_is_odd_as_often_as_it_says(
    odd: str, is_odd: Callable[[str], bool], n_odd: int
) -> None:
    texts = [
        body["choices"][0]["message"]["content"]
        for _, body in answers(odd_models.ODDITIES[odd], 40)
    ]
    assert sum(map(is_odd, texts)) == n_odd
    assert texts.count(TRUE) == 40 - n_odd


def test_another_name_and_an_outage() -> None:
    ((_, body),) = answers(odd_models.renamed, 1)
    assert body["model"] == "somebody-else-7b"
    assert body["choices"][0]["message"]["content"] == TRUE
    statuses = [status for status, _ in answers(odd_models.out_of_order, 25)]
    assert statuses == [200] * 20 + [503] * 5


def test_all_models_are_in_the_profile() -> None:
    with httpx2.Client() as client:
        roles = {"writer": "offline-writer", "judge": "offline-judge", **odd_models.CANDIDATES}
        proxies = {role: GarblingProxy(f"http://127.0.0.1/{role}/v1", client) for role in roles}
        registry = odd_models.registry(proxies, roles)
    models = {name: {"name": name, **entry} for name, entry in registry["models"].items()}
    profile = Registry.model_validate({**registry, "models": models}).profile("strangers")
    assert set(profile.models) == set(roles)


# --- Advice --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (
            "evaluate/judgments stopped asking judge, as its first 8 results all failed with "
            "server_error (503): correct what this names (the model's server, its entry in models.yaml "
            "or the prompt) and run again; what was answered is kept and costs nothing.",
            Advice(True, (), True),
        ),
        (
            "Ask anew with 'vlm-loom model ask-anew --model judge --stage evaluate/judgments', "
            "then run this again.",
            Advice(False, ("model ask-anew --model judge --stage evaluate/judgments",), True),
        ),
        (
            "Run vlm-loom release retire mmdu-1 first.",
            Advice(False, ("release retire mmdu-1",), False),
        ),
        (
            "evaluate.judgments: 3 replies could not be read; vlm-loom model ask-anew --stage "
            "evaluate/judgments --unread asks again for them.",
            Advice(False, ("model ask-anew --stage evaluate/judgments --unread",), True),
        ),
        (
            "Launch the job build (vlm-loom run build), which goes on; vlm-loom home backup --to "
            '"a b" first.',
            Advice(False, ("run build", 'home backup --to "a b"'), False),
        ),
        (
            "Run the job again: re-execution would make this check alone.",
            Advice(False, (), True),
        ),
        (
            "Correct the model's server (vlm-loom calls shows each call), and run again.",
            Advice(True, (), True),
        ),
        (
            "The run of build failed; the log above and the UI (vlm-loom ui) say why.",
            Advice(False, (), False),
        ),
    ],
)
def test_advice_is_found_in_sentences(said: str, advice: Advice) -> None:
    assert advice_of(said) == advice
    assert bool(advice) == (advice != NOTHING)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (
            "== build\n[   3.1 s] CHECK FAILED ingest/pages titled: 3\n"
            "[   4.0 s] FAILED ingest__images: Too few.\nThe run of build failed.\n",
            "FAILED ingest__images: Too few.",
        ),
        ("[ 1.0 s] CHECK FAILED a/b c: 3\nThe run of a failed.\n", "CHECK FAILED a/b c: 3"),
        (
            "[ 9.0 s] CHECK FAILED evaluate/answers made\nLeaderboard\n\nevaluate.answers failed: "
            "Run it again.\n\nThe run of evaluate failed.\n",
            "evaluate.answers failed: Run it again.",
        ),
        ("There is no folder /x.\n", "There is no folder /x."),
        ("== build\nTraceback (most recent call last):\nKeyError: 'x'\n", TRACEBACK),
    ],
)
def test_what_a_failed_run_says_are_its_failures_or_its_last_line(output: str, said: str) -> None:
    assert sentences(output) == said


def test_a_run_is_a_line_of_the_table() -> None:
    outcome = Outcome("sky", "judge: out_of_order", 96, ["It | stopped.\nMore."], ["ran it again"])
    outcome.ended, outcome.n_releases, outcome.seconds = "done", 9, 130.0
    assert runs_table([outcome]).splitlines()[2] == (
        "| sky | 96 | judge: out of order | It \\| stopped. | ran it again | done | 9 | 0 | 0 | - | 2 |"
    )
