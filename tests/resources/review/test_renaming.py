"""People who get another name or a pseudonym, and spellings that become one."""

from pathlib import Path

import pytest

from resources.review.accounts import AccountError, Accounts
from resources.review.store import ReviewStore
from tests.resources.review.account_clock import CHEAP, RIGHT, WRONG, text_of
from tests.resources.review.review_queue import (
    assert_follows_from_events,
    change,
    columns,
    queue,
    rows,
    status,
    verdict,
    with_rules,
    work,
)

NAME = "Annemarie"


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return with_rules(tmp_path, "default: {annotators: 2, expert: none}", queue(3))


@pytest.fixture
def accounts(store: ReviewStore) -> Accounts:
    accounts = Accounts(store.path, hasher=CHEAP)
    accounts.add(NAME, "annotator", RIGHT)
    accounts.add("bob", "annotator")
    accounts.add("ada", "admin")
    return accounts


def worked(store: ReviewStore) -> None:
    """A decision, one that was taken back, a comment to and from, a lock with a draft."""
    work(store, NAME, item_id="item-0")
    work(store, NAME, item_id="item-1")
    last = store.last_decision(NAME)
    store.take_back("item-1", last.event_id, NAME)
    store.comment("item-0", NAME, "Is it?")
    store.comment("item-0", "bob", "It is.", NAME)
    lock = store.lock_item(NAME, "annotator", item_id="item-2")
    store.save_draft(lock.claim, {"note": "half"})
    store.assign(NAME, "annotator", NAME, kind="score")
    change(store, "INSERT INTO gold VALUES ('g', 'item-0', '{}', :name, '2026')", name=NAME)


def events(store: ReviewStore) -> list[tuple]:
    names = columns(store, "events")
    rest = ", ".join(name for name in names if name not in ("reviewer", "source_hash"))
    return rows(store, f"SELECT {rest} FROM events ORDER BY 1")


def in_file(path: Path, text: str) -> bool:
    return any(text.encode() in each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


def test_a_new_name_stands_everywhere_and_the_person_goes_on(store, accounts):
    worked(store)
    link = accounts.link(NAME)
    session, before, decided = accounts.begin_session(NAME), events(store), store.decided()

    assert accounts.rename(NAME, "Anne") == 2

    assert events(store) == before
    assert store.decided() != decided, "the tables of review get the name"
    assert {each.reviewer for each in store.decisions(revoked=True)} == {"Anne"}
    assert [(each.author, each.addressee) for each in store.comments()] == [
        ("Anne", None),
        ("bob", "Anne"),
    ]
    signed_in = accounts.session(session)
    assert signed_in is not None and signed_in.name == "Anne"
    assert accounts.use_link(link) == signed_in
    [told] = store.assignments()
    assert (told.assignment.annotator, told.made_by) == ("Anne", "Anne")
    assert accounts.get(NAME) is None and accounts.get("anne") is not None
    lock = store.lock_item("Anne", "annotator", item_id="item-2")
    assert lock is not None and store.draft(lock.claim)[0] == {"note": "half"}
    assert_follows_from_events(store)


def test_an_erased_person_is_a_pseudonym_and_the_decisions_stay(store, accounts):
    worked(store)
    work(store, "bob", item_id="item-0")
    accounts.check(NAME, WRONG)
    hashes = {each.source_hash for each in store.decisions() if each.reviewer == NAME}
    session, before, was = accounts.begin_session(NAME), events(store), status(store, "item-0")

    pseudonym = accounts.erase("annemarie")

    assert events(store) == before
    assert {each.reviewer for each in store.decisions()} == {pseudonym, "bob"}
    assert not hashes & {each.source_hash for each in store.decisions()}, "it would tell the name"
    assert status(store, "item-0") == was == "approved"
    assert accounts.get(pseudonym) is None, "nobody can let it sign in again"
    assert accounts.session(session) is None
    store.close()
    accounts.close()
    assert NAME not in text_of(store)
    assert rows(store, "SELECT * FROM sign_in_attempts") == []
    assert not in_file(store.path, NAME) and not in_file(store.path, NAME.casefold())
    # The name is free: it is nobody's.
    accounts.add(NAME, "annotator")
    assert store.lock_item(NAME, "annotator", item_id="item-1") is not None


@pytest.mark.files_alone
def test_what_cannot_be_is_said_in_a_sentence(store, accounts):
    worked(store)
    work(store, "cid", item_id="item-1")
    for old, new, said in (
        (NAME, "BOB", "There is a person 'bob' already"),
        (NAME, "cid", "There is a person 'cid' already"),
        ("nobody", "somebody", "no decision of that name"),
        (NAME, "policy:none", "no colon|letters, digits"),
    ):
        with pytest.raises(AccountError, match=said):
            accounts.rename(old, new)
    with pytest.raises(AccountError, match="vlm-loom review account add"):
        accounts.stored_name("nobody")
    assert accounts.stored_name("ANNEMARIE") == NAME
    # Only another spelling of one's own.
    accounts.rename(NAME, "annemarie")
    assert accounts.stored_name(NAME) == "annemarie"


@pytest.mark.parametrize("act", ["disable", "set_role", "erase"])
@pytest.mark.files_alone
def test_the_last_administrator_who_can_sign_in_stays_one(accounts, act):
    def end(name: str) -> None:
        getattr(accounts, act)(name, *(["expert"] if act == "set_role" else []))

    accounts.set_role("ada", "admin")  # who is one already
    with pytest.raises(AccountError, match="last administrator"):
        end("ADA")
    accounts.add("ida", "admin")
    accounts.disable("ida")
    with pytest.raises(AccountError, match="last administrator"):
        end("ada")
    accounts.enable("ida")
    end("ada")
    assert [each.name for each in accounts.all() if each.may("admin") and not each.disabled] == [
        "ida"
    ]


def test_two_spellings_of_earlier_versions_become_one_when_the_file_is_opened(store, accounts):
    """Earlier imports took any name: a person could be two, and agree with herself."""
    on = store.items()[0]
    said = [
        (NAME.upper(), "accept"),
        (NAME.lower(), "reject"),
        ("ZOE", "accept"),
        ("Zoe", "accept"),
    ]
    store.append([verdict(on, name, says) for name, says in said])
    for name in (NAME.upper(), NAME.lower()):
        lock = store.lock_item(name, "annotator", item_id="item-1")
        store.save_draft(lock.claim, {"note": name})
    before = events(store)

    opened = ReviewStore(store.path)

    assert events(opened) == before
    drafts = rows(opened, "SELECT annotator, draft FROM drafts")
    assert drafts == [(NAME, '{"note":"annemarie"}')], "the last one"
    assert [each.reviewer for each in opened.decisions()] == [NAME, NAME, "ZOE", "ZOE"]
    state = opened.state("item-0")
    # The last decision of each counts.
    assert [(each.reviewer, each.verdict) for each in state.annotator_decisions] == [
        (NAME, "reject"),
        ("ZOE", "accept"),
    ]
    assert_follows_from_events(opened)
