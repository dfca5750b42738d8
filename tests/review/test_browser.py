"""Reviewing as people do it: the real app in a real browser, mostly by keyboard."""

import copy
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from methods.review.decisions import QueueItem
from review.pages.frame import texts
from tests.resources.review.review_queue import verdict
from tests.review.browser import open_item, overflow, press, sign_in
from tests.review.items_of_every_kind import samples
from tests.review.pages import Site, dialogue, item, make_site, serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.slow]

SAYS = texts("en")
TWO = "default: {annotators: 2}\n"
NARROW = {"width": 800, "height": 820}
SCHEMES = pytest.mark.parametrize(
    "scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)]
)


@pytest.fixture
def site(site: Site) -> Iterator[Site]:
    with serving(site) as served:
        yield served


@pytest.fixture
def blind(tmp_path: Path) -> Iterator[Site]:
    """Two annotators decide each item."""
    with serving(make_site(tmp_path / "two", TWO)) as served:
        yield served


@pytest.fixture
def page(browser: Browser, site: Site, one: QueueItem) -> Page:
    """The only item, opened by an annotator."""
    page = sign_in(browser, site, "anna")
    open_item(page, site, one["item_id"])
    return page


def ready(page: Page) -> None:
    page.wait_for_selector("html[data-ready]")


def require_accessible(page: Page) -> None:
    # What is behind a dialog is dimmed, and nobody can use it meanwhile.
    shown = "dialog[open]" if page.locator("dialog[open]").count() else None
    found = Axe().run(page, context=shown).response["violations"]
    said = [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]
    assert found == [], (page.url, said)


def saved(page: Page) -> None:
    # A busy machine takes its time.
    expect(page.locator("#saved")).to_have_text(SAYS["work.saved"], timeout=20_000)


def edit(site: Site, one: QueueItem, name: str, answer: str) -> None:
    """The decision of an annotator who gives the first turn another answer."""
    lock = site.store.lock_item(name, "annotator", item_id=one["item_id"])
    edits = copy.deepcopy(one["content"])
    edits["turns"][0]["answer"] = answer
    site.store.decide(lock.token, verdict(lock, name, "edit", edits))


def test_a_dialogue_is_accepted_by_keyboard_alone(browser, site, one):
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


def test_turns_are_edited_added_moved_and_removed(page, site, one):
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
    first, _ = one["content"]["turns"]
    turns = [{**first, "answer": "A red ground. Nothing else."}]
    turns.append({"question": "Which is darker?", "answer": "<image-2>."})
    assert (stored.verdict, stored.edits) == ("edit", {**one["content"], "turns": turns})


def test_what_a_rejection_lacks_is_said_at_its_field_without_scrolling(browser, site):
    one = dialogue(site, "long", *[(f"Question {n}?", "A long answer. " * 20) for n in range(9)])
    site.store.update_queue([one])
    page = sign_in(browser, site, "anna")
    page.set_viewport_size({"width": 360, "height": 820})
    open_item(page, site, one["item_id"])
    press(page, "r")
    reason, alert = page.get_by_role("combobox", name="Reason"), page.get_by_role("alert")
    expect(reason).to_be_focused()
    for field, said in (
        (reason, "A rejection needs a reason."),
        (page.get_by_role("textbox", name="Note"), "The reason “other” needs a note."),
    ):
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


def test_hostile_text_is_shown_as_text(browser, site):
    context = {"why": [HOSTILE], "captions": [HOSTILE, HOSTILE]}
    context["page_urls"] = ["javascript:alert(4)", "https://example.org/?a=1&b=<b>"]
    one = dialogue(site, "hostile", (HOSTILE, HOSTILE), context=context)
    site.store.update_queue([one])
    page = sign_in(browser, site, "anna")
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    page.set_viewport_size(NARROW)
    for address in ("/", f"/items/{one['item_id']}", f"/history/{one['item_id']}"):
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


