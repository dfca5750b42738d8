"""The review app over HTTP: who gets which page, what is stored, and what is refused."""

import json
import re

import pytest
from selectolax.lexbor import LexborHTMLParser

from methods.ids import content_id
from methods.review import KINDS
from resources.review import locks
from resources.review.items import MOST_SEARCHED
from review.pages.frame import texts, version
from review.pages.lead import SHOWN_MEASURES
from tests.review.items_of_every_kind import item_of, samples
from tests.review.pages import (
    attribute,
    browser,
    csrf_token_in,
    decide,
    dialogue,
    has_inline_code,
    opened,
    signed_in,
)


def test_a_link_signs_in_once_and_only_when_used(site):
    link = f"/link/{site.accounts.link('anna')}"
    client = browser(site)
    for _ in range(2):  # Looking, as mail scanners do, uses nothing up.
        page = client.get(link)
        assert page.status_code == 200 and "anna" in page.text
    data = {"csrf_token": csrf_token_in(page.text)}
    assert client.post(link, data=data).status_code == 303
    assert browser(site).get(link).status_code == 410


def test_an_administrator_adds_and_disables_accounts(site):
    ada = signed_in(site, "ada")
    made = ada.post("/accounts", data={"action": "add", "name": "zoe", "role": "annotator"})
    link = LexborHTMLParser(made.text).css_first("code.link")
    assert link is not None and link.text().startswith("http://127.0.0.1/link/")
    again = ada.post("/accounts", data={"action": "add", "name": "Zoe", "role": "annotator"})
    assert again.status_code == 422 and 'role="alert"' in again.text
    ada.post("/accounts", data={"action": "disable", "name": "anna"})
    account = site.accounts.get("anna")
    assert account is not None and account.disabled


def test_a_decision_is_stored_under_the_name_that_is_signed_in(anna, site):
    one, two = dialogue(site, "one"), dialogue(site, "two")
    site.store.update_queue([one, two])
    data = opened(anna, one["item_id"])

    answer = decide(anna, data, "accept", reviewer="eva", seconds=12.5, note="fine")

    assert answer.status_code == 200
    assert answer.json()["next"] == f"/items/{two['item_id']}"
    (stored,) = site.store.decisions()
    assert (stored.reviewer, stored.round, stored.seconds) == ("anna", 1, 12.5)
    assert stored.content_hash == one["content_hash"]


def test_an_edit_changes_the_texts_of_turns_alone_and_an_expert_may_restore_a_turn(anna, one, site):
    data, turns = opened(anna, one["item_id"]), one["content"]["turns"]
    odd = one["content"] | {"turns": [turns[0] | {"question_id": {"x": ["y"]}}, turns[1]]}
    refused = decide(anna, data, "edit", edits=odd)
    assert (refused.status_code, refused.json()["path"]) == (422, ["turns", 0])
    shorter = one["content"] | {"turns": turns[:1]}
    assert decide(anna, data, "edit", edits=shorter).status_code == 200
    eva = signed_in(site, "eva")
    restored = decide(eva, opened(eva, one["item_id"]), "edit", edits=one["content"])
    assert restored.status_code == 200


HALF, LONE = "half \ud83d", "The text has lone surrogates: remove them."


@pytest.mark.parametrize(
    ("act", "said", "sentence"),
    [
        ("decide", {"verdict": "reject"}, "reject needs a reason."),
        ("decide", {"verdict": "accept", "note": HALF}, "note: U+D83D is an invisible"),
        ("decide", {"verdict": "accept", "note": "x" * 4_001}, "4,001 characters and may have"),
        ("draft", {"draft": {"note": HALF}}, LONE),
    ],
)
def test_what_cannot_be_stored_is_refused_in_one_sentence(anna, one, site, act, said, sentence):
    data = opened(anna, one["item_id"])
    known = {name: data[name] for name in ("token", "content_hash", "round")}
    as_json = {"content-type": "application/json"}
    # As ASCII, for httpx2 would not send half a character; JSON can say it.
    content = json.dumps({**known, **said})
    answer = anna.post(data["urls"][act], content=content, headers=as_json)
    assert answer.status_code == 422 and sentence in answer.json()["error"]
    for body in ("", "[1]", "[" * 100_000):
        answer = anna.post(data["urls"][act], content=body, headers=as_json)
        assert answer.status_code == 400 and "error" in answer.json(), "it is no object"
    assert site.store.decisions() == []


