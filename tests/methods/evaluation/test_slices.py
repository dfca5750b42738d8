"""What turns are like, and which subsets follow."""

from methods.evaluation.items import Item, Turn
from methods.evaluation.slices import MOST_VALUES, abilities_above, labels_by_turn, subsets

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


def test_labels_with_one_value_or_too_many_and_paths_and_no_name_split_nothing():
    labels = [{"one": "x", "two": str(n % 2), "id": str(n)} for n in range(MOST_VALUES + 1)]
    assert list(subsets(labels)) == [("two", "0"), ("two", "1")]
    # The path of a picture is no subset.
    labels = [{"image_path": f"{n}.png", "task": str(n)} for n in range(2)]
    assert list(subsets(labels)) == [("task", "0"), ("task", "1")]
    # An items own label comes first and one without a name splits nothing.
    own = Item("item", ITEM.turns, ("a", "b"), labels={"turn": "easy"})
    assert labels_by_turn(own)[2]["turn"] == "easy"
    assert list(subsets([{"": "1"}, {"": "2"}])) == []


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
