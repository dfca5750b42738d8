"""Translations from items to releases: what is asked, lost, reviewed, stale, released, and compared."""

import json
from pathlib import Path

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from methods.choice.lettered import LETTERS
from methods.ids import content_id
from tests.assets.conftest import MakeWorld
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    REPORTS,
    SCORING,
    Result,
    Row,
    World,
    copy_of,
    metadata,
    sentence,
)

pytestmark = pytest.mark.slow

N_ITEMS = 5
SETTINGS = {"choice": {"items": {"n_items": N_ITEMS}}}
RELEASE = "release/releases"
GAPS = dg.AssetSelection.assets(["evaluate", "language_gaps"])


def translations_of(world: World) -> list[Row]:
    return world.rows("SELECT * FROM choice.translations ORDER BY item_id")


@pytest.fixture(scope="module")
def translated(
    released: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> World:
    """Five items in both languages, released. Not to be changed: tests go on from copies."""
    root = tmp_path_factory.mktemp("translated")
    copy_of(released.root, root)
    world = make_world(root, released.corpus)
    world.write_settings(SETTINGS)
    assert world.run("choice").success
    assert world.release().success
    return world


@pytest.fixture
def world(translated: World, make_world: MakeWorld, tmp_path: Path) -> World:
    copy_of(translated.root, tmp_path)
    return make_world(tmp_path, translated.corpus)


def edit(world: World, item_id: str, change: Row) -> None:
    """What review.approved would have after a person changed an item's content."""
    rows = world.rows("FROM review.approved")
    for row in rows:
        if row["item_id"] == item_id:
            content = {**json.loads(row["content"]), **change}
            row |= {"content": json.dumps(content), "content_hash": content_id(content)}
            row |= {"revision": 1, "reviewers": ["ann"]}
    world.warehouse.replace("review.approved", rows_to_arrow("review.approved", rows))


def counts(run: Result) -> Row:
    return {name: n for name, n in metadata(run, RELEASE).items() if " zh" in name}


# --- Asking ----------------------------------------------------------------------------------------


def test_every_item_is_translated_and_the_key_is_never_sent(translated: World) -> None:
    items = translated.rows("SELECT * FROM choice.items ORDER BY item_id")
    found = translations_of(translated)
    assert [row["item_id"] for row in found] == [row["item_id"] for row in items]
    assert {row["language"] for row in found} == {"zh"}
    asked = translated.proxy.asked("translate")
    # Equal texts are asked about once.
    assert len(asked) == len({row["call_key"] for row in found})
    for request in asked:
        assert not request.images
        texts = json.loads(request.text.partition("<item>")[2].partition("</item>")[0])
        assert set(texts) <= {"question", "hint", *LETTERS}
    for row, item in zip(found, items, strict=True):
        assert len(row["choices"]) == len(item["choices"]) == len(set(row["choices"]))
        assert row["prompt_version"].startswith("mmbench/translate@")
        assert row["provider"] == "openai"


def test_a_reply_that_breaks_a_rule_is_repaired_once_and_then_lost_by_name(world: World) -> None:
    (first,) = world.rows("SELECT question FROM choice.items ORDER BY item_id LIMIT 1")
    wrong = lambda asked: asked.task == "translate" and first["question"] in asked.text  # noqa: E731
    world.forget_calls()
    world.proxy.rewrite(wrong, lambda text: text.replace("？", "的boat？", 1))
    given = {"choice__translations": {"config": {"max_failed_share": 1.0}}}

    only = dg.AssetSelection.assets(["choice", "translations"])
    run = world.run(ANY_ASSETS, given, assets=only)

    assert run.success
    lost = world.rows("SELECT * FROM choice.failed WHERE stage = 'translations'")
    assert lost and {row["reason"] for row in lost} == {"word_added"}
    assert all(row["subject"].endswith(", zh") for row in lost)
    assert len(translations_of(world)) + len(lost) == N_ITEMS
    told = metadata(run, "choice/translations")
    assert told["failed"] == len(lost) and f"| word_added | {len(lost)} |" in told["reasons"]
    repaired = [each for each in world.proxy.asked("translate") if "Again:" in each.text]
    assert repaired and all("'boat'" in each.text for each in repaired)


def test_where_nothing_can_be_translated_the_earlier_rows_stay(
    world: World, translated: World
) -> None:
    world.forget_calls()
    world.proxy.rewrite(lambda asked: asked.task == "translate", "Gladly.")
    only = dg.AssetSelection.assets(["choice", "translations"])
    assert sentence(world.run(ANY_ASSETS, assets=only)).startswith(
        "choice.translations keeps its earlier rows: no item could be translated (5 not_json). 5 "
        "replies could not be read: correct"
    )
    assert translations_of(world) == translations_of(translated)


# --- Review and releases ---------------------------------------------------------------------------


def test_a_translation_is_queued_beside_its_source_with_the_picture(translated: World) -> None:
    queued = translated.rows("FROM review.queue WHERE kind = 'translation'")
    by_id = {row["translation_id"]: row for row in translations_of(translated)}
    assert {row["item_id"] for row in queued} == set(by_id)
    for row in queued:
        content = json.loads(row["content"])
        made = by_id[row["item_id"]]
        (item,) = translated.rows("FROM choice.items WHERE item_id = $i", i=made["item_id"])
        assert content["source"]["question"] == item["question"]
        assert content["target"]["question"] == made["question"]
        assert [content["target"][each] for each in LETTERS[: len(item["choices"])]] == (
            made["choices"]
        )
        assert row["image_ids"] == [item["image_id"]]


def test_a_release_in_chinese_has_the_items_the_order_and_the_keys_of_the_english_one(
    translated: World,
) -> None:
    rows = translated.rows(
        "SELECT r.split, r.language, i.item_id, i.labels, t.question, t.prompt_version, f.reference, "
        "f.prompt_version AS key_by, m.image_id, (SELECT list(c.choice ORDER BY c.position) "
        "FROM release.choices AS c WHERE c.release_id = i.release_id AND c.item_id = i.item_id) AS "
        "choices FROM release.current JOIN release.releases AS r USING (release_id) "
        "JOIN release.items AS i USING (release_id) "
        "JOIN release.turns AS t USING (release_id, item_id) "
        'JOIN release."references" AS f USING (release_id, item_id) '
        "JOIN release.images AS m USING (release_id, item_id) WHERE r.benchmark = 'mmbench'"
    )
    english, chinese = (
        {row["item_id"]: row for row in rows if row["language"] == language}
        for language in ("en", "zh")
    )
    made = {row["item_id"]: row for row in translations_of(translated)}
    assert english.keys() == chinese.keys() == made.keys()
    for item_id, row in chinese.items():
        same = ("split", "reference", "image_id", "labels", "key_by")
        assert {name: row[name] for name in same} == {name: english[item_id][name] for name in same}
        assert row["question"] == f"<ImageHere>\n{made[item_id]['question']}"
        assert row["choices"] == made[item_id]["choices"]
        assert row["prompt_version"].startswith("mmbench/translate@")
        assert row["key_by"].startswith("mmbench/write_item@")
    (card,) = translated.rows("FROM release.releases WHERE name = 'mmbench-zh-dev'")
    assert {"mmbench/translate", "mmbench/write_item"} <= {
        version.partition("@")[0] for version in card["prompt_versions"]
    }


def test_an_edited_source_makes_its_translation_stale_and_a_rejected_one_is_left_out(
    world: World,
) -> None:
    first, second, third, *_ = translations_of(world)
    edit(world, first["item_id"], {"question": "Which way up is this picture?"})
    edit(world, third["translation_id"], {})
    rows = world.rows("FROM review.approved")
    for row in rows:
        if row["item_id"] == second["translation_id"]:
            row["status"] = "rejected"
    world.warehouse.replace("review.approved", rows_to_arrow("review.approved", rows))

    run = world.run("release")

    assert run.success
    assert counts(run) == {
        "items in zh": N_ITEMS - 2,
        "translations to zh stale": 1,
        "translations to zh not approved": 1,
    }
    found = world.rows(
        "SELECT r.language, i.item_id, i.reviewers FROM release.current JOIN release.releases AS r "
        "USING (release_id) JOIN release.items AS i USING (release_id) WHERE r.benchmark = 'mmbench'"
    )
    english, chinese = (
        {row["item_id"]: row["reviewers"] for row in found if row["language"] == language}
        for language in ("en", "zh")
    )
    assert english.keys() - chinese.keys() == {first["item_id"], second["item_id"]}
    # Who stands behind the item, and who behind its translation.
    assert chinese[third["item_id"]] == ["ann", "policy:none"]


def test_what_a_person_changed_in_a_translation_is_released_and_no_calls_text(world: World) -> None:
    made = translations_of(world)[0]
    (row,) = world.rows("FROM review.approved WHERE item_id = $i", i=made["translation_id"])
    target = {**json.loads(row["content"])["target"], "question": "请看图片。"}
    edit(world, made["translation_id"], {"target": target})
    assert world.run("release").success
    (turn,) = world.rows(
        "SELECT t.question, t.call_key FROM release.turns AS t JOIN release.current USING (release_id) "
        "JOIN release.releases AS r USING (release_id) WHERE r.language = 'zh' AND t.item_id = $i",
        i=made["item_id"],
    )
    assert turn == {"question": "<ImageHere>\n请看图片。", "call_key": None}


# --- Evaluation ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_both_languages_are_asked_in_their_own_words_and_compared_item_by_item(
    world: World,
) -> None:
    run = world.run(ANY_ASSETS, assets=ASKING | SCORING | GAPS | REPORTS)
    assert run.success
    asked = [
        each.text for each in world.proxy.requests if "请从上面的选项中选出正确答案。" in each.text
    ]
    assert asked and not any("Please select the correct" in text for text in asked)
    rows = world.rows(
        "SELECT r.split, g.release_id, g.other, g.subject, any_value(g.n) AS n, "
        "any_value(r.language) AS language, any_value(o.language) AS other_language, "
        "map_from_entries(list((g.measure, g.value))) AS measured "
        "FROM evaluate.language_gaps AS g JOIN release.releases AS r USING (release_id) "
        "JOIN release.releases AS o ON o.release_id = g.other "
        "WHERE g.metric = 'Circular' AND g.subset_label = '' GROUP BY ALL ORDER BY r.split, g.subject"
    )
    assert [(row["split"], row["subject"]) for row in rows] == [
        *(("dev", "careful"), ("dev", "careless"), ("test", "careful"), ("test", "careless"))
    ]
    counts = {
        (row["release_id"], row["measure"]): row["n"]
        for row in world.rows(
            "FROM evaluate.language_gaps WHERE subject = '' AND subset_label = ''"
        )
    }
    for row in rows:
        measured = dict(row["measured"])
        assert (row["language"], row["other_language"]) == ("en", "zh")
        assert counts[row["release_id"], "n_pairs"] == row["n"] > 0
        assert counts[row["release_id"], "n_unlike"] == 0
        scores = {
            each["release_id"]: each["value"]
            for each in world.rows(
                "SELECT release_id, value FROM evaluate.scores WHERE metric = 'Circular' AND "
                "model = $m AND form = 'floor' AND subset_label = ''",
                m=row["subject"],
            )
        }
        assert measured["first_score"] == scores[row["release_id"]]
        assert measured["second_score"] == scores[row["other"]]
        assert measured["difference"] == measured["first_score"] - measured["second_score"]
        if row["subject"] == "careful":
            assert measured["first_score"] == measured["second_score"] == 100
    assert metadata(run, "evaluate/language_gaps")["pairs of releases"] == 2
    for release in {row[side] for row in rows for side in ("release_id", "other")}:
        page = (world.home / "reports" / f"{release}.html").read_text()
        assert 'id="languages"' in page and "English less Chinese" in page