def test_a_draft_comes_back_to_its_person_alone(one, anna, site):
    data = opened(anna, one["item_id"])
    begun = json.loads(json.dumps(one["content"]))
    begun["turns"][0]["answer"] = ""  # Not valid yet, and kept nevertheless.
    draft = {"content": begun, "note": "<b>to do</b>", "seconds": 7, "verdict": "edit"}
    saved = anna.post(data["urls"]["draft"], json={"token": data["token"], "draft": draft})
    assert saved.json()["saved"]

    again = opened(anna, one["item_id"])
    assert (again["token"], again["shown"], again["seconds"]) == (data["token"], begun, 7)
    assert again["content"] == one["content"]
    assert "&lt;b&gt;to do&lt;/b&gt;" in anna.get(f"/items/{one['item_id']}").text
    # Another annotator gets neither the item nor the draft.
    other = signed_in(site, "ben").get(f"/items/{one['item_id']}").text
    assert attribute(other, "#review-data", "type") is None and "to do" not in other

    assert decide(anna, again, "accept").status_code == 200


def test_a_draft_of_no_form_is_left_aside(one, anna):
    wrong_turns = {"image_ids": [], "turns": [{"question": 5, "answer": []}]}
    for content in (5, {"turns": []}, {"image_ids": [], "turns": 5}, wrong_turns):
        data = opened(anna, one["item_id"])
        draft = {"draft": {"content": content}, "based_on": data["version"]}
        anna.post(data["urls"]["draft"], json={"token": data["token"], **draft})
        assert opened(anna, one["item_id"])["shown"] == one["content"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_with_any_value_is_no_error_of_the_page(kind, anna, site):
    """The values that people may not change are shown as they are."""
    item = item_of(kind)
    content = item["content"]
    if kind == "dialogue":
        content["turns"][0]["question_id"] = "q1"
        item["content_hash"] = content_id(content)
    site.store.update_queue([item])
    data = opened(anna, item["item_id"])
    for path in _paths(content):
        for value in ({"x": 1}, [], [{}], 10**9, None, "x"):
            changed = json.loads(json.dumps(content))
            part = changed
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] = value
            draft = {"token": data["token"], "draft": {"content": changed}}
            assert anna.post(data["urls"]["draft"], json=draft).status_code == 200
            shown = opened(anna, item["item_id"])["shown"]
            fixed = shown.keys() - set(KINDS[kind].editable)
            assert {key: shown[key] for key in fixed} == {key: content[key] for key in fixed}


