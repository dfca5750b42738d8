"""What may be done to an item, and by whom: drafts, locks, changes of mind, comments, pictures."""

import io
from html import escape

import pytest
from PIL import Image

from resources.review.comments import MOST_COMMENTS
from review.pages.frame import texts
from review.pages.items import SIDES
from tests.review.pages import decide, dialogue, make_site, opened, picture, signed_in

pytestmark = pytest.mark.slow

SAYS = texts("en")


@pytest.mark.parametrize("whose", ["another person", "another item"])
def test_every_act_belongs_to_who_is_signed_in_and_to_that_item(anna, site, whose):
    one, two = dialogue(site, "one"), dialogue(site, "two")
    site.store.update_queue([one, two])
    data = opened(anna, one["item_id"])
    token = {"token": data["token"]}
    anna.post(data["urls"]["draft"], json={**token, "draft": {"note": "hers"}})
    client, base = anna, f"/items/{two['item_id']}"
    if whose == "another person":
        client, base = signed_in(site, "ben"), f"/items/{one['item_id']}"

    draft = client.post(f"{base}/draft", json={**token, "draft": {"note": "other"}})
    assert (draft.status_code, draft.json()["error"]) == (409, SAYS["work.lost"])
    assert client.post(f"{base}/renew", json=token).json() == {"locked": False}
    client.post(f"{base}/unlock", json=token)
    content = {"content_hash": one["content_hash"], "round": 1, "verdict": "accept"}
    assert client.post(f"{base}/decide", json={**token, **content}).status_code in (409, 422)

    assert site.store.decisions() == []
    assert anna.post(data["urls"]["renew"], json=token).json() == {"locked": True}
    assert 'note" rows="1" dir="auto">\nhers' in anna.get(f"/items/{one['item_id']}").text


def test_of_two_tabs_neither_overwrites_what_the_other_saved(one, anna, site):
    first, second = opened(anna, one["item_id"]), opened(anna, one["item_id"])
    assert first["version"] is second["version"] is None

    def save(note: str, based_on: str | None) -> object:
        body = {"token": first["token"], "draft": {"note": note}, "based_on": based_on}
        return anna.post(first["urls"]["draft"], json=body)

    saved = save("one", None).json()["version"]
    late = save("two", None)
    assert late.status_code == 409
    assert late.json() == {"error": SAYS["work.other_draft"], "other": True}
    assert decide(anna, second, "accept", based_on=None).json()["other"]
    assert site.store.decisions() == []
    assert opened(anna, one["item_id"])["version"] == saved
    # The answer to the first may have been lost: sent again it is saved.
    assert save("one", None).json()["version"] == saved
    assert save("both", saved).status_code == 200
    assert save("this one", "any").status_code == 200
    page = opened(anna, one["item_id"])
    assert decide(anna, page, "accept", based_on=page["version"]).status_code == 200


def test_a_decision_is_taken_back_and_the_page_says_what_changed(anna, site):
    one, two = dialogue(site, "one"), dialogue(site, "two")
    site.store.update_queue([one, two])
    event_id = decide(anna, opened(anna, one["item_id"]), "accept", note="hasty").json()["event_id"]
    for path in ("/", f"/items/{two['item_id']}", f"/history/{one['item_id']}"):
        assert f"/items/{one['item_id']}/take-back" in anna.get(path).text

    back = f"/items/{one['item_id']}/take-back"
    assert signed_in(site, "ben").post(back, data={"event_id": event_id}).status_code == 409
    answer = anna.post(back, data={"event_id": event_id})
    assert answer.status_code == 303
    page = anna.get(answer.headers["location"]).text
    assert SAYS["item.taken_back"] in page and "hasty" in page
    assert "“needs an expert” → “needs round 1”" in page
    assert site.store.decisions() == []
    again = anna.post(back, data={"event_id": event_id})
    assert again.status_code == 409 and SAYS["undo.none"] in again.text
    for no_id in ("9" * 5_000, "9" * 19, "-1", ""):
        assert anna.post(back, data={"event_id": no_id}).status_code == 400
    history = anna.get(f"/history/{one['item_id']}").text
    assert SAYS["history.taken_back"] in history


def test_an_administrator_opens_an_item_again_with_a_reason(one, site):
    anna, eva, ada = (signed_in(site, name) for name in ("anna", "eva", "ada"))
    decide(anna, opened(anna, one["item_id"]), "accept")
    decide(eva, opened(eva, one["item_id"]), "accept")
    path = f"/items/{one['item_id']}/reopen"
    said = {"round": "2", "reason": "The date is <wrong>."}
    for client in (anna, eva):
        assert client.post(path, data=said).status_code == 403
        assert "reopen" not in client.get(f"/history/{one['item_id']}").text
    assert "reopen" in ada.get(f"/history/{one['item_id']}").text
    empty = ada.post(path, data={"round": "2", "reason": " "})
    assert empty.status_code == 409 and SAYS["undo.reason"] in empty.text
    assert ada.post(path, data={"round": "3", "reason": "x"}).status_code == 400

    page = ada.get(ada.post(path, data=said).headers["location"]).text
    assert SAYS["item.reopened"] in page and "“approved” → “needs an expert”" in page
    assert opened(eva, one["item_id"])["round"] == 2
    assert "The date is &lt;wrong&gt;." in eva.get(f"/history/{one['item_id']}").text


