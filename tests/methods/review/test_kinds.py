"""Each kind of item: what people may change of it, what is read of it, and how contents differ."""

import copy
from string import ascii_uppercase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from methods.choice.alphabet import LETTERS
from methods.ids import content_id
from methods.review import check_decision
from methods.review.contents import content_of
from methods.review.differences import MOST_COMPARED, differences, word_differences
from methods.review.faults import EditFault
from methods.review.kinds import KINDS, MOST_TURNS
from tests.resources.review.review_queue import item_with, verdict
from tests.review.items_of_every_kind import item_of

TURNS = [
    {"question": "<ImageHere> What stands in <image-1>?", "answer": "A tower."},
    {"question": "And how high is it?", "answer": "Forty metres."},
]
CONTENTS = {kind: item_of(kind, image_ids=("a",))["content"] for kind in KINDS}
CONTENTS["dialogue"] = {"image_ids": ["a"], "turns": TURNS}
CONTENTS["pair"] |= {"winner": "A"}
GOOD = {
    "dialogue": [
        {"turns": TURNS[::-1]},
        {"turns": TURNS[:1]},
        {"turns": [*TURNS, {"question": "Why?", "answer": "For ships."}]},
    ],
    "multiple_choice": [
        {"answer": "B"},
        {"hint": "Look at the sails."},
        {"choices": {"A": "A tower", "B": "A mill", "C": "A ship", "D": "None"}, "answer": "D"},
        {"question": "Which of these is it?", "category": "objects"},
    ],
    "score": [{"scores": {"Creativity": 1, "Richness": 10}}],
}
THREE = CONTENTS["three_turns"]


def turn(name, **changes):
    return {name: {**THREE[name], **changes}}


GOOD["three_turns"] = [
    {"caption": "A mill."},
    turn("perception", category="Building Recognition"),
    turn("creation", focus="It names the tower.\nIt is short."),
    turn("reasoning", question="Why is it white?", reference="To be seen."),
    turn("reasoning", question="Is it a light\u00adhouse\u200b?"),
]
CHOICES = {letter: f"Tower {letter}" for letter in ascii_uppercase}
MOST_CHOICES = {"choices": {letter: CHOICES[letter] for letter in LETTERS}, "answer": "J"}
GOOD["multiple_choice"].append(MOST_CHOICES)
GOOD["flagged_item"] = GOOD["multiple_choice"]
BAD = [
    ("dialogue", {"turns": TURNS[1:]}, "keep every one, and add none"),
    ("dialogue", {"turns": "Why?"}, "turns: at least one turn must stay"),
    ("dialogue", {"turns": TURNS * MOST_TURNS}, "there are at most 200 turns: remove the others"),
    ("three_turns", {"reasoning": {"question": "Why?"}}, "reasoning: this is an object with"),
    ("three_turns", turn("creation", reference="A tower."), "creation reference: an earlier turn"),
    ("three_turns", turn("creation", focus=" "), "creation focus: this text is empty"),
    ("three_turns", {"caption": " "}, "caption: this text is empty"),
    # A release shows the image with the first turn, and refuses a second place for it.
    ("three_turns", {"caption": "<ImageHere> A mill."}, "caption: <ImageHere> stands for an image"),
    ("three_turns", turn("creation", focus="<ImageHere>"), "creation focus: <ImageHere> stands"),
    *(
        (kind, change, fault)
        for kind in ("multiple_choice", "flagged_item")
        for change, fault in (
            ({"choices": dict([*CHOICES.items()][:11])}, "choices: there are at most 10 choices"),
            ({"choices": CHOICES}, "choices: there are at most 10 choices: remove the others"),
            # The text of a turn is the hint and the question.
            ({"hint": "See <ImageHere>."}, "hint: <ImageHere> stands for an image"),
        )
    ),
    ("multiple_choice", {"hint": 7}, "hint: this must be a text, or null for none"),
    ("multiple_choice", {"choices": {"A": "A tower"}}, "at least 2"),
    ("multiple_choice", {"choices": {"A": "x", "C": "y"}}, "A, B, C and so on"),
    ("multiple_choice", {"choices": {"A": "x", "B": " x "}}, "choices B: an earlier choice has"),
    *(
        ("multiple_choice", {"choices": {"A": one, "B": other}}, "choices B: an earlier choice has")
        for one, other in (
            ("x", "x\u200d"),
            ("It\u2019s red", "It\u2019s re\ufe0fd"),
            ("\u7ea2\u8272", "\u7ea2\u8272\u200d"),
        )
    ),
    ("reference", {"reference": None}, "reference: this text is empty"),
    *(
        (kind, change, "this text is empty")
        for invisible in ("\u200b", "\u00ad \u200d", "\u2800", "\u3164", "\U0001d173")
        for kind, change in (
            ("reference", {"reference": invisible}),
            ("dialogue", {"turns": [TURNS[0], {"question": "Why?", "answer": invisible}]}),
            ("multiple_choice", {"category": invisible}),
        )
    ),
    ("reference", {"reference": "<ImageHere>"}, "reference: "),
    ("pair", {"winner": "C"}, "winner: this is one of A, B, tie"),
    ("translation", {"target": {"question": "?"}}, "target: this is an object with the keys hint"),
    ("translation", {"target": {"question": " ", "hint": ""}}, "target question: this text"),
    ("extraction", {"choice": "C"}, "one of A, B, Z"),
    ("score", {"scores": {"Creativity": 5}}, "scores: this is an object with the keys C"),
    ("score", {"scores": {"Creativity": 5, "Richness": 11}}, "scores Richness: this is a whole"),
    ("score", {"scores": {"Creativity": None, "Richness": 5}}, "Creativity: no score is given"),
]


