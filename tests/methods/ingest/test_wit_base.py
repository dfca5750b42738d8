"""Records of wit_base: one row for each page that shows the image, or one rejection and why."""

from itertools import count

import pytest

from methods.ingest.wit import Rejection, WitRow, rows_of_record

OWL = {
    "language": "en",
    "page_url": "https://en.wikipedia.org/wiki/Owl",
    "page_title": "Owl",
    "section_title": "Food",
    "hierarchical_section_title": "Owl / Food",
    "caption_reference_description": "An owl eats",
    "caption_title_and_reference_description": "Owl [SEP] An owl eats",
    "caption_alt_text_description": None,
    "is_main_image": "true",
    "attribution_passes_lang_id": "True",
    "page_changed_recently": "false",
    "context_page_description": "Owls fly.",
    "context_section_description": "They eat.",
}
EULE = OWL | {
    "language": "de",
    "page_url": "https://de.wikipedia.org/wiki/Eulen",
    "page_title": "Eulen",
    "caption_reference_description": None,
    "caption_title_and_reference_description": "Eulen [SEP] Eine Eule frisst ",
}
IMAGE = {
    "image_url": "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.jpg",
    "mime_type": "image/jpeg",
    "original_height": 300,
    "original_width": 400,
    "caption_attribution_description": "English: An owl",
}


def lists(*pages: dict[str, str | None]) -> dict[str, list[str | None]]:
    """Pages as the published files have them: a list for each column."""
    return {name: [page[name] for page in pages] for name in OWL}


def record(features: object, **changes: object) -> dict[str, object]:
    return {**IMAGE, "wit_features": features, **changes}


def only(features: object, **changes: object) -> WitRow | Rejection:
    [item] = rows_of_record(record(features, **changes), count(1))
    return item


@pytest.mark.parametrize("features", [lists(OWL, EULE), [OWL, EULE]], ids=["lists", "mappings"])
def test_each_page_of_an_image_is_a_row_with_the_image_s_own_values(features):
    owl, eule = rows_of_record(record(features), count(5))
    assert (owl.line_number, owl.language, owl.page_title) == (5, "en", "Owl")
    assert (eule.line_number, eule.language, eule.page_title) == (6, "de", "Eulen")
    for row in (owl, eule):
        assert row.image_url == IMAGE["image_url"] and row.mime_type == "image/jpeg"
        assert (row.original_height, row.original_width) == (300, 400)
        assert row.caption_attribution_description == "English: An owl"
        assert row.is_main_image is True and row.attribution_passes_lang_id is True
        assert row.page_changed_recently is False
        assert row.context_section_description == "They eat."


@pytest.mark.parametrize(
    ("alone", "together", "caption"),
    [
        ("An owl eats", "Owl [SEP] Another", "An owl eats"),
        (None, "Owl [SEP] An owl eats ", "An owl eats"),
        (" ", "Owl [SEP] An owl eats", "An owl eats"),
        (None, "Owl [SEP] one [SEP] two", "one [SEP] two"),
        (None, "Owl", None),
        (None, "Owl [SEP] ", None),
        (None, None, None),
    ],
)
def test_the_caption_may_be_given_only_together_with_the_title(alone, together, caption):
    page = OWL | {
        "caption_reference_description": alone,
        "caption_title_and_reference_description": together,
    }
    assert only([page]).caption_reference_description == caption


def test_a_column_that_is_missing_is_empty():
    features = {name: values for name, values in lists(OWL).items() if "caption" not in name}
    row = only(features | {"section_title": None}, mime_type=None)
    assert isinstance(row, WitRow)
    assert row.caption_reference_description is row.section_title is row.mime_type is None


@pytest.mark.parametrize(
    "features", [None, [], {}, lists(), {"language": None, "page_url": None}], ids=repr
)
def test_an_image_without_a_page_is_one_rejection(features):
    rejected = only(features)
    assert isinstance(rejected, Rejection)
    assert (rejected.reason, rejected.excerpt) == ("no_page", IMAGE["image_url"])


def test_lists_of_unequal_length_are_one_rejection():
    features = lists(OWL, EULE) | {"page_title": ["Owl"]}
    rejected = only(features)
    assert isinstance(rejected, Rejection) and rejected.reason == "unequal_lists"
    assert rejected.detail == "The lists of wit_features have [1, 2] values."
    assert rejected.excerpt == IMAGE["image_url"]


def test_a_page_that_is_no_row_costs_no_other_of_the_image():
    first, second, third = rows_of_record(
        record([OWL, EULE | {"page_url": "none"}, EULE]), count(1)
    )
    assert isinstance(first, WitRow) and isinstance(third, WitRow)
    assert isinstance(second, Rejection)
    assert (second.line_number, second.reason) == (2, "bad_url")