def test_every_kind_is_edited_by_keyboard_and_fits_800_pixels(browser, site):
    pictures = dialogue(site)["image_ids"]
    rewrite = item("rewrite", "rewrite", {"original": "How many?", "rewrite": "Pray, how many?"})
    queued = [*samples(pictures * 2, ["dialogue", "rewrite"]), rewrite]
    site.store.update_queue(queued)
    page = sign_in(browser, site, "anna")
    page.set_viewport_size(NARROW)
    typed, chosen = ["e", "X", "Escape"], ["e", "ArrowDown"]
    keys_of = {
        "three_turns": ("caption", 1, typed),
        "multiple_choice": ("question", 1, typed),
        "flagged_item": ("question", 1, typed),
        "rewrite": ("rewrite", 2, typed),
        "reference": ("reference", 2, typed),
        "translation": ("target", 2, typed),
        "category": ("category", 2, chosen),
        "extraction": ("choice", 3, chosen),
        "pair": ("winner", 4, chosen),
        "score": ("scores", 4, ["7", "0"]),
    }
    for one in queued:
        open_item(page, site, one["item_id"])
        assert overflow(page) <= 0, one["kind"]
        _, n_down, keys = keys_of[one["kind"]]
        press(page, *["j"] * n_down, *keys, "Control+Enter")
        page.wait_for_url(lambda url, item_id=one["item_id"]: item_id not in url)

    edits = {each.item_id: each.edits or {} for each in site.store.decisions()}
    for one in queued:
        edited = edits[one["item_id"]]
        changed = [key for key in edited if edited[key] != one["content"][key]]
        assert changed == [keys_of[one["kind"]][0]]
        if one["kind"] == "score":
            assert list(edited["scores"].values()) == [7, 10]


ARMED_AFTER = 0.8
"""Seconds that an item is shown before it can be decided."""


def test_fast_presses_decide_one_item(browser, site):
    site.store.update_queue([dialogue(site, f"number {number}") for number in range(5)])
    page = sign_in(browser, site, "anna")
    press(page, "n")
    ready(page)
    began = time.monotonic()
    for _ in range(5):
        press(page, "a", "Control+Enter")
        page.wait_for_timeout(60)
    took = time.monotonic() - began
    page.wait_for_timeout(1500)
    # Where the machine is so busy that the presses are slow, the next item may have been looked at.
    assert 1 <= len(site.store.decisions()) <= 1 + took // ARMED_AFTER


def test_a_decision_waits_for_the_draft_that_is_on_its_way(page, site):
    def slow(route: Route) -> None:
        page.wait_for_timeout(1500)
        route.continue_()

    page.route("**/draft", slow)
    page.wait_for_timeout(900)
    with page.expect_request("**/draft"):
        press(page, "m")
        page.keyboard.type("Well seen.")
        press(page, "Escape", "a")
    press(page, "Control+Enter")
    page.wait_for_url("**/?*", wait_until="commit")
    (made,) = site.store.decisions()
    assert (made.verdict, made.note) == ("accept", "Well seen.")


def test_what_is_wrong_with_an_edit_is_said_at_the_text_in_the_language_of_the_page(
    browser, site, one
):
    part, said = "轮次 2, 回答", "此文本为空：请填写。"
    page = sign_in(browser, site, "anna", "zh-CN")
    open_item(page, site, one["item_id"])
    press(page, "j", "j", "j", "j", "e", "Control+A", "Delete", "Control+Enter")
    alert = page.get_by_role("alert")
    expect(alert).to_have_text(f"{part}: {said}")
    field = page.get_by_role("textbox", name=part)
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description(said)
    expect(field).to_be_in_viewport()
    press(page, "Escape", "k", "k")
    alert.get_by_role("link").click()
    expect(field).to_be_focused()
    require_accessible(page)
    page.keyboard.type("Blue.")
    press(page, "Control+Enter")
    page.wait_for_url("**/?*")


def test_an_expert_takes_a_version_by_one_key_and_edits_from_there(browser, blind):
    site = blind
    one = dialogue(site)
    site.store.update_queue([one])
    edit(site, one, "anna", "A scarlet ground.")
    edit(site, one, "ben", "A crimson ground.")
    eva = sign_in(browser, site, "eva")
    open_item(eva, site, one["item_id"])
    differences = eva.get_by_role("group").filter(has_text=SAYS["versions.between"])
    expect(differences.locator("del")).to_have_text("scarlet")
    expect(differences.locator("ins")).to_have_text("crimson")
    answer = eva.get_by_role("group", name="Turn 1, Answer")
    expect(answer).to_contain_text("A red ground.")
    for key, text in ((",", "scarlet"), (";", "red"), (".", "crimson")):
        press(eva, key)
        expect(answer).to_contain_text(text)
        ready(eva)
    press(eva, "j", "j", "e", "End")
    eva.keyboard.type(" Indeed.")
    press(eva, "Escape")
    # Own edits are not overwritten by one key.
    asked: list[str] = []
    eva.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    press(eva, ",")
    assert asked == [SAYS["work.overwrite"]]
    press(eva, "Control+Enter")
    eva.wait_for_url("**/?notice=queue.nothing_left")
    last = site.store.decisions()[-1]
    assert last.edits is not None
    assert last.edits["turns"][0]["answer"] == "A crimson ground. Indeed."