@pytest.mark.parametrize("name", GOOD)
def test_what_people_may_change_they_may(name):
    for change in GOOD[name]:
        KINDS[name].check(CONTENTS[name] | change, CONTENTS[name])


@pytest.mark.parametrize(("name", "change", "says"), BAD)
def test_what_they_may_not_is_refused_in_one_sentence(name, change, says):
    with pytest.raises(ValueError, match=says) as refused:
        KINDS[name].check(CONTENTS[name] | change, CONTENTS[name])
    assert "\n" not in str(refused.value)


WITH_IDS = [
    {**turn, "question_id": f"q{number}", "image_positions": [number]}
    for number, turn in enumerate(TURNS, start=1)
]
QUEUED = {"image_ids": ["a"], "turns": WITH_IDS}
NEW = {"question": "Why?", "answer": "For ships."}


def with_second(**values):
    return [WITH_IDS[0], {**WITH_IDS[1], "answer": "Fifty metres.", **values}]


@pytest.mark.parametrize(
    "turns",
    [
        with_second(question_id={"x": ["y"]}),
        with_second(question_id=["q2"]),
        with_second(question_id="of-another-dialogue"),
        with_second(question_id=None),
        with_second(question_id="q1"),
        with_second(image_positions=[1]),
        # Equal in Python, and another content.
        with_second(image_positions=[2.0]),
        with_second(follows="q1"),
        [*WITH_IDS, WITH_IDS[1]],
        [WITH_IDS[0], {**NEW, "question_id": "q2"}],
        [*WITH_IDS, {**NEW, "question_id": "q3"}],
    ],
)
def test_only_the_texts_of_a_turn_may_change_and_each_turn_is_there_once(turns):
    content = {"image_ids": ["a"], "turns": turns}
    with pytest.raises(EditFault, match="only the question and the answer of a turn") as caught:
        KINDS["dialogue"].check(content, QUEUED)
    assert caught.value.path[0] == "turns"


def test_turns_move_and_leave_with_their_ids_come_back_with_them_and_new_ones_have_none():
    shorter = {"image_ids": ["a"], "turns": WITH_IDS[:1]}
    for turns in (with_second(), WITH_IDS[::-1], WITH_IDS[:1], [NEW, NEW, *WITH_IDS]):
        KINDS["dialogue"].check({"image_ids": ["a"], "turns": turns}, QUEUED)
    # An expert may take the queued content again where an annotator removed a turn.
    KINDS["dialogue"].check(QUEUED, shorter, QUEUED)
    with pytest.raises(EditFault, match="each turn may occur once"):
        KINDS["dialogue"].check({**QUEUED, "turns": with_second(question_id="q1")}, shorter, QUEUED)


