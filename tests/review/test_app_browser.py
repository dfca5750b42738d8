"""Reviewing as people do it: the real app in a real browser, mostly by keyboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from methods.ids import content_id
from tests.review.browser import WIDE, open_item, overflow, press, sign_in
from tests.review.pages import Site, dialogue, item, make_site, serving
from tests.review.samples import samples

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.slow]

NARROW = {"width": 800, "height": 820}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with serving(make_site(tmp_path / "home")) as served:
        yield served


def test_a_dialogue_is_accepted_by_keyboard_alone(browser: Browser, site: Site) -> None:
    one = dialogue(site)
    site.store.update_queue([one])
    page = sign_in(browser, site, "anna")

    press(page, "n")
    page.wait_for_selector("html[data-ready]")
    press(page, "j", "j")
    expect(page.get_by_role("group", name="Turn 1, Answer")).to_be_focused()
    press(page, "2")
    expect(page.get_by_role("dialog", name="Image, large")).to_be_visible()
    expect(page.get_by_text("Image 2 / 2")).to_be_visible()
    press(page, "ArrowRight", "+", "Escape", "a", "m")
    # In a text the same keys are letters.
    page.keyboard.type("seen, ras?")
    press(page, "Control+Enter")
    page.wait_for_url("**/?notice=queue.nothing_left")

    (stored,) = site.store.decisions()
    assert (stored.reviewer, stored.round, stored.verdict) == ("anna", 1, "accept")
    assert (stored.content_hash, stored.note) == (one["content_hash"], "seen, ras?")
    assert stored.seconds is not None and stored.seconds >= 0


def test_turns_are_edited_added_moved_and_removed(browser: Browser, site: Site) -> None:
    one = dialogue(site)
    site.store.update_queue([one])
    page = sign_in(browser, site, "anna")
    open_item(page, site, one["item_id"])

    page.locator("button.picture").first.click()
    expect(page.get_by_text("Image 1 / 2")).to_be_visible()
    press(page, "Escape", "j", "j", "e")
    page.keyboard.type(" Nothing else.")
    press(page, "Escape", "n")  # A new turn below the first, open at its question.
    page.keyboard.type("Which is darker?")
    press(page, "Escape", "j", "Enter")
    page.keyboard.type("<image-2>.")
    press(page, "Escape", "Shift+J", "j")  # Last now; j stays there, so on to the one above.
    page.get_by_role("group", name="Turn 2, Question").focus()
    press(page, "x")
    expect(page.get_by_role("button", name="Put back")).to_be_focused()
    expect(page.get_by_role("radio", name="Accept with edits")).to_be_checked()
    press(page, "Control+Enter")
    page.wait_for_url("**/?notice=queue.nothing_left")

    (stored,) = site.store.decisions()
    first, second = one["content"]["turns"]
    assert stored.verdict == "edit"
    assert stored.edits == {
        **one["content"],
        "turns": [
            {**first, "answer": "A red ground. Nothing else."},
            {"question": "Which is darker?", "answer": "<image-2>."},
        ],
    }


def test_what_a_rejection_lacks_is_said_at_its_field_without_scrolling(
    browser: Browser, site: Site
) -> None:
    one = item(
        "long",
        "dialogue",
        {
            "image_ids": [],
            "turns": [
                {"question": f"Question {n}?", "answer": "A long answer. " * 20} for n in range(9)
            ],
        },
    )
    site.store.update_queue([one])
    page = sign_in(browser, site, "anna")
    for width in (1300, 360):
        page.set_viewport_size({"width": width, "height": 820})
        open_item(page, site, one["item_id"])
        press(page, "r")
        reason, alert = page.get_by_role("combobox", name="Reason"), page.get_by_role("alert")
        expect(reason).to_be_focused()
        reason.select_option("")  # The draft of the other width has one.
        for field, said in (
            (reason, "A rejection needs a reason."),
            (page.get_by_role("textbox", name="Note"), "The reason “other” needs a note."),
        ):
            for _ in range(3):
                press(page, "Control+Enter")
                expect(alert).to_have_text(said)
                expect(alert).to_be_in_viewport(ratio=1)
                expect(field).to_be_focused()
                expect(field).to_have_accessible_description(said)
                assert page.evaluate("scrollY") == 0
            reason.select_option("other")
            expect(alert).to_be_hidden()
        assert overflow(page) <= 0
    assert site.store.decisions() == []


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></textarea><b>bold</b>"
    "</script><script>alert(3)</script>{{ 7 * 7 }}\u202eabc <image-1> " + "W" * 10_000
)


def test_hostile_text_is_shown_as_text(browser: Browser, site: Site) -> None:
    one = dialogue(
        site,
        "hostile",
        (HOSTILE, HOSTILE),
        context={
            "why": [HOSTILE],
            "captions": [HOSTILE, HOSTILE],
            "page_urls": ["javascript:alert(4)", "https://example.org/?a=1&b=<b>"],
        },
    )
    site.store.update_queue([one])
    page = sign_in(browser, site, "anna")
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    for address in ("/", f"/items/{one['item_id']}", f"/history/{one['item_id']}"):
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            page.goto(site.address + address)
            page.wait_for_load_state("networkidle")
            assert page.locator("main b:text-is('bold'), main img[src=x]").count() == 0
            assert page.locator("a[href^='javascript']").count() == 0
            assert page.locator("body").inner_text().count("alert(1)") >= 1
            assert overflow(page) <= 0, address
    assert dialogs == []

    open_item(page, site, one["item_id"])
    press(page, "j", "e", "End")
    page.keyboard.type("!")
    press(page, "Escape")
    # The edited view is made by script, and as harmless; the reference in it is a link.
    assert page.locator("#pane b, #pane script, #pane img").count() == 0
    assert page.locator("#pane a.reference").count() == 2
    assert page.locator("textarea").first.input_value() == HOSTILE + "!"
    assert dialogs == []


def test_who_lost_the_lock_is_told_and_keeps_the_draft(browser: Browser, site: Site) -> None:
    one = dialogue(site)
    site.store.update_queue([one])
    page = sign_in(browser, site, "anna")
    open_item(page, site, one["item_id"])
    press(page, "m")
    page.keyboard.type("half done")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    lock = site.store.lock_item("anna", "annotator", item_id=one["item_id"])
    assert lock is not None
    site.store.unlock(lock.claim)

    press(page, "Escape", "a", "Control+Enter")

    expect(page.get_by_role("alert")).to_contain_text("Your lock on this item has expired")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("half done")
    assert site.store.decisions() == []
    open_item(page, site, one["item_id"])
    expect(page.get_by_role("textbox", name="Note")).to_have_value("half done")
    press(page, "a", "Control+Enter")
    page.wait_for_url("**/?notice=queue.nothing_left")
    assert len(site.store.decisions()) == 1


def test_every_kind_is_edited_by_keyboard_and_fits_800_pixels(browser: Browser, site: Site) -> None:
    pictures = dialogue(site)["image_ids"]
    rewrite = item("rewrite", "rewrite", {"original": "How many?", "rewrite": "Pray, how many?"})
    queued = [*samples(pictures * 2, ["dialogue", "rewrite"]), rewrite]
    site.store.update_queue(queued)
    page = sign_in(browser, site, "anna")
    page.set_viewport_size(NARROW)
    changes = {
        "three_turns": ["j", "e", "X", "Escape"],
        "multiple_choice": ["j", "e", "X", "Escape"],
        "rewrite": ["j", "j", "e", "X", "Escape"],
        "reference": ["j", "j", "e", "X", "Escape"],
        "translation": ["j", "j", "e", "X", "Escape"],
        "category": ["j", "j", "e", "ArrowDown"],
        "extraction": ["j", "j", "j", "e", "ArrowDown"],
        "pair": ["j", "j", "j", "j", "e", "ArrowDown"],
        "score": ["j", "j", "j", "j", "7", "0", "1", "2", "3", "4"],
    }
    changes["flagged_item"] = changes["multiple_choice"]
    key_of = {
        "flagged_item": "question",
        "three_turns": "caption",
        "multiple_choice": "question",
        "translation": "target",
        "extraction": "choice",
        "pair": "winner",
    }
    for one in queued:
        open_item(page, site, one["item_id"])
        assert overflow(page) <= 0, one["kind"]
        press(page, *changes[one["kind"]], "Control+Enter")
        page.wait_for_url(lambda url, item_id=one["item_id"]: item_id not in url)

    edits = {each.item_id: each.edits for each in site.store.decisions()}
    for one in queued:
        edited = edits[one["item_id"]]
        assert edited is not None
        changed = [key for key in edited if edited[key] != one["content"][key]]
        assert len(changed) == 1 and changed[0] in (
            key_of.get(one["kind"]),
            one["kind"],
            "scores",
        ), one["kind"]
    score = edits[content_id("review sample", "score")]
    assert score is not None
    assert [score["scores"][each] for each in score["dimensions"]] == [7, 10, 1, 2, 3, 4]


def test_the_keys_are_listed_and_letters_typed_are_letters(browser: Browser, site: Site) -> None:
    site.store.update_queue([dialogue(site)])
    page = sign_in(browser, site, "anna")
    press(page, "?")
    listed = page.get_by_role("dialog", name="Keys")
    expect(listed).to_contain_text("remove the turn")
    press(page, "n")  # Nothing happens behind it.
    press(page, "Escape")
    expect(listed).to_be_hidden()
    press(page, "/")
    page.keyboard.type("qn?")
    expect(page.get_by_role("searchbox")).to_have_value("qn?")
    assert page.url == f"{site.address}/"
