"""The published form: what another project's loader finds in it."""

import json

from methods.mmdu.export import mmdu_record
from methods.prompts.messages import IMAGE_HERE

TURNS = [
    ("Image1: <ImageHere>, Image2: <ImageHere>. Compare them.", "<image-1> is “älter”."),
    ("And <image-2>?", "Newer."),
]


def test_a_dialogue_in_mmdus_form():
    assert mmdu_record("d1", ("images/a.jpg", "images/b.png"), TURNS) == {
        "id": "d1",
        "image": ["images/a.jpg", "images/b.png"],
        "conversations": [
            {"from": "user", "value": TURNS[0][0]},
            {"from": "assistant", "value": "<image-1> is “älter”."},
            {"from": "user", "value": "And <image-2>?"},
            {"from": "assistant", "value": "Newer."},
        ],
    }


def test_it_is_json_and_its_keys_keep_their_order():
    record = mmdu_record("d1", ("images/a.jpg", "images/b.png"), TURNS)
    assert json.loads(json.dumps(record)) == record
    assert list(record) == ["id", "image", "conversations"]


def test_there_are_as_many_images_as_places_for_them():
    record = mmdu_record("d1", ("images/a.jpg", "images/b.png"), TURNS)
    places = sum(each["value"].count(IMAGE_HERE) for each in record["conversations"])
    assert places == len(record["image"]) == 2
