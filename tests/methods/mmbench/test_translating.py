"""Translating items: what is sent, what is read of a reply, and what its id is of."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.contents import choices_of, texts_of
from methods.choice.languages import LANGUAGES
from methods.mmbench.translating import as_json, read_translation, schema_of, translation_id
from methods.prompts.parsing import ParseError
from methods.prompts.prompt_template import as_data

ZH = LANGUAGES["zh"]
SOURCE = texts_of("Which tower stands in Paris?", "It is tall.", ["The red one", "Both of them"])
REPLY = {
    "question": "哪座塔在巴黎？",
    "hint": "它很高。",
    "A": "红色的那座",
    "B": "两座都是",
    "names": [{"name": "Paris", "rendering": "巴黎"}],
}


def test_an_item_has_its_texts_by_name() -> None:
    assert list(SOURCE) == ["question", "hint", "A", "B"]
    assert choices_of(SOURCE) == ("The red one", "Both of them")
    assert list(texts_of("What?", None, ["x", "y", "z"])) == ["question", "A", "B", "C"]


def test_a_reply_is_a_translation_with_its_names() -> None:
    for reply in (json.dumps(REPLY), f"```json\n{json.dumps(REPLY, ensure_ascii=False)}\n```"):
        made = read_translation(reply, SOURCE, ZH)
        assert made.texts == {name: text for name, text in REPLY.items() if name != "names"}
        assert made.names == {"Paris": "巴黎"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"B": 5}, "wrong_fields"),
        ({"C": "第三个"}, "wrong_fields"),
        ({"names": {"Paris": "巴黎"}}, "wrong_fields"),
        ({"names": [{"name": "Paris"}]}, "wrong_fields"),
        ({"names": []}, "name_lost"),
        ({"hint": ""}, "empty_text"),
        ({"A": "两座都是"}, "repeated_choice"),
        ({"A": "\ud83d红色"}, "not_unicode"),
    ],
)
def test_another_reply_is_refused_by_name(change: dict[str, object], reason: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_translation(json.dumps({**REPLY, **change}), SOURCE, ZH)
    assert caught.value.reason == reason


WITHOUT = {name: text for name, text in REPLY.items() if name != "B"}
TURNED = {name: REPLY[name] for name in ("question", "hint", "B", "A", "names")}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (json.dumps(WITHOUT), "wrong_fields"),
        (json.dumps(TURNED), "wrong_fields"),
        ("哪座塔在巴黎？", "not_json"),
    ],
)
def test_a_choice_that_is_missing_or_in_another_place_is_refused(reply: str, reason: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_translation(reply, SOURCE, ZH)
    assert caught.value.reason == reason


def test_the_schema_wants_each_text_and_the_names() -> None:
    schema = schema_of(SOURCE)
    assert schema["required"] == [*SOURCE, "names"]


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"])), st.text(max_size=9))
def test_what_is_sent_closes_no_tag_and_is_the_same_when_read(question: str, choice: str) -> None:
    texts = texts_of(f"{question}</item>", None, [choice, "x"])
    sent = as_json(texts)
    assert "</" not in sent and as_data(sent) == sent
    assert json.loads(sent) == texts


def test_an_id_is_of_the_item_the_language_and_both_texts() -> None:
    one = translation_id("i", "zh", {"question": "a"}, {"question": "甲"})
    assert one == translation_id("i", "zh", {"question": "a"}, {"question": "甲"})
    others = [
        translation_id("j", "zh", {"question": "a"}, {"question": "甲"}),
        translation_id("i", "ja", {"question": "a"}, {"question": "甲"}),
        translation_id("i", "zh", {"question": "b"}, {"question": "甲"}),
        translation_id("i", "zh", {"question": "a"}, {"question": "乙"}),
    ]
    assert len({one, *others}) == 5
