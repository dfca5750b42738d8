"""Translations from items to releases: what is asked, lost, reviewed, stale, released, and compared."""

import json

import dagster as dg
import pytest

from methods.choice.lettered import LETTERS
from methods.ids import content_id
from tests.assets.choice.released import N_ITEMS, items_of, released_items
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, Result, Row, World, metadata, sentence

pytestmark = pytest.mark.slow

BASE = "written"

TRANSLATIONS = dg.AssetSelection.assets(["choice", "translations"])
GAPS = dg.AssetSelection.assets(["evaluate", "language_gaps"])


def translations_of(world: World) -> list[Row]:
    return world.rows("FROM choice.translations ORDER BY item_id")


def translate(world: World, **config: object) -> Result:
    return world.run(ANY_ASSETS, {"choice__translations": {"config": config}}, assets=TRANSLATIONS)


def edit(world: World, item_id: str, change: Row, **outcome: object) -> None:
    """What review.approved would have after a person changed an item's content."""
    (row,) = world.table("review.approved", item_id=item_id)
    content = {**json.loads(row["content"]), **change}
    texts = {"content": json.dumps(content), "content_hash": content_id(content)}
    by = {"revision": 1, "reviewers": ["ann"], **outcome}
    world.change("review.approved", item_id, **texts, **by)


def test_every_item_is_translated_and_the_key_is_never_sent(written: World) -> None:
    items = items_of(written)
    found = translations_of(written)
    assert [row["item_id"] for row in found] == [row["item_id"] for row in items]
    assert {row["language"] for row in found} == {"zh"}
    asked = written.proxy.asked("translate")
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
    world.forget_calls()
    world.proxy.rewrite(
        lambda asked: asked.task == "translate" and first["question"] in asked.text,
        lambda text: text.replace("？", "的boat？", 1),
    )

    run = translate(world, max_failed_share=1.0)

    assert run.success
    lost = world.table("choice.failed", stage="translations")
    assert lost and {row["reason"] for row in lost} == {"word_added"}
    assert all(row["subject"].endswith(", zh") for row in lost)
    assert len(translations_of(world)) + len(lost) == N_ITEMS
    told = metadata(run, "choice/translations")
    assert told["failed"] == len(lost) and f"| word_added | {len(lost)} |" in told["reasons"]
    repaired = [each for each in world.proxy.asked("translate") if "Again:" in each.text]
    assert repaired and all("'boat'" in each.text for each in repaired)


def test_where_nothing_can_be_translated_the_earlier_rows_stay(world, written):
    world.forget_calls()
    world.proxy.rewrite(lambda asked: asked.task == "translate", "Gladly.")
    assert sentence(translate(world)).startswith(
        "choice.translations keeps its earlier rows: no item could be translated (10 not_json). "
    )
    assert translations_of(world) == translations_of(written)


def test_a_translation_is_queued_beside_its_source_with_the_picture(written: World) -> None:
    queued = written.table("review.queue", kind="translation")
    by_id = {row["translation_id"]: row for row in translations_of(written)}
    assert {row["item_id"] for row in queued} == set(by_id)
    for row in queued:
        content = json.loads(row["content"])
        made = by_id[row["item_id"]]
        (item,) = written.table("choice.items", item_id=made["item_id"])
        assert content["source"]["question"] == item["question"]
        assert content["target"]["question"] == made["question"]
        assert [content["target"][each] for each in LETTERS[: len(item["choices"])]] == (
            made["choices"]
        )
        assert row["image_ids"] == [item["image_id"]]


def test_a_release_in_chinese_has_the_items_the_order_and_the_keys_of_the_english_one(written):
    english, chinese = (released_items(written, language) for language in ("en", "zh"))
    made = {row["item_id"]: row for row in translations_of(written)}
    assert english.keys() == chinese.keys() == made.keys()
    for item_id, row in chinese.items():
        same = ("split", "reference", "image_id", "labels", "key_by")
        assert {name: row[name] for name in same} == {name: english[item_id][name] for name in same}
        assert row["question"] == f"<ImageHere>\n{made[item_id]['question']}"
        assert row["choices"] == made[item_id]["choices"]
        assert row["prompt_version"].startswith("mmbench/translate@")
        assert row["key_by"].startswith("mmbench/write_item@")
    (card,) = written.table("release.releases", name="mmbench-zh-dev")
    assert {"mmbench/translate", "mmbench/write_item"} <= {
        version.partition("@")[0] for version in card["prompt_versions"]
    }


def test_what_people_change_makes_a_translation_stale_goes_with_it_or_is_its_text(world):
    first, second, third, *_ = translations_of(world)
    edit(world, first["item_id"], {"question": "Which way up is this picture?"})
    edit(world, second["translation_id"], {}, status="rejected")
    (row,) = world.table("review.approved", item_id=third["translation_id"])
    target = {**json.loads(row["content"])["target"], "question": "请看图片。"}
    edit(world, third["translation_id"], {"target": target})

    run = world.run("release")

    assert run.success
    told = metadata(run, "release/releases")
    assert {name: n for name, n in told.items() if " zh" in name} == {
        "items in zh": N_ITEMS - 2,
        "translations to zh stale": 1,
        "translations to zh not approved": 1,
    }
    english, chinese = (released_items(world, language) for language in ("en", "zh"))
    assert english.keys() - chinese.keys() == {first["item_id"], second["item_id"]}
    changed = chinese[third["item_id"]]
    # Who stands behind the item, and who behind its translation, which is no call's text any more.
    assert changed["reviewers"] == ["ann", "policy:none"]
    assert (changed["question"], changed["call_key"]) == ("<ImageHere>\n请看图片。", None)


def test_both_languages_are_asked_in_their_own_words_and_compared_item_by_item(world):
    world.set_models(evaluate=["careful"])
    run = world.run(ANY_ASSETS, assets=ASKING | SCORING | GAPS)
    assert run.success
    asked = [
        each.text for each in world.proxy.requests if "请从上面的选项中选出正确答案。" in each.text
    ]
    assert asked and not any("Please select the correct" in text for text in asked)
    gaps = "FROM evaluate.language_gaps WHERE subset_label = '' AND "
    for measure, n in (("n_unlike", 0), ("n_pairs", N_ITEMS)):
        counts = world.rows(f"SELECT n {gaps} subject = '' AND measure = $m", m=measure)
        assert sum(row["n"] for row in counts) == n
    for row in world.rows(f"{gaps} metric = 'Circular' AND measure = 'second_score'"):
        (other,) = world.rows(
            "SELECT value FROM evaluate.scores WHERE metric = 'Circular' AND form = 'floor' "
            "AND subset_label = '' AND model = $m AND release_id = $r",
            m=row["subject"],
            r=row["other"],
        )
        assert row["value"] == other["value"] and "zh" in row["other"]
    assert metadata(run, "evaluate/language_gaps")["pairs of releases"] == 2