def test_two_tabs_ask_which_draft_stays(page, site, one):
    first, second, note = page, page.context.new_page(), "Note"
    open_item(second, site, one["item_id"])
    press(first, "m")
    first.keyboard.type("first")
    saved(first)
    second.bring_to_front()
    press(second, "m")
    second.keyboard.type("second")

    expect(second.get_by_role("alert")).to_have_text(SAYS["work.other_draft"])
    expect(second.locator("#saved")).to_have_text(SAYS["work.not_saved"])
    second.get_by_role("button", name=SAYS["work.keep_this"]).click()
    expect(second.get_by_role("textbox", name=note)).to_have_value("second")
    expect(second.get_by_role("alert")).to_be_hidden()
    saved(second)
    open_item(first, site, one["item_id"])
    expect(first.get_by_role("textbox", name=note)).to_have_value("second")


def test_a_draft_that_did_not_reach_the_server_is_neither_lost_nor_typed_over(page, site, one):
    def dead(route: Route) -> None:
        route.abort()

    note, alert = page.get_by_role("textbox", name="Note"), page.get_by_role("alert")
    page.route("**/draft", dead)
    press(page, "m")
    page.keyboard.type("Le")
    expect(alert).to_have_text(SAYS["work.offline"], timeout=20_000)
    expect(page.locator("#saved")).to_have_text(SAYS["work.not_saved"])
    page.unroute("**/draft", dead)
    page.keyboard.type("f")
    saved(page)
    expect(alert).to_be_hidden()

    page.route("**/draft", dead)
    page.keyboard.type("t.")
    expect(alert).to_have_text(SAYS["work.offline"], timeout=20_000)
    page.goto(f"{site.address}/items/{one['item_id']}")
    expect(page.locator("#saved")).to_have_text(SAYS["work.not_saved"])
    press(page, "m")
    page.keyboard.type("Over it.")
    assert note.input_value() in ("", "Lef"), "what the server has"
    page.unroute("**/draft", dead)
    expect(note).to_have_value("Left.", timeout=20_000)


@SCHEMES
def test_axe_finds_nothing(browser, blind, scheme):
    site = blind
    one, two = dialogue(site, "one"), dialogue(site, "two")
    (score,) = [each for each in samples(one["image_ids"], []) if each["kind"] == "score"]
    score["context"] = {"rubric": ["Creativity - own thought. 1-2 none; 9-10 outstanding."]}
    site.store.update_queue([one, two, score])
    site.images.path(two["image_ids"][1]).unlink()

    edit(site, one, "anna", "A scarlet ground.")
    site.store.reopen(one["item_id"], "ada", 1, "Not yet.")
    edit(site, one, "anna", "A scarlet ground.")
    edit(site, one, "ben", "A crimson ground.")
    site.store.comment(one["item_id"], "anna", "Which one?", "eva")
    for share, bucket in ((1.0, None), (0.5, 3)):
        site.store.assign("ben", "annotator", "ada", bucket=bucket, share=share)
    decided = site.store.lock_item("eva", "expert", item_id=one["item_id"])
    site.store.decide(decided.token, verdict(decided, "eva"))
    assert site.store.make_gold(1, "ada") == 1
    site.store.reopen(one["item_id"], "ada", 2, "Once more.")
    for own in (score, two):
        assert site.store.lock_item("anna", "annotator", item_id=own["item_id"])
    item = f"/items/{one['item_id']}"
    for name, paths in (
        ("eva", (f"{item}?notice=item.taken_back&was=approved", f"/items/{two['item_id']}")),
        ("ada", (f"/history/{one['item_id']}", "/", "/accounts", "/lead", "/items/nothing")),
        (
            "anna",
            (
                *("/", f"/history/{one['item_id']}"),
                *(f"/items/{score['item_id']}", f"/items/{two['item_id']}"),
            ),
        ),
    ):
        page = sign_in(browser, site, name, color_scheme=scheme)
        for path in paths:
            page.goto(site.address + path)
            for closed in page.locator("details:not([open]) summary").all():
                closed.click()
            if path == "/lead":
                shown = page.locator("section table, section .notice li")
                assert shown.count() > 6, "people, holds, assignments, doubts, gold, weeks"
            require_accessible(page)
    # Dialogs are shown over a page that is not to be used meanwhile.
    page.locator("[data-image]:enabled").first.click()
    require_accessible(page)
    press(page, "Escape", "?")
    require_accessible(page)


@SCHEMES
def test_axe_finds_nothing_on_the_way_in(browser, site, scheme):
    page = browser.new_context(color_scheme=scheme).new_page()
    page.goto(site.link("anna"))
    require_accessible(page)
    page.goto(f"{site.address}/login")
    require_accessible(page)
    page.get_by_label("Name").fill("anna")
    page.get_by_label("Password").fill("not the password")
    page.locator("main button").press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    require_accessible(page)
    page = sign_in(browser, site, "ben", tour=True, color_scheme=scheme)
    expect(page.locator("#tour")).to_be_visible()
    require_accessible(page)
