"""What a translation has to keep: right and wrong ones of each rule, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.languages import LANGUAGES
from methods.choice.translation_checks import check_text, check_translation, written_numbers
from methods.prompts.parsing import ParseError

ZH = LANGUAGES["zh"]
OK = ""


def reason_of(source: dict[str, str], target: dict[str, str], names: dict[str, str]) -> str:
    """Why texts are refused; nothing if they are not."""
    try:
        check_translation(source, target, names, ZH)
    except ParseError as error:
        assert error.detail.endswith(".")
        return error.reason
    return OK


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        # Code, markup, LaTeX, addresses, images.
        ("Is `x < 3` true?", "`x < 三`为真吗？", "code_changed"),
        ("What is $a_1 + b$ here?", "这里的$b + a_1$是什么？", "code_changed"),
        ("What does <b>bold</b> mean?", "粗体是什么意思？", "code_changed"),
        ("Compare <image-1> with <image-2>.", "比较<image-1>和<image-1>。", "code_changed"),
        ("<ImageHere> shows what?", "显示了什么？", "code_changed"),
        ("What is red?", "<ImageHere>什么是红色的？", "code_changed"),
        ("See https://a.org/b for more.", "更多内容见https://a.org/c。", "code_changed"),
        ("Fill in {name} here.", "在此填写{name}。", OK),
        # Numbers.
        ("How many of the 3 boats are red?", "三艘船中有几艘是红色的？", "number_changed"),
        ("How many of the 3 boats are red?", "３艘船中有几艘是红色的？", OK),
        ("How many of the three boats are red?", "4艘船中有几艘是红色的？", "number_added"),
        ("twenty-one people", "22个人", "number_added"),
        ("1,250 people came.", "来了1250人。", OK),
        ("5 of 5 people", "5人", "number_changed"),
        ("in the 20th century", "在20世纪", OK),
        ("It was built in May 1901.", "它建于1901年5月。", OK),
        ("It was built in May 1901.", "它建于1901年6月。", "number_added"),
        # Symbols, units, formulas, letters.
        ("20 % of it", "其中的20", "symbol_changed"),
        ("It costs 5.", "它的价格是5€。", "symbol_changed"),
        ("It is 5 km away.", "它在5公里之外。", "unit_changed"),
        ("It is 20 °C warm.", "气温为20℃。", OK),
        ("How is the water, H2O?", "水是什么样的？", "formula_changed"),
        ("Point B lies left of point A.", "点B在它的左边。", "letter_changed"),
        ("A dog is there.", "那里有一只狗。", OK),
        ("A", "甲", "letter_changed"),
        # Names.
        ("Which tower stands in Paris?", "哪座塔在巴黎？", "name_lost"),
        ("Is it made by NASA?", "它是NASA制造的吗？", OK),
        ("an iPhone", "一部iPhone", OK),
        ("It opens on Monday.", "它星期一开放。", OK),
        ("Paris's tower", "Paris的塔", "not_translated"),
        ("Which is larger? The first one.", "哪个更大？第一个。", OK),
        # The language.
        ("red boat", "红色的船ship", "word_added"),
        ("red boat", "красная лодка", "other_language"),
        ("the angle π", "角π", OK),
        ("red boat", "！", "not_translated"),
        ("red boat", " ", "empty_text"),
        (" ", "红色", "added_text"),
        ("red", "红色" * 107, OK),
        ("red", "红色" * 108, "too_long"),
    ],
)
def test_a_text_keeps_what_it_has_to_keep(source: str, target: str, expected: str) -> None:
    assert reason_of({"question": source}, {"question": target}, {}) == expected


def test_a_name_may_have_another_form_if_it_is_listed_and_is_the_same_in_every_text() -> None:
    source = {"question": "Which tower stands in Paris?", "A": "Paris"}
    in_chinese = {"question": "哪座塔在巴黎？", "A": "巴黎"}
    assert reason_of(source, in_chinese, {"Paris": "巴黎"}) == OK
    assert reason_of(source, {**in_chinese, "A": "帕里斯"}, {"Paris": "巴黎"}) == "name_lost"
    assert reason_of(source, {**in_chinese, "A": "Paris"}, {"Paris": "巴黎"}) == OK
    # What begins a text may be a name or a word: it stays only if it is listed.
    kept = {"question": "哪座塔在Paris？", "A": "Paris"}
    assert reason_of(source, kept, {}) == "not_translated"
    assert reason_of(source, kept, {"Paris": "Paris"}) == OK
    assert reason_of(source, in_chinese, {"Rome": "罗马", "Paris": "巴黎"}) == "unknown_name"
    assert reason_of(source, in_chinese, {"Paris": "Parigi"}) == "unknown_name"
    several = {"question": "Who was Ada Lovelace?"}
    assert reason_of(several, {"question": "阿达是谁？"}, {"Ada Lovelace": "阿达"}) == OK
    assert reason_of(several, {"question": "阿达是谁？"}, {"Ada": "阿达"}) == "name_lost"


CHOICES = {"question": "Which colour is it?", "A": "red", "B": "blue", "C": "green"}
RIGHT = {"question": "它是什么颜色？", "A": "红色", "B": "蓝色", "C": "绿色"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, OK),
        ({"B": "红色。"}, "repeated_choice"),
        ({"A": "（A）红色"}, "lettered_choice"),
        ({"A": "Ａ、红色"}, "lettered_choice"),
        ({"A": "红色（正确）"}, "verdict_added"),
        ({"question": "它是什么颜色？答案在图中。"}, "verdict_added"),
        ({"question": "它是什么颜色，红色吗？"}, "gives_answer_away"),
        ({"question": "它是红色、蓝色还是绿色？"}, OK),
        ({"C": ""}, "empty_text"),
    ],
)
def test_choices_stay_choices_and_none_is_given_away(change: dict[str, str], expected: str) -> None:
    assert reason_of(CHOICES, {**RIGHT, **change}, {}) == expected


def test_numbers_in_words_and_what_the_source_says_may_be_said():
    assert set(written_numbers("Twenty-one of two dozen, the third in May")) == {
        *("21", "20", "1", "2", "12", "3", "5")
    }
    assert list(written_numbers("a red boat")) == []
    # What the source says may be said.
    source = {"question": "Is the red boat the right one?", "A": "red", "B": "B: blue"}
    target = {"question": "红色的船是正确的那艘吗？", "A": "红色", "B": "B：蓝色"}
    assert reason_of(source, target, {}) == OK


NUMBERS = st.lists(st.integers(0, 10**9) | st.decimals(0, 999, places=2), max_size=5)


@given(NUMBERS.filter(bool), st.data())
def test_a_number_that_is_lost_changed_or_new_is_found(numbers, data) -> None:
    texts = [str(number) for number in numbers]
    source = "the boats " + " and ".join(texts)
    place = data.draw(st.integers(0, len(texts) - 1))
    without = [*texts[:place], *texts[place + 1 :]]
    with pytest.raises(ParseError) as lost:
        check_text("question", source, "船" + "和".join(without), {}, ZH)
    assert lost.value.reason == "number_changed"
    with pytest.raises(ParseError) as added:
        check_text("question", source, "船" + "和".join([*texts, "77777777777"]), {}, ZH)
    assert added.value.reason == "number_added"