@pytest.mark.parametrize("name", KINDS)
def test_what_people_decide_on_stays_as_it_is_and_a_change_changes_something(name):
    content, editable = CONTENTS[name], KINDS[name].editable
    for key in set(content) - set(editable):
        with pytest.raises(ValueError, match=rf"{key}: only {', '.join(editable)} may change"):
            KINDS[name].check(content | {key: "Other."}, content)
    if name != "score":
        with pytest.raises(ValueError, match="nothing is changed"):
            KINDS[name].check(copy.deepcopy(content), content)


def test_a_model_may_name_images_that_people_who_read_its_letter_are_not_shown():
    content = CONTENTS["extraction"] | {"output": "As in <image-2>, B.", "choice": None}
    item = item_with(content, "extraction")
    record = vars(verdict(item, "ann", "edit", content | {"choice": "B"}))
    assert check_decision(record, item).edits["choice"] == "B"


def test_texts_come_in_reading_order_and_empty_ones_are_left_out():
    labels = {name: [label for label, _ in KINDS[name].texts(CONTENTS[name])] for name in KINDS}

    assert labels["dialogue"] == ["Question 1", "Answer 1", "Question 2", "Answer 2"]
    choices = [f"Choice {letter}" for letter in "ABC"]
    assert labels["multiple_choice"] == ["Question", *choices, "Answer", "Category"]
    assert labels["rewrite"] == ["Original", "Rewrite"]
    assert labels["translation"] == ["question (en)", "question (zh)"]
    assert labels["extraction"] == ["Question", "Choice A", "Choice B", "Output", "Choice"]
    assert labels["score"] == ["Question", "Reference", "Answer"]
    scored = CONTENTS["score"] | {"scores": {"Creativity": 2, "Richness": 5}}
    assert KINDS["score"].texts(scored)[-2:] == [("Creativity", "2"), ("Richness", "5")]


def test_scores_are_given_and_not_accepted_until_they_are_there():
    content = CONTENTS["score"]
    item = item_with(content, "score")
    said = vars(verdict(item, "ann"))
    with pytest.raises(ValueError, match="of this kind needs people's values"):
        check_decision(said, item)
    scored = content | {"scores": {"Creativity": 2, "Richness": 5}}
    given = check_decision(said | {"verdict": "edit", "edits": scored}, item)
    assert given.edits == scored
    # The expert may find them right as they are.
    stands = item | {"content": scored, "content_hash": content_id(scored)}
    check_decision(said | {"round": 2, "content_hash": content_id(scored)}, stands)


TWO_FAULTS = [TURNS[0] | {"answer": ""}, TURNS[1] | {"question": "<ImageHere>?"}]


@pytest.mark.parametrize(
    ("name", "change", "path"),
    [
        ("dialogue", {"turns": TWO_FAULTS}, ("turns", 0, "answer")),
        ("multiple_choice", {"choices": {"A": "x", "B": "x"}, "category": ""}, ("choices", "B")),
    ],
)
def test_of_several_faults_the_topmost_is_said(name, change, path):
    with pytest.raises(EditFault) as caught:
        KINDS[name].check({**CONTENTS[name], **change}, CONTENTS[name])
    assert caught.value.path == path


MADE = {
    **{"original": "What?", "rewrite": "Which?", "image_ids": ["picture"], "caption": "A mill."},
    **{"question": "What is it?", "hint": None, "choices": ["a mill", "a boat"]},
    **{"answer": "B", "category": "image_topic"},
    **dict.fromkeys(("perception", "reasoning", "creation"), {}),
    "target_language": "zh",
    "target": {"question": "它是什么？", "hint": None, "choices": ["磨坊", "船"]},
}


