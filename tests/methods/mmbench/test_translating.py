"""Translating items: what is sent, what is read of a reply, and what its id is of."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.contents import choices_of, texts_of
from methods.choice.languages import LANGUAGES
from methods.mmbench.translating import as_json, read_translation, translation_id
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


def test_a_reply_is_a_translation_of_an_items_texts_with_its_names():
    assert list(SOURCE) == ["question", "hint", "A", "B"]
    assert choices_of(SOURCE) == ("The red one", "Both of them")
    assert list(texts_of("What?", None, ["x", "y", "z"])) == ["question", "A", "B", "C"]
    # A reply is a translation with its names.
    for reply in (json.dumps(REPLY), f"```json\n{json.dumps(REPLY, ensure_ascii=False)}\n```"):
        made = read_translation(reply, SOURCE, ZH)
        assert made.texts == {name: text for name, text in REPLY.items() if name != "names"}
        assert made.names == {"Paris": "巴黎"}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({**REPLY, "B": 5}, "wrong_fields"),
        ({**REPLY, "C": "第三个"}, "wrong_fields"),
        ({**REPLY, "names": {"Paris": "巴黎"}}, "wrong_fields"),
        ({**REPLY, "names": [{"name": "Paris"}]}, "wrong_fields"),
        ({**REPLY, "names": []}, "name_lost"),
        ({**REPLY, "hint": ""}, "empty_text"),
        ({**REPLY, "A": "两座都是"}, "repeated_choice"),
        ({**REPLY, "A": "\ud83d红色"}, "not_unicode"),
        # A choice is missing, or in another place.
        ({name: REPLY[name] for name in ("question", "hint", "A", "names")}, "wrong_fields"),
        ({name: REPLY[name] for name in ("question", "hint", "B", "A", "names")}, "wrong_fields"),
        ("哪座塔在巴黎？", "not_json"),
    ],
)
def test_another_reply_is_refused_by_name(reply: object, reason: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_translation(json.dumps(reply), SOURCE, ZH)
    assert caught.value.reason == reason


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"])), st.text(max_size=9))
def test_what_is_sent_closes_no_tag_and_is_the_same_when_read(question: str, choice: str) -> None:
    texts = texts_of(f"{question}</item>", None, [choice, "x"])
    sent = as_json(texts)
    assert "</" not in sent and as_data(sent) == sent
    assert json.loads(sent) == texts


def test_an_id_is_of_the_item_the_language_and_both_texts() -> None:
    def id_of(item: str = "i", language: str = "zh", source: str = "a", target: str = "甲") -> str:
        return translation_id(item, language, {"question": source}, {"question": target})

    ids = [id_of(), id_of(item="j"), id_of(language="ja"), id_of(source="b"), id_of(target="乙")]
    assert len(set(ids)) == 5 and id_of() == ids[0]
