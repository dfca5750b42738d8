"""What turns are like, and which labels tell kinds of items."""

from methods.evaluation.items import Item, Turn
from methods.evaluation.slices import MOST_VALUES, abilities_above, labels_by_turn, tells_kinds

ITEM = Item(
    "item",
    (
        Turn(1, "Image1: <ImageHere>. What is in <image-1>?", (1,)),
        Turn(2, "Image2: <ImageHere>. Compare <image-1> and <image-2>.", (2,)),
        Turn(3, "And why?", ()),
    ),
    ("a", "b"),
    labels={"category": "mills"},
)


def test_a_turn_is_labelled_by_its_place_its_images_and_what_came_before():
    labels = labels_by_turn(ITEM)
    assert labels[1] == {
        "category": "mills",
        "turn": "1",
        "question": "one image",
        "images so far": "1",
        "words so far": "0-50",
    }
    assert labels[2]["question"] == "several images" and labels[2]["images so far"] == "2"
    assert labels[3]["question"] == "no image"
    # Characters of chinese and japanese are words so far.
    chinese = Item("item", (Turn(1, "图" * 50 + "。"), Turn(2, "比较 A 和 B？")))
    labels = labels_by_turn(chinese)
    assert [labels[turn]["words so far"] for turn in (1, 2)] == ["0-50", "51-200"]


def test_labels_with_too_many_values_and_paths_tell_no_kinds():
    assert tells_kinds("task", MOST_VALUES) and not tells_kinds("task", MOST_VALUES + 1)
    assert not tells_kinds("image_path", 2)


def test_an_items_own_label_comes_first():
    own = Item("item", ITEM.turns, ("a", "b"), labels={"turn": "easy"})
    assert labels_by_turn(own)[2]["turn"] == "easy"


def test_each_finest_ability_is_part_of_the_one_that_most_of_its_items_have() -> None:
    labels = [("x", "p"), ("x", "p"), ("x", "q"), ("y", "q"), (None, "q"), ("z", None)]
    items = [
        Item(
            str(n),
            ITEM.turns,
            labels={name: v for name, v in (("task", fine), ("kind", coarse)) if v},
        )
        for n, (fine, coarse) in enumerate(labels)
    ]
    assert abilities_above(items, ("all", "kind", "task")) == {"x": "p", "y": "q"}
    assert abilities_above(items, ("task",)) == abilities_above(items, ()) == {}
