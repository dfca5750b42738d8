"""The rows of a release of wordings and dialogues."""

from methods.alignmmbench.building import ApprovedExchange, ApprovedWording, build_wordings
from methods.release import Edition, Origin, Release, ReviewPolicy

MADE = Origin("call", "alignmmbench/write_seed@1")
POLICY = ReviewPolicy("all", 1.0)
SOURCE = {"page_url": "https://en.wikipedia.org/wiki/Mill", "title": "Mill", "licence": "CC0"}


def wording(place: int, question: str, task: str = "Counting") -> ApprovedWording:
    turns = (ApprovedExchange(question, "Three mills.", MADE, MADE),)
    return ApprovedWording("seed", place, "image", task, "en", 1, ("ann",), turns)


def built(*items: ApprovedWording) -> Release:
    edition = Edition("alignmmbench", None, "en")
    return build_wordings("alignmmbench", edition, items, POLICY, {"image": SOURCE})


def test_wordings_of_a_seed_are_a_group_in_order_of_place() -> None:
    release = built(wording(2, "Count them."), wording(0, "How many mills?"))
    items, turns = release.rows["items"], release.rows["turns"]
    assert [row["item_id"] for row in items] == ["seed-0", "seed-2"]
    assert {row["group_id"] for row in items} == {"seed"}
    labels = {"task": "Counting", "category": "Perception & Understanding", "language": "en"}
    assert items[0]["labels"] == labels
    questions = ["<ImageHere>\nHow many mills?", "<ImageHere>\nCount them."]
    assert [row["question"] for row in turns] == questions
    assert {row["reference"] for row in release.rows["references"]} == {"Three mills."}
    image = {"release_id": release.release_id, "item_id": "seed-0", "position": 1}
    assert release.rows["images"][0] == {**image, "image_id": "image", **SOURCE}


def test_a_history_is_given_and_the_last_answer_is_the_reference() -> None:
    turns = (
        ApprovedExchange("What is it?", "A kite.", MADE, MADE),
        ApprovedExchange("Sure?", "No: a mill."),
    )
    dialogue = ApprovedWording("d", 0, "image", "Incoherence", "en", 2, ("ann", "bob"), turns)
    release = built(dialogue)
    first, last = release.rows["turns"]
    assert (first["question"], first["given"], first["image_positions"]) == (
        *("<ImageHere>\nWhat is it?", "A kite."),
        [1],
    )
    assert (last["question"], last["given"], last["image_positions"]) == ("Sure?", None, [])
    # A text that a person changed is no call's.
    assert (first["call_key"], last["call_key"]) == ("call", None)
    (reference,) = release.rows["references"]
    assert (reference["turn"], reference["reference"]) == (2, "No: a mill.")
