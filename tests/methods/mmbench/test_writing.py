"""Written items and their translations: what is asked, which replies are items; their splits."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.contents import choices_of, texts_of
from methods.choice.languages import LANGUAGES
from methods.mmbench.building import DEV, TEST, split_items
from methods.mmbench.taxonomy import DESCRIPTIONS, ENCYCLOPEDIC, LEVEL_3
from methods.mmbench.translating import as_json, read_translation, translation_id
from methods.mmbench.writing import ItemDraft, assign_abilities, item_id, read_item
from methods.prompts.prompt_template import as_data
from tests.methods.refusals import reason_of

GOOD = {
    "question": "What stands on the hill?",
    "hint": "",
    "answer": "A windmill",
    "distractors": ["A castle", "A church", "A barn"],
}
MILL = ItemDraft("What stands on the hill?", None, "A windmill", ("A castle", "A church", "A barn"))


def read(**changes: object) -> ItemDraft:
    return read_item(json.dumps({**GOOD, **changes}))


def test_every_leaf_of_the_taxonomy_is_described_and_the_default_is_some_of_them() -> None:
    leaves = {leaf for leaves in LEVEL_3.values() for leaf in leaves}
    assert set(DESCRIPTIONS) == leaves
    assert set(ENCYCLOPEDIC) < leaves and len(set(ENCYCLOPEDIC)) == len(ENCYCLOPEDIC) == 12


NAMES = st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=9)


@given(NAMES, NAMES, st.integers(1, 90), st.integers(0, 5))
def test_pairs_are_balanced_never_repeated_and_more_of_them_keep_the_first(
    images, abilities, n_items, seed
):
    pairs = assign_abilities(images, abilities, n_items, seed)
    assert len(pairs) == len(set(pairs)) == min(n_items, len(images) * len(abilities))
    uses = Counter(dict.fromkeys(abilities, 0))
    uses.update(ability for _, ability in pairs)
    assert not pairs or max(uses.values()) - min(uses.values()) <= 1
    # No image is asked about again before each was asked about.
    first = [image for image, _ in pairs[: len(images)]]
    assert len(set(first)) == len(first)
    assert assign_abilities(images[::-1], abilities[::-1], n_items, seed) == pairs
    assert assign_abilities(images, abilities, n_items + 5, seed)[: len(pairs)] == pairs


def test_an_item_is_read_with_its_right_choice_apart() -> None:
    assert read() == MILL
    assert read(hint=" Mills grind\n corn. ").hint == "Mills grind corn."
    assert read_item(f"```json\n{json.dumps(GOOD)}\n```") == MILL
    without_hint = {name: value for name, value in GOOD.items() if name != "hint"}
    assert read_item(json.dumps(without_hint)) == MILL


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": " "}, "empty_question"),
        ({"question": None}, "wrong_fields"),
        ({"distractors": "a castle"}, "wrong_fields"),
        ({"answer": ""}, "empty_choice"),
        ({"distractors": []}, "too_few_choices"),
        ({"distractors": ["A castle", "A church", "A barn", "A tower"]}, "too_many_choices"),
        ({"distractors": ["A castle", "the windmill."]}, "answer_among_distractors"),
        ({"distractors": ["B. A castle", "A church"]}, "lettered_choice"),
        ({"distractors": ["A castle", "None of the above"]}, "refers_to_choices"),
        ({"question": "What does <image-1> show?"}, "image_token"),
        ({"question": "What does the caption name?"}, "mentions_material"),
        ({"question": "Where does the windmill stand?"}, "gives_answer_away"),
        ({"hint": "Look for a WINDMILL."}, "gives_answer_away"),
        ({"question": "What is \ud800 this?"}, "not_unicode"),
    ],
)
def test_what_is_no_sound_item_is_refused_by_name(changes: dict[str, object], reason: str) -> None:
    assert reason_of(read_item, json.dumps({**GOOD, **changes})) == reason


@pytest.mark.parametrize(
    "changes",
    [
        # All choices stand in the question, so it names none of them as the right one.
        {"question": "Which is taller, the windmill or the castle?", "distractors": ["The castle"]},
        {"question": "What does the text on the sign say?"},
        {"answer": "1. FC Example", "distractors": ["2nd place", "A draw"]},
    ],
)
def test_words_that_only_look_alike_are_no_reason(changes) -> None:
    made = read(**changes)
    assert [getattr(made, name) for name in changes] == [
        tuple(each) if isinstance(each, list) else each for each in changes.values()
    ]


def test_an_id_is_of_the_content_and_tells_no_key() -> None:
    of = ("e", "ocr", "What?", None, ["a", "b", "c"])
    first = item_id(*of)
    assert first == item_id(*of[:4], ["c", "a", "b"])
    others = {0: "f", 1: "image_topic", 2: "Which?", 3: "Look.", 4: ["a", "b"]}
    changed = {item_id(*of[:n], other, *of[n + 1 :]) for n, other in others.items()}
    assert len(changed | {first}) == 6


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
        ({**REPLY, "names": [{"name": "Paris"}]}, "wrong_fields"),
        ({**REPLY, "names": []}, "name_lost"),
        ({**REPLY, "hint": ""}, "empty_text"),
        ({**REPLY, "A": "两座都是"}, "repeated_choice"),
        # A choice is missing, or in another place.
        ({name: REPLY[name] for name in ("question", "hint", "A", "names")}, "wrong_fields"),
        ({name: REPLY[name] for name in ("question", "hint", "B", "A", "names")}, "wrong_fields"),
        ("哪座塔在巴黎？", "not_json"),
    ],
)
def test_another_reply_is_refused_by_name(reply: object, reason: str) -> None:
    assert reason_of(read_translation, json.dumps(reply), SOURCE, ZH) == reason


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


LEAVES = st.dictionaries(
    st.text("abcdef0123456789", min_size=1, max_size=4), st.sampled_from("uvwxyz"), max_size=60
)


@given(LEAVES, st.integers(0, 3))
def test_the_ratio_is_kept_over_all_and_in_each_ability(leaves: dict[str, str], seed: int) -> None:
    found = split_items(leaves, {}, seed)
    assert found.keys() == leaves.keys() and set(found.values()) <= {DEV, TEST}
    n_dev = Counter(found.values())[DEV]
    assert abs(n_dev - 0.4 * len(leaves)) <= 0.5
    for leaf in set(leaves.values()):
        of_leaf = [item_id for item_id in leaves if leaves[item_id] == leaf]
        in_dev = sum(found[item_id] == DEV for item_id in of_leaf)
        assert abs(in_dev - 0.4 * len(of_leaf)) < 1
    # The order of the items says nothing.
    assert split_items(dict(reversed(leaves.items())), {}, seed) == found


@given(LEAVES, LEAVES, st.integers(0, 3))
def test_an_item_stays_in_its_split_whatever_comes_or_goes(first, second, seed) -> None:
    before = split_items(first, {}, seed)
    after = split_items(second, before, seed)
    assert after.keys() == second.keys()
    assert all(after[item_id] == before[item_id] for item_id in first.keys() & second.keys())
