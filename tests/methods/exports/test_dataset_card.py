"""The page of a dataset, whose texts are partly from outside."""

from methods.exports.dataset_card import DatasetCardInput, page_text, summary
from methods.licences.combination import SetLicence


def test_split_and_language_are_shown_as_they_are_and_act_as_nothing() -> None:
    card = {
        **{"benchmark": "mmbench", "kind": "benchmark", "origin": "imported", "settings": "{}"},
        **{"n_items": 1, "n_turns": 1, "n_images": 0},
        "split": "<script>alert(1)</script>",
        "language": "[x](javascript:alert(1))\n`<img src=http://a/x>",
    }
    said = summary(card)
    outside, _, inside = said.partition("`")
    inside, _, after = inside.partition("`")
    assert "<script>" in inside and "<img" in inside and "\n" not in inside
    assert not set("<[`") & set(outside + after)


def test_an_instruction_set_is_called_one() -> None:
    card = {"benchmark": None, "kind": "instruction", "n_items": 3, "n_turns": 9, "n_images": 6}
    assert summary(card).startswith("An instruction set of 3 items with 9 turns about 6 pictures,")


def test_a_licence_that_an_imported_release_names_is_shown_and_acts_as_nothing() -> None:
    card = {
        **{"release_id": "mmdu-0", "name": "mmdu", "benchmark": "mmdu", "kind": "benchmark"},
        **{"n_items": 1, "n_turns": 1, "n_images": 0, "provider": None, "created_at": "2026-01-01"},
        **{"review_policy": "all", "review_share": 1.0},
    }
    name = "[click](javascript:alert(1)) **b** ![p](http://a/p) <img src=http://a/x>"
    page = page_text(DatasetCardInput([card], SetLicence(name), {}, [], {}, stated="MIT"))
    assert f"The whole is under `{name}`. For its texts" in page
    unknown = page_text(DatasetCardInput([card], SetLicence(None, 2), {}, [], {}))
    assert "none is known of 2 pictures" in unknown


def test_a_version_that_an_imported_release_names_stays_in_the_citation() -> None:
    card = {
        **{"release_id": "mmdu-0", "name": "mmdu", "benchmark": "mmdu", "kind": "benchmark"},
        **{"n_items": 1, "n_turns": 1, "n_images": 0, "provider": None, "created_at": "2026-01-01"},
        **{"review_policy": "all", "review_share": 1.0, "project_version": "1\n```\n# Mine"},
    }
    page = page_text(DatasetCardInput([card], SetLicence(None), {}, [], {}))
    assert "made with vlm-loom 1 ``` # Mine}" in page and "\n# Mine" not in page