def test_decisions_and_comments_are_blind_until_round_1_is_complete(tmp_path):
    site = make_site(tmp_path / "two", "default: {annotators: 2}\n")
    one = dialogue(site)
    site.store.update_queue([one])
    people = {name: signed_in(site, name) for name in ("anna", "ben", "eva", "ada")}
    path = f"/items/{one['item_id']}"

    def write(name: str, text: str, to: str = "") -> None:
        answer = people[name].post(f"{path}/comments", data={"text": text, "addressee": to})
        assert answer.headers["location"] == f"{path}#comments"

    def seen(name: str) -> set[str]:
        words = ("<b>from-anna", "to-ben", "to-eva", "from-eva", "decided so")
        shown = [people[name].get(each).text for each in (path, f"/history/{one['item_id']}")]
        return {word for word in words if escape(word) in "".join(shown)}

    write("anna", "<b>from-anna")
    write("anna", "to-ben", "BEN")
    write("anna", "to-eva", "eva")
    write("eva", "from-eva")
    decide(people["anna"], opened(people["anna"], one["item_id"]), "accept", note="decided so")
    assert seen("ben") == seen("eva") == {"from-eva"}
    everything = {"<b>from-anna", "to-ben", "to-eva", "from-eva", "decided so"}
    assert seen("anna") == seen("ada") == everything
    decide(people["ben"], opened(people["ben"], one["item_id"]), "accept")
    assert seen("ben") == everything - {"to-eva"}
    assert seen("eva") == everything - {"to-ben"}
    assert SAYS["item.agreed"] in people["eva"].get(path).text
    assert "<option>ben</option>" in people["ada"].get(path).text
    # A rejected content is not a version of the person who rejected it.
    two = dialogue(site, "two")
    site.store.update_queue([one, two])
    edits = two["content"] | {"turns": two["content"]["turns"][:1]}
    for name, said in (
        ("anna", {"verdict": "reject", "reason": "incomplete"}),
        ("ben", {"verdict": "edit", "edits": edits}),
    ):
        assert decide(people[name], opened(people[name], two["item_id"]), **said).status_code == 200
    versions = opened(people["eva"], two["item_id"])["versions"]
    assert [each["content"] for each in versions] == [edits, two["content"]]
    site.accounts.disable("ben")
    assert "<option>ben</option>" not in people["ada"].get(path).text


def test_what_is_no_comment_is_refused_in_a_sentence(one, anna, site):
    path = f"/items/{one['item_id']}/comments"
    for text, addressee, sentence in (
        (" ", "", SAYS["comment.length"].format(n=0)),
        ("x" * 4001, "", SAYS["comment.length"].format(n=4001)),
        ("x", "nobody", SAYS["comment.nobody"]),
    ):
        answer = anna.post(path, data={"text": text, "addressee": addressee})
        assert answer.status_code == 422 and sentence in answer.text
        assert f'href="/items/{one["item_id"]}"' in answer.text
    assert anna.post("/items/none/comments", data={"text": "x"}).status_code == 404
    assert site.store.comments() == []
    # No database holds a NUL.
    assert anna.post(path, data={"text": "a\x00" + "b" * 3999}).status_code == 303
    assert [comment.text for comment in site.store.comments()] == ["a" + "b" * 3999]
    # A person writes a number of them on an item.
    for _ in range(MOST_COMMENTS - 1):
        site.store.comment(one["item_id"], "anna", "Is it?")
    answer = anna.post(path, data={"text": "Is it?"})
    assert answer.status_code == 422 and SAYS["comment.often"] in answer.text
    assert len(site.store.comments()) == MOST_COMMENTS
    assert signed_in(site, "eva").post(path, data={"text": "It is."}).status_code == 303


def test_a_picture_is_served_in_the_size_that_is_shown(anna, site):
    data = io.BytesIO()
    Image.effect_noise((2000, 500), 80).convert("RGB").save(data, "PNG")
    image_id = site.images.put(data.getvalue()).image_id
    for query, kind in (("", "png"), *((f"?side={side}", "jpeg") for side in SIDES)):
        answer = anna.get(f"/images/{image_id}{query}")
        assert answer.headers["content-type"] == f"image/{kind}"
        assert "immutable" in answer.headers["cache-control"]
        if not query:
            assert answer.content == data.getvalue()
            continue
        assert f"{max(Image.open(io.BytesIO(answer.content)).size)}" == query.removeprefix("?side=")
        assert len(answer.content) < len(data.getvalue()) / 4
    # What is small is served as it is.
    small = picture(site, "green")
    assert anna.get(f"/images/{small}?side=640").content == site.images.read(small)
    for wrong in ("0", "-1", "99999", "640.5", "x"):
        assert anna.get(f"/images/{image_id}?side={wrong}").status_code == 404
    for wrong in ("0" * 64, image_id[:-1], image_id.upper(), "..%2f..%2freview.sqlite", "%00"):
        assert anna.get(f"/images/{wrong}").status_code == 404
