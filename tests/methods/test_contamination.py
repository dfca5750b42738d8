"""What a benchmark and an instruction set share: one fault of each kind, and what is no fault."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from methods import same_text
from methods.contamination import (
    BLOCKING,
    MOST_COMPARED_TURNS,
    SHOWN_CHARACTERS,
    Content,
    ContentOverlap,
    ItemQuestion,
    content_of,
    find_overlap,
)
from methods.same_text import Rarity, comparable_text

QUESTION = "Image1: <ImageHere>. Which of the bridges in <image-1> was built with two towers?"
ANSWER = (
    "The suspension bridge on the left has two towers of grey granite, which carry four main cables "
    "over the mouth of the river Tarn. They stand on caissons that were sunk through the mud in 1889. "
    "Its span in <image-1> is longer than that in <image-2>."
)


def release(name: str, question: str, answer: str, page: str = "", *images: str) -> Content:
    """A release of an item of one turn for each image; benchmarks are imported."""
    ids = {f"of-{name}{n or ''}": image for n, image in enumerate(images or [name])}
    turn = 1 if name == "bench" else 2
    of_turn = {"turn": turn, "question": question, "given": None}
    said = {"turn": turn, "kind": "answer", "reference": answer}
    rows = {
        "images": [{"item_id": i, "image_id": image, "page_url": page} for i, image in ids.items()],
        "turns": [{"item_id": each, **of_turn} for each in ids],
        "choices": [],
        "references": [{"item_id": each, **said} for each in ids],
    }
    return content_of(name, rows, imported=name == "bench")


TESTED = release("bench", QUESTION, ANSWER, "https://w/Bridge", "a")
OTHER = release("instruct", "What is it?", "A mill with four sails.", "https://w/Mill", "b")


def found(instruction, benchmark=TESTED, **alike) -> list[ContentOverlap]:
    return list(find_overlap([benchmark], [instruction], alike))


def test_answers_of_our_own_releases_are_phrases_and_one_of_several_answers_is_enough():
    built = replace(TESTED, imported=False)
    same = release("instruct", "What does it stand on?", ANSWER, "https://w/Mill", "b")
    assert [one.kind for one in found(same)] == ["answer"]
    assert [one.kind for one in found(same, built)] == ["phrases_of_answer"]
    assert [one.kind for one in found(replace(same, imported=True), built)] == ["answer"]
    # One of several answers is enough.
    (asked,) = TESTED.questions
    several = asked._replace(answers=(*asked.answers, comparable_text("A dam.")))
    both = found(release("instruct", QUESTION, ANSWER), replace(TESTED, questions=[several]))
    assert [one.kind for one in both] == ["answer", "question"]


@pytest.mark.parametrize(
    ("kind", "what", "planted", "alike"),
    [
        ("page", "https://w/Bridge", {"pages": {"https://w/Bridge": ["of-instruct"]}}, {}),
        ("image", "a", {"images": {"a": ["of-instruct"]}}, {}),
        ("near_duplicate", "a", {}, {"b": ["a"]}),
    ],
)
def test_a_page_or_an_image_is_found_with_the_items(kind, what, planted, alike):
    (one,) = found(replace(OTHER, **planted), **alike)
    assert one == (kind, what, "bench", "of-bench", "instruct", "of-instruct", None)
    assert kind in BLOCKING and found(OTHER) == []


def test_each_image_that_it_looks_like_is_found() -> None:
    tested = replace(TESTED, images={"a": ["of-a", "later"], "b": ["of-b"], "c": ["of-c"]})
    shared_images = [(one.kind, one.item) for one in found(OTHER, tested, b=["b", "a", "c"])]
    alike = [("near_duplicate", "of-a"), ("near_duplicate", "of-c")]
    assert shared_images == [("image", "of-b"), *alike]


ALIKE = {
    "as it is": ANSWER,
    "in a longer one, in capitals": f"Look closely. {ANSWER.upper().replace(',', ' -')} It was opened.",
    "in another order": " ".join(reversed(ANSWER.split(". "))) + " Look.",
    "in other words": ANSWER.replace("carry", "bear").replace("stand on", "rest upon"),
    "numbers in digits": ANSWER.replace("two", "2").replace("four", "4"),
}
"""The answer in other forms, all of them the same."""
PHRASE = " ".join(ANSWER.split()[:14])
OTHER_FACTS = {
    "number": ANSWER.replace("four", "six"),
    "year": ANSWER.replace("1889", "1898"),
    "colour": ANSWER.replace("grey", "red"),
    "name": ANSWER.replace("Tarn", "Forth"),
    "side": ANSWER.replace("left", "right"),
    "image": ANSWER.replace("<image-2>", "<image-3>"),
    "order of images": ANSWER.replace(
        "1> is longer than that in <image-2", "2> is longer than that in <image-1"
    ),
    # The first 14 of its words: 12 of 44 runs of three, 18 would be needed.
    "a phrase": f"{PHRASE} and one is red.",
}
"""The same words about something else."""


@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_an_answer_is_found_in_other_forms(text: str) -> None:
    (one,) = found(release("instruct", "Describe it.", text))
    shared = "the suspension bridge on the left has 2 towers of grey granite which"
    assert (one.kind, one.what, one.turn) == ("answer", shared, 2)


@pytest.mark.parametrize("text", OTHER_FACTS.values(), ids=OTHER_FACTS)
def test_an_answer_that_differs_in_a_detail_is_another_one(text: str) -> None:
    assert text != ANSWER
    assert found(release("instruct", "Describe it.", text)) == []


def test_what_both_have_and_others_have_not_is_five_words_or_more() -> None:
    """A run of three words counts as one: seven words are five runs."""
    seven = "On the old town's market square"
    for text, kinds in ((seven, ["answer"]), (seven.replace(" old", ""), [])):
        of = release("instruct", "Why?", text.lower())
        assert [one.kind for one in found(of, release("bench", "Where?", text))] == kinds


def test_a_run_weighs_less_the_more_other_pictures_have_it() -> None:
    run = ("a", "grey", "mill")
    text = comparable_text("a grey mill")

    def weight(*about: str) -> float:
        return Rarity([(text, "tested")], [(text, each) for each in about]).weight(run)

    assert weight() == weight("one") == weight("one", "one") == 1
    assert weight("one", "two", "three", "four") == 1 / 4
    assert weight(*map(str, range(20))) == 1 / 20
    assert weight(*map(str, range(21))) == 0
    # Two characters are as wide as a word.
    assert (
        Rarity([(comparable_text("一座灰色磨坊"), "tested")], []).weight(tuple("一座灰色磨坊"))
        == 1 / 2
    )


STOCK = ("How does the main subject of <image-1> stand out?", "It stands out by its dark outline.")


@pytest.mark.parametrize(
    ("images", "n_shared"),
    [
        # 7 + 5 runs: alone they weigh 12, among ten other pictures 12 / 11.
        (["b0"], 1),
        ([f"b{n}" for n in range(11)], 0),
        # Copies of one picture say it of one picture.
        (["b0"] * 11, 11),
    ],
)
def test_what_is_said_of_every_picture_is_no_item(images: list[str], n_shared: int) -> None:
    found = find_overlap(
        [release("bench", *STOCK, "", "a")], [release("instruct", *STOCK, "", *images)]
    )
    assert Counter(one.kind for one in found)["question"] == n_shared


def test_stock_phrases_in_a_row_of_their_own_are_a_text() -> None:
    """Each of its runs of three is said of 22 other pictures, none of its eight runs of thirteen is."""
    phrases = [f"w{chr(97 + n)}" for n in range(20)]
    halves = [" ".join(phrases[:12]), " ".join(phrases[8:])]
    others = [
        release(f"half-{n}", "", halves[n], "", *(f"{n}-{i}" for i in range(22))) for n in (0, 1)
    ]
    tested = release("bench", "", " ".join(phrases), "", "a")

    def named(words: list[str]) -> int:
        learned = release("instruct", "", " ".join(words), "", "b")
        return len(
            [one for one in find_overlap([tested], [learned, *others]) if one.kind == "answer"]
        )

    assert named(phrases) == 1
    assert named([*phrases[:10], "other", *phrases[11:]]) == 0


@pytest.mark.parametrize(
    ("question", "answer", "kinds"),
    [
        # The places of pictures are no part of a question, and which of them it means is.
        (QUESTION.replace("Image1", "Image2"), ANSWER, ["answer", "question"]),
        (QUESTION.replace("1", "2"), "The one on the right.", []),
        (QUESTION, "The one on the right.", ["form_of_words"]),
    ],
)
def test_a_question_counts_with_its_answer_and_is_a_form_of_words_with_another(
    question, answer, kinds
):
    ours = release("instruct", question, answer)
    assert [one.kind for one in found(ours)] == kinds
    # Without an answer it is the same question.
    unanswered = replace(ours, questions=[each._replace(answers=()) for each in ours.questions])
    assert ("question" in [one.kind for one in found(unanswered)]) == bool(kinds)


def test_the_right_choice_is_the_answer_of_a_question_with_choices() -> None:
    question = "Which bridge of those near the old harbour is it?"
    choices = [(1, "the Old Bridge"), (2, "Tarn Bridge")]
    rows = {
        "images": [],
        "turns": [
            {"item_id": "m", "turn": 1, "question": question, "given": None},
            {"item_id": "m", "turn": 2, "question": "Why?", "given": "By its towers."},
        ],
        "choices": [{"item_id": "m", "position": n, "choice": choice} for n, choice in choices],
        "references": [{"item_id": "m", "turn": 1, "kind": "key", "reference": "B"}],
    }
    benchmark = content_of("bench", rows)
    assert benchmark.questions == [
        ItemQuestion("m", turn, "m", comparable_text(text), (comparable_text(answer),))
        for turn, text, answer in ((1, question, "Tarn Bridge"), (2, "Why?", "By its towers."))
    ]
    for answer, kind in (
        ("It is Tarn Bridge, seen from the west.", "question"),
        ("It is the Old Bridge.", "form_of_words"),
    ):
        of = release("instruct", question, answer)
        assert [one.kind for one in found(of, benchmark)] == [kind]


def test_chinese_is_compared_by_characters() -> None:
    assert comparable_text("图1: <ImageHere>哪座桥?").words == ("图", "1", "哪", "座", "桥")
    text = "左边的悬索桥有两座灰色花岗岩桥塔承载四根主缆"
    bench = release("bench", "描述", text)
    (one,) = found(release("instruct", "说说", text + "。"), bench)
    assert one.kind == "answer"
    for changed in (text.replace("灰", "红"), text.replace("四", "六"), text.replace("左", "右")):
        assert found(release("instruct", "说说", changed), bench) == []


def test_sentences_of_two_texts_are_compared_up_to_a_limit(monkeypatch):
    compared = []
    compare = same_text._is_subsequence
    monkeypatch.setattr(
        same_text, "_is_subsequence", lambda *texts: compared.append(texts) or compare(*texts)
    )

    def in_common(n_sentences: int, sentence: str, other_sentence: str) -> float | None:
        compared.clear()
        text, other = (
            comparable_text("\n".join(form.format(n, n + 1) for n in range(n_sentences)))
            for form in (sentence, other_sentence)
        )
        return Rarity([(text, "tested")], [(other, "other")]).in_common(text, other)

    few, many = 30, 1000
    same = "Mill {} by the lake of house {}."
    assert in_common(many, same, same) and not compared
    inserted = "Mill {} by the lake of red house {}."
    assert in_common(few, same, inserted) and compared
    assert in_common(many, same, inserted) and not compared
    assert in_common(few, same, "Mill {1} by the lake of house {0}.") is None and compared
    assert in_common(many, same, "Mill 7{} by the lake of house {}.") is None and not compared


def conversation(name: str, asked: Sequence[tuple[str, str]]) -> Content:
    """A release of an item with these questions and answers, on an image of its own."""
    rows = {
        "images": [{"item_id": name, "image_id": name, "page_url": ""}],
        "turns": [
            {"item_id": name, "turn": n, "question": question, "given": None}
            for n, (question, _) in enumerate(asked)
        ],
        "choices": [],
        "references": [
            {"item_id": name, "turn": n, "kind": "answer", "reference": answer}
            for n, (_, answer) in enumerate(asked)
        ],
    }
    return content_of(name, rows)


N_TURNS = 40


@pytest.mark.parametrize(("form", "most"), [("{0}", 1), ("{0} {1}", MOST_COMPARED_TURNS)])
def test_a_turn_is_compared_with_the_nearest_of_many_turns_on_the_same_images(
    form: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal turns of a dialogue count once. A copy is found among turns that differ in a word."""
    marks = [f"{a}{b}" for a in "bcdfg" for b in "aeiouywh"]
    turns = [(QUESTION, form.format(ANSWER, mark)) for mark in marks]
    dialogues = [conversation(name, turns) for name in ("bench", "instruct")]
    pairs = []
    compare = Rarity.in_common
    monkeypatch.setattr(Rarity, "in_common", lambda *texts: pairs.append(texts) or compare(*texts))
    overlaps = found(dialogues[1], dialogues[0])
    assert {one.turn for one in overlaps if one.kind == "question"} == {*range(N_TURNS)}
    # Those nearest by question and by answer; a question and an answer in two directions.
    assert len(pairs) <= 2 * 3 * most * N_TURNS
    planted = replace(dialogues[1], questions=dialogues[1].questions[-1:])
    copied = dialogues[0].questions[-1].answers[0]
    pairs.clear()
    assert found(planted, dialogues[0])
    assert (copied, planted.questions[0].answers[0]) in [texts[1:] for texts in pairs]


def test_a_long_word_is_shown_in_part() -> None:
    long = f"{'x' * 1000} {ANSWER}"
    (one,) = found(release("instruct", "Describe it.", long), release("bench", "Where?", long))
    assert one.what == "x" * SHOWN_CHARACTERS


def test_long_answers_that_are_shared_do_not_hide_a_copied_question():
    def words(name: str, n: int) -> str:
        return " ".join(
            f"{name}{'bcdfghjklmnpqrstvwxz'[k % 20]}{'aeiou'[k // 20]}o" for k in range(n)
        )

    answers = [words(f"{vowel}s", 40) for vowel in "aeioubcdfghj"[: MOST_COMPARED_TURNS + 2]]
    question, answer = words("quarr", 20), words("zum", 12)
    turns = [*((f"Which is {n}?", text) for n, text in enumerate(answers)), (question, answer)]

    copied = conversation("instruct", [(question, " ".join([answer, *answers]))])
    kinds = {one.kind for one in found(copied, conversation("bench", turns))}
    assert kinds == {"question", "phrases_of_answer"}