@pytest.mark.parametrize("kind", ["three_turns", "rewrite", "multiple_choice", "translation"])
def test_a_content_has_the_keys_of_its_kind(kind):
    assert tuple(sorted(content_of({**MADE, "kind": kind}))) == tuple(sorted(KINDS[kind].keys))


def asked(question, answer):
    return {"question": question, "answer": answer}


SYMBOLS = "".join(map(chr, range(0x2200, 0x2264))) * 50
"""Each of a hundred symbols as often as it may occur in a text that difflib compares exactly."""


def test_texts_that_take_too_many_steps_are_not_compared():
    after = "".join(char if place % 2 else "!" for place, char in enumerate(SYMBOLS))
    assert word_differences(SYMBOLS, after) == [("removed", SYMBOLS), ("added", after)]
    assert len(word_differences(SYMBOLS[:500], after[:500])) > 500


def test_words_are_compared_and_spaces_kept():
    assert word_differences("A red tower.", "A blue tower!") == [
        ("same", "A "),
        ("removed", "red"),
        ("added", "blue"),
        ("same", " tower"),
        ("removed", "."),
        ("added", "!"),
    ]


@example("One. " * 400, "a " * 3_000)
@example("a " * 1_900, "a " * 1_900 + "b")
@example(" ".join(map(str, range(1_900))), " ".join(map(str, reversed(range(1_900)))))
@example("", "a " * 1_000_000)
@example(SYMBOLS, "".join(char + "!" for char in SYMBOLS[::2]))
@given(st.text(), st.text())
def test_the_pieces_give_both_texts_back_and_no_edit_takes_long_to_compare(before, after):
    pieces = word_differences(before, after)

    assert "".join(text for op, text in pieces if op != "added") == before
    assert "".join(text for op, text in pieces if op != "removed") == after


def test_texts_stand_opposite_those_of_their_label():
    before = {"question": "Q", "choices": {"A": "mill", "B": "tower"}, "answer": "A"}
    before |= {"hint": None, "category": "c", "image_ids": []}
    after = before | {"choices": {"A": "mill"}, "hint": "Look."}

    assert differences("multiple_choice", before, after) == [
        ("Question", [("same", "Q")]),
        ("Hint", [("added", "Look.")]),
        ("Choice A", [("same", "mill")]),
        ("Answer", [("same", "A")]),
        ("Category", [("same", "c")]),
        ("Choice B", [("removed", "tower")]),
    ]


def test_a_turn_put_in_between_leaves_the_others_as_they_are():
    first, last = asked("Where?", "Here."), asked("When?", "Now.")
    new = asked("Why?", "So.")

    found = differences("dialogue", {"turns": [first, last]}, {"turns": [first, new, last]})

    assert [(label, [op for op, _ in pieces]) for label, pieces in found] == [
        *(("Question 1", ["same"]), ("Answer 1", ["same"])),
        *(("Question 2", ["added"]), ("Answer 2", ["added"])),
        *(("Question 3", ["same"]), ("Answer 3", ["same"])),
    ]


def test_a_dialogue_of_very_many_turns_is_compared_by_their_numbers():
    before = [asked("Where?", "Here.")] * 20_000
    after = [*before[:-1], asked("When?", "Here.")]

    found = differences("dialogue", {"turns": before}, {"turns": after})

    changed = [(label, pieces) for label, pieces in found if pieces[0][0] != "same"]
    assert len(found) == 40_000
    assert changed == [("Question 20000", [("removed", "Where"), ("added", "When"), ("same", "?")])]


def test_the_texts_of_an_item_are_compared_up_to_a_limit_together():
    text = "Where? " * (MOST_COMPARED // 8)
    before, after = [asked(text, "Here.")] * 3, [asked(f"{text}!", "There.")] * 3

    found = differences("dialogue", {"turns": before}, {"turns": after})

    whole = [("removed", text), ("added", f"{text}!")]
    assert found[0] == ("Question 1", [("same", text), ("added", "!")])
    others = [pieces for label, pieces in found if label in ("Question 2", "Question 3")]
    assert others == [whole] * 2
    assert found[-1][1] == [("removed", "Here"), ("added", "There"), ("same", ".")]
