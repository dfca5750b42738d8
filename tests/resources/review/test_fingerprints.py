"""What changes the number and the hash of people's decisions, and what does not."""

from tests.resources.review.review_queue import item, queue, work


def test_decisions_and_contents_of_decided_items_change_the_hash_and_nothing_else_does(store):
    seen = [store.decided()]
    lock = store.lock_item("ann", "annotator")
    store.save_draft(lock.claim, {"rewrite": "half a sentence"})
    assert store.decided() == seen[0], "work that is not done"
    store.unlock(lock.claim)
    work(store, "ann", item_id="item-0")
    seen.append(store.decided())
    store.update_queue([*queue(3)[::-1], item(7)])
    assert store.decided() == seen[-1], "another order, and an item that nobody has decided"
    store.update_queue([item(0, context={"captions": ["A tower"]}), item(1)])
    assert store.decided() == seen[-1], "what only helps"
    store.update_queue([item(0, version=1)])
    seen.append(store.decided())
    work(store, "eve", item_id="item-0", verdict_="skip")
    seen.append(store.decided())
    store.update_queue([])
    seen.append(store.decided())
    assert [n_decisions for n_decisions, _ in seen] == [0, 1, 1, 2, 0]
    assert len({fingerprint for _, fingerprint in seen}) == 5


def test_kinds_have_decisions_of_their_own(store):
    store.update_queue([item(0), item(7, kind="reference")])
    work(store, "ann", item_id="item-0")
    before, others = store.decided(["rewrite"]), store.decided(["reference"])
    assert (before.n_decisions, others.n_decisions) == (1, 0)
    work(store, "ann", item_id="item-7")
    assert store.decided(["rewrite"]) == before
    assert store.decided(["reference"]) != others
    assert store.decided().n_decisions == 2