def _paths(value, path=()):
    """Yield the path to each value in a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        yield (*path, key)
        if isinstance(part, (dict, list)):
            yield from _paths(part, (*path, key))


def test_who_lost_the_lock_or_has_an_old_content_is_told_so(one, anna, site, monkeypatch):
    data = opened(anna, one["item_id"])
    anna.post(data["urls"]["unlock"], json={"token": data["token"]})
    lost = decide(anna, data, "accept")
    held = opened(anna, one["item_id"])
    site.store.update_queue([dialogue(site, "one", ("Changed?", "Yes."))])
    stale = decide(anna, held, "accept")
    for answer, said in ((lost, "work.lost"), (stale, "work.changed_meanwhile")):
        assert (answer.status_code, answer.json()["error"]) == (409, texts("en")[said])
    assert site.store.decisions() == []
    again = opened(anna, one["item_id"])
    with monkeypatch.context() as patched:
        patched.setattr(locks, "MOST_DECIDED", 0)
        often = decide(anna, again, "accept")
    assert (often.status_code, often.json()["error"]) == (409, texts("en")["work.often"])
    decide(anna, again, "accept")
    twice = decide(anna, again, "skip")
    assert (twice.status_code, twice.json()["error"]) == (409, texts("en")["work.decided"])


def test_the_next_item_is_of_the_same_kind_while_there_is_one(anna, one, site):
    references = [item_of("reference", text) for text in ("A tower.", "A mill.")]
    site.store.update_queue([one, *references])
    for item, following in zip(references, (references[1], one), strict=True):
        answer = decide(anna, opened(anna, item["item_id"]), "accept")
        assert answer.json()["next"] == f"/items/{following['item_id']}"


def test_what_a_check_found_stands_at_the_text_that_it_concerns(site):
    found = [["leak", "the harbour"], ["unsupported", "a <red> ship"], ["length", "3 words"]]
    checks = {"q0": {"turn": 1, "outcome": "review", "found": found}}
    addresses = ["javascript:alert(1)", "https://example.org/a"]
    one = dialogue(site, "checked", context={"checks": checks}, page_urls=addresses)
    site.store.update_queue([one])
    site.images.path(one["content"]["image_ids"][0]).unlink()
    page = LexborHTMLParser(signed_in(site, "anna").get(f"/items/{one['item_id']}").text)
    first, second = page.css(".turn[data-origin='0'], .turn[data-origin='1']")
    order = [" ".join(each.text().split()) for each in first.css(".check, .label")]
    assert order == [
        "Checks: look at this pair",
        "length: 3 words",
        "Question",
        "says what only a caption or page says: the harbour",
        "Answer",
        "not supported by the pictures: a <red> ship",
    ]
    assert not second.css(".check")
    assert [bool(page.css(f"a[href='{address}']")) for address in addresses] == [False, True]
    assert len(page.css(".missing")) == 1


def test_the_queue_is_filtered_and_counts(anna, site):
    whale = dialogue(site, "whale", ("A <whale>?", "Yes."))
    numbered = [dialogue(site, f"number {number}") for number in range(60)]
    site.store.update_queue([whale, *numbered[:49]])
    assert "offset=50" not in anna.get("/").text, "there is one page"
    site.store.update_queue([whale, *numbered])

    first = anna.get("/").text
    assert first.count("data-row") == 50
    assert all(shown in first for shown in ("0 / 61", "offset=50", "1–50 / 61"))
    last = anna.get("/?offset=50").text
    assert last.count("data-row") == 11 and "51–61 / 61" in last
    found = anna.get("/?text=WHALE&kind=dialogue&status=round_1").text
    assert found.count("data-row") == 1 and "A &lt;whale&gt;?" in found
    assert anna.get("/?status=approved").text.count("data-row") == 0
    assert "kind=dialogue&amp;offset=50" in anna.get("/?kind=dialogue").text
    for odd in ("/?offset=-1", f"/?offset={'9' * 5000}", "/?notice=<b>", "/?kind="):
        assert anna.get(odd).status_code == 200
    for unknown in ("kind", "status"):
        answer = anna.get(f"/?{unknown}=foo%00")
        assert answer.status_code == 404
        assert texts("en")[f"queue.no_{unknown}"] in answer.text
    assert anna.get("/items/nothing").status_code == 404
    longest = " ".join(["a"] * (MOST_SEARCHED // 2))
    assert anna.get("/", params={"text": longest}).status_code == 200
    answer = anna.get("/", params={"text": " ".join(["a"] * 600)})
    assert answer.status_code == 422
    assert "A search has at most 200 characters, and this one has 1199" in answer.text
    # What is rejected is done, and who takes it up has to edit it.
    decide(anna, opened(anna, whale["item_id"]), "reject", reason="incomplete")
    assert "1 / 61" in anna.get("/").text
    assert opened(signed_in(site, "ben"), whale["item_id"])["needs_edit"]


def test_pages_carry_no_script_or_style_of_their_own(site):
    one = dialogue(site)
    site.store.update_queue([one, *samples(one["image_ids"], ["dialogue"])])
    client = signed_in(site, "ada")
    items, _ = site.store.page()
    paths = ["/", "/accounts", *(f"/items/{each.item_id}" for each in items)]
    for path in [*paths, f"/history/{one['item_id']}"]:
        page = client.get(path)
        assert page.status_code == 200
        assert not has_inline_code(page.text), path
    static = client.get(f"/static/{version()}/item.js")
    assert static.status_code == 200 and "immutable" in static.headers["cache-control"]


def test_languages_say_the_same_things_one_is_chosen_and_refusals_are_in_it(anna, site):
    english, chinese = texts("en"), texts("zh")
    assert english.keys() == chinese.keys() >= {f"measure.{name}" for name in SHOWN_MEASURES}
    assert all(re.search("[\u4e00-\u9fff]", text) for text in chinese.values())
    in_chinese = {"accept-language": "zh"}
    for path in ("/accounts", "/nowhere", "/items/none"):
        page = anna.get(path, headers=in_chinese)
        assert page.status_code in (403, 404)
        shown = LexborHTMLParser(page.text).css_first("main p")
        assert shown is not None and re.search("[\u4e00-\u9fff]", shown.text())
    answer = browser(site).post("/next", json={}, headers=in_chinese)
    assert re.search("[\u4e00-\u9fff]", answer.json()["error"])
    # It leads back to this site alone.
    answer = anna.get("/language/zh?back=/?kind=dialogue")
    assert answer.headers["location"] == "/?kind=dialogue"
    assert '<html lang="zh">' in anna.get("/").text
    assert anna.get("/language/zh?back=//evil.example/").headers["location"] == "/"
    assert anna.get("/language/xx").status_code == 404
