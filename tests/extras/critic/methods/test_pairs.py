"""Training pairs: which score is learned, in what form, and their splits, which share nothing."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.critic.methods import pairs
from extras.critic.methods.contamination import (
    PairQuestion,
    SplitOverlap,
    near_duplicate_questions,
    plain_question,
    shared_content,
)
from extras.critic.methods.export import chat_lines
from extras.critic.methods.split import UnsplitPair, assign_splits
from methods.alignmmbench import Alignmmbench
from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judge_quality import AnswerKey
from methods.evaluation.judging import JudgeRequest
from methods.evaluation.rating import read_rating
from methods.mmdu import Mmdu
from methods.mmdu.judging import DIMENSIONS, OVERALL, read_judgment
from methods.prompts.messages import Message
from resources.settings.prompts import prompt

CONTESTANTS = ("offline-careful", "file:org/Some-VLM-7B", "a")


def rated(score: float, reason: str = "It is right.", rater: str = "ann") -> pairs.HumanRating:
    return pairs.HumanRating(rater, "external", "file", {"Rating": score}, reason)


def scored(
    *people: pairs.HumanRating,
    item_id: str = "i",
    answer: str = "A cat.",
    question: str = "What is it?",
    reference: str | None = "A cat.",
) -> pairs.ScoredAnswer:
    turn = Turn(1, question, references={} if reference is None else {"answer": reference})
    # Nobody scored the second turn.
    second = Turn(2, "And?", references={"answer": "A dog."})
    item = Item(item_id, (turn, second), labels={"task": "Recognition"})
    answers = {("plain", 1): Answer("answered", answer), ("plain", 2): Answer("answered", "Yes.")}
    transcript = Transcript(answers)
    return pairs.ScoredAnswer(AnswerKey("m", item_id, "plain", 1), item, transcript, people)


def render(request: JudgeRequest) -> Sequence[Message]:
    return prompt(request.prompt).render(structured=False, **request.data)


def made(*answers: pairs.ScoredAnswer) -> list[pairs.CriticPair | pairs.SkippedAnswer]:
    return list(pairs.pairs_of(Alignmmbench(), answers, render, CONTESTANTS))


def why(*answers: pairs.ScoredAnswer) -> list[str]:
    return [
        each.why if isinstance(each, pairs.SkippedAnswer) else "pair" for each in made(*answers)
    ]


def test_a_pair_is_what_the_judge_is_sent_and_a_reply_that_it_may_give() -> None:
    (pair,) = made(scored(rated(8, ' "Right", but short. ')))
    assert isinstance(pair, pairs.CriticPair)
    system, user = render(pair.request)
    assert pair.system == system.parts[0].text and pair.prompt == user.parts[0].text  # type: ignore[union-attr]
    assert pair.prompt.endswith("<answer>A cat.</answer>")
    assert json.loads(pair.reply) == {"Reason": '"Right", but short.', "Rating": 8}
    assert list(json.loads(pair.reply)) == ["Reason", "Rating"], "the reason is first"
    read = read_rating(pair.reply)
    assert (read.score, read.explanation) == (8, '"Right", but short.') and pair.score == 8


def test_the_middle_score_counts_with_the_reason_of_who_gave_it() -> None:
    people = [rated(3, "a", "ann"), rated(7, "b", "bob"), rated(8, "c", "cho")]
    assert pairs.median_score(people, "Rating") == people[1]
    assert pairs.median_score(people[1:], "Rating") == people[1], "of two the lower one"
    two = [rated(5, "", "ann"), rated(5, "d", "dan"), rated(5, "b", "bob")]
    assert pairs.median_score(two, "Rating") == two[2], "of those who said why, the first by name"
    inside = replace(two[0], origin="internal", reason="i")
    assert pairs.median_score([inside, *two], "Rating") == two[2], "those of files come first"
    assert pairs.median_score([rated(7, " ", "bob"), rated(8, "c", "cho")], "Rating") is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (scored(rated(8, "")), "no_reason"),
        (scored(rated(7.5)), "not_whole"),
        (scored(rated(11)), "unreadable"),
        (scored(pairs.HumanRating("ann", "external", "file", {}, "why")), "lacks_a_dimension"),
        (scored(rated(8), reference=None), "not_judged"),
        (scored(rated(8), answer="I am Offline Careful."), "names_a_model"),
        (scored(rated(8, "As good as some-vlm-7b.")), "names_a_model"),
        (scored(rated(8, "a cat, as it says")), "pair"),
        (scored(rated(8), question="Is offline-careful a cat?"), "pair"),
    ],
)
def test_what_makes_no_pair_is_left_out_for_one_reason(
    answer: pairs.ScoredAnswer, reason: str
) -> None:
    assert why(answer) == [reason]


def test_the_same_prompt_is_learned_once() -> None:
    assert why(scored(rated(8)), scored(rated(2), item_id="j")) == ["pair", "same_prompt"]


def test_names_are_whole_words_in_any_spelling() -> None:
    pattern = pairs.names_pattern(["no-images:gpt-4o", "file:org/Qwen2-VL", "ab"])
    assert pattern is not None
    for text in ("GPT 4o said", "(gpt4o)", "by gpt_4O.", "Qwen2 VL", "是gpt-4o吗"):
        assert pattern.search(text), text
    for text in ("gpt-4o1", "megagpt-4o", "ab", "org", "Qwen2"):
        assert not pattern.search(text), text
    assert pairs.names_pattern(["a", "ab"]) is None


def test_a_judge_of_many_dimensions_needs_all_of_them() -> None:
    """MMDU's reply: the explanation and seven scores; people's overall score alone makes no pair."""
    answer = scored()
    whole = pairs.HumanRating(
        "ann", "internal", "q", dict.fromkeys(DIMENSIONS, 6.0) | {OVERALL: 7.0}, "Good."
    )
    half = pairs.HumanRating("bob", "internal", "q", {OVERALL: 7.0}, "Good.")

    def of(person: pairs.HumanRating) -> pairs.CriticPair | pairs.SkippedAnswer:
        one = pairs.ScoredAnswer(answer.key, answer.item, answer.transcript, [person])
        (found,) = pairs.pairs_of(Mmdu(), [one], render, CONTESTANTS)
        return found

    assert of(half) == pairs.SkippedAnswer(answer.key, "turn", "lacks_a_dimension")
    pair = of(whole)
    assert isinstance(pair, pairs.CriticPair) and pair.score == 7
    read = read_judgment(pair.reply)
    assert (
        read.scores == dict.fromkeys(DIMENSIONS, 6) | {OVERALL: 7} and read.explanation == "Good."
    )


def test_an_exported_pair_is_one_line_for_every_reader() -> None:
    pair = {"pair_id": "p", "system": None, "prompt": "Which\u2028one?", "reply": "This\x85one."}
    (line,) = chat_lines([pair]).splitlines()
    texts = [message["content"] for message in json.loads(line)["messages"]]
    assert texts == [pair["prompt"], pair["reply"]]


def unit(
    group: str, stratum: str = "s", *, question: str, images: Sequence[str] = ()
) -> UnsplitPair:
    return UnsplitPair(PairQuestion(group, tuple(images), question), stratum, None)


def splits(units: list[UnsplitPair], share: float = 0.1, seed: int = 0) -> list[str]:
    return [each.split for each in assign_splits(units, share, seed)]


def apart(units: list[UnsplitPair], found: list[str]) -> list[SplitOverlap]:
    train = [
        each.pair_question for each, split in zip(units, found, strict=True) if split == "train"
    ]
    test = [each.pair_question for each, split in zip(units, found, strict=True) if split == "test"]
    return shared_content(train, test)


def far(n: int) -> str:
    """A question that is near to no other: n in words of its own letters."""
    return " ".join(chr(0x4E00 + 40 * n + place) * 2 for place in range(8))


def test_a_tenth_of_each_category_is_for_testing() -> None:
    units = [
        unit(f"g{n}", "first" if n < 100 else "second", question=far(n))
        for n in range(140)
        for _ in range(2)
    ]
    found = splits(units)
    counts = Counter(zip((each.stratum for each in units), found, strict=True))
    assert counts == {
        ("first", "train"): 180,
        ("first", "test"): 20,
        ("second", "train"): 72,
        ("second", "test"): 8,
    }
    assert apart(units, found) == []
    assert splits(units) == found and splits(units, seed=1) != found
    assert assign_splits([], 0.1, 0) == []


def test_what_hangs_together_is_one_block() -> None:
    units = [
        unit("b", question=far(1), images=("x",)),
        unit("b", question=far(2), images=("y",)),
        unit("a", question=far(3), images=("y",)),
        unit("c", question=far(3)),
        unit("d", question="Which animal sits on the wall behind the house?"),
        unit("e", question="Which animal sits on the wall behind this house"),
        unit("f", question=far(4)),
    ]
    blocks = [each.block for each in assign_splits(units, 0.1, 0)]
    assert blocks == ["a", "a", "a", "a", "d", "d", "f"]


def test_a_category_of_one_block_is_for_training_and_of_two_large_ones_one_is_for_testing() -> None:
    one = [unit("a", question=far(1))] * 5
    assert splits(one) == ["train"] * 5
    for a, b in ((5, 3), (3, 5)):
        two = [*[unit("a", question=far(1))] * a, *[unit("b", question=far(2))] * b]
        assert sorted(splits(two)) == ["test"] * 3 + ["train"] * 5
    # The category of most pairs of a block is its own; of several, the first by name.
    for of_a, of_b in (("xyy", "x"), ("yx", "y")):
        alone = [unit("a", stratum, question=far(1)) for stratum in of_a]
        assert set(splits([*alone, *[unit("b", of_b, question=far(2))] * 2])) == {"train"}


def test_what_was_in_a_split_stays_and_what_was_learned_is_never_tested() -> None:
    units = [unit(f"g{n}", question=far(n)) for n in range(30)]
    first = splits(units)
    more = [each._replace(before=split) for each, split in zip(units, first, strict=True)]
    more += [unit(f"h{n}", question=far(40 + n)) for n in range(30)]
    second = splits(more)
    assert second[:30] == first and Counter(second)["test"] == 6
    # A new item joins a block of each split: it is for training now.
    tested, learned = first.index("test"), first.index("train")
    images = ("x", "y")
    joined = [
        each._replace(pair_question=each.pair_question._replace(images=images[n : n + 1]))
        if place in (tested, learned)
        else each
        for n, (place, each) in enumerate(
            sorted(enumerate(more), key=lambda one: one[0] not in (tested, learned))
        )
    ]
    joined.append(unit("new", question=far(99), images=images))
    found = splits(joined)
    assert found[0] == found[1] == found[-1] == "train"


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcdefgh"), st.sampled_from("wxyz"), st.integers(0, 9), st.booleans()
        ),
        max_size=25,
    ),
    st.integers(0, 3),
)
def test_no_split_ever_has_what_the_other_has(drawn, seed) -> None:
    units = [
        unit(group, stratum, question=far(n), images=(group.upper(),) if pictured else ())
        for group, stratum, n, pictured in drawn
    ]
    assert apart(units, splits(units, 0.3, seed)) == []


@pytest.mark.parametrize(
    ("train", "test", "kinds"),
    [
        (PairQuestion("g", (), far(1)), PairQuestion("g", (), far(2)), ["group"]),
        (PairQuestion("g", ("i", "j"), far(1)), PairQuestion("h", ("j",), far(2)), ["image"]),
        (
            PairQuestion("g", (), "What is it?"),
            PairQuestion("h", (), "<ImageHere>\nwhat is IT"),
            ["question"],
        ),
        (
            PairQuestion("g", (), "What is the dog in the picture doing?"),
            PairQuestion("h", (), "What is the dog in this picture doing?"),
            ["near_question"],
        ),
        (PairQuestion("g", ("i",), far(1)), PairQuestion("h", ("j",), far(2)), []),
    ],
)
def test_what_was_planted_in_both_splits_is_found(train, test, kinds) -> None:
    others = [PairQuestion(f"o{n}", (), far(n)) for n in (10, 11)]
    assert [each.kind for each in shared_content([train, others[0]], [others[1], test])] == kinds


def test_nearness_is_jaccards_index_over_trigrams() -> None:
    # " abcdefgh " has 8 trigrams, " abcdefgx " shares 6 of them: 6 / 10. " abcdefgh" + "i " 7 of 10.
    assert list(near_duplicate_questions(["abcdefgh"], ["abcdefgx", "abcdefghi", "abcdefgh"])) == [
        (0, 2)
    ]
    long = "one two three four five six seven"
    assert list(near_duplicate_questions([long], [f"{long}s"])) == [(0, 0)]
    assert (
        list(near_duplicate_questions(["", "a"], ["", "a"])) == [(1, 1)]
        and list(near_duplicate_questions([""], [""])) == []
    )
    assert plain_question(" <ImageHere>\nWhat's it?! ") == "what s it"
