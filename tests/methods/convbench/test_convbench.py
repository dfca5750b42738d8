"""ConvBench as it asks and judges: three settings, both orders, ablations; plain values alone."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from methods.convbench import Convbench, scores
from methods.evaluation.asking import (
    PLAIN,
    Answer,
    AnswerRequest,
    AskingLimits,
    ReferenceTurn,
    SkippedTurn,
    Transcript,
)
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import JudgeRequest
from methods.evaluation.scoring import score_rows
from methods.evaluation.verdicts import ORDERS
from methods.prompts.messages import Image
from resources.settings.prompts import prompt
from tests.methods.evaluation.driving import drive
from tests.methods.evaluation.observed import ScoredObservation, frame

ITEM = Item(
    "1",
    (
        Turn(1, "<ImageHere>\nWhat is it?", (1,), {"answer": "R1", "caption": "A cat."}),
        Turn(2, "Why is it there?", (), {"answer": "R2"}),
        Turn(3, "Write a line.", (), {"answer": "R3", "focus": "It rhymes."}),
    ),
    ("a" * 64,),
)
BENCHMARK = Convbench()


def own(ask: AnswerRequest) -> Answer:
    return Answer("answered", f"M{ask.turn}", f"{ask.trial}-{ask.turn}")


def asked_of(benchmark: Convbench = BENCHMARK, item: Item = ITEM, answer=own) -> list:
    return drive(benchmark.ask(item, AskingLimits()), answer)


def transcript(benchmark: Convbench = BENCHMARK, item: Item = ITEM, answer=own) -> Transcript:
    steps = asked_of(benchmark, item, answer)
    answers = {(s.trial, s.turn): answer(s) for s in steps if isinstance(s, AnswerRequest)}
    answers |= {
        (s.trial, s.turn): Answer("given", s.text) for s in steps if isinstance(s, ReferenceTurn)
    }
    answers |= {(s.trial, s.turn): Answer("not_asked") for s in steps if isinstance(s, SkippedTurn)}
    return Transcript(answers)


def judged(judging, reply=lambda ask: '{"reason": "So.", "winner": "A"}'):
    """What is asked of the judge, step by step, and what is observed; a reply of None is lost."""
    steps, asked = [], next(judging)
    while True:
        steps.append(asked)
        replies = [None if (text := reply(each)) is None else each.read(text) for each in asked]
        try:
            asked = judging.send(replies)
        except StopIteration as end:
            return steps, end.value


def judged_by(benchmark: Convbench = BENCHMARK, *reply, item: Item = ITEM):
    """By place what is asked of the judge of own answers, and what is observed."""
    steps, observed = judged(benchmark.judge(item, transcript(benchmark, item)), *reply)
    return {each.place: each for step in steps for each in step}, observed


def graded(request: JudgeRequest) -> str:
    """A reply that is a verdict and a grade."""
    return '{"Reason": "So.", "Rating": 7, "winner": "B"}'


def shown(request: JudgeRequest) -> str:
    *_, user = prompt(request.prompt).render(images=request.images, **request.data)
    return "".join(f"[{p.image_id[0]}]" if isinstance(p, Image) else p.text for p in user.parts)


def test_three_settings_put_references_in_the_place_of_the_first_turns() -> None:
    steps = asked_of()
    assert [(type(s).__name__, s.trial, s.turn) for s in steps] == [
        *(("AnswerRequest", PLAIN, turn) for turn in (1, 2, 3)),
        ("ReferenceTurn", scores.PERFECT_PERCEPTION, 1),
        *(("AnswerRequest", scores.PERFECT_PERCEPTION, turn) for turn in (2, 3)),
        *(("ReferenceTurn", scores.PERFECT_REASONING, turn) for turn in (1, 2)),
        ("AnswerRequest", scores.PERFECT_REASONING, 3),
    ]
    asks = [s for s in steps if isinstance(s, AnswerRequest)]
    said = {
        (s.trial, s.turn): [m.parts[-1].text for m in s.messages if m.role == "assistant"]
        for s in asks
    }
    assert said[PLAIN, 3] == ["M1", "M2"]
    assert said[scores.PERFECT_PERCEPTION, 3] == ["R1", "M2"]
    assert said[scores.PERFECT_REASONING, 3] == ["R1", "R2"]
    assert all(Image("a" * 64) in s.messages[0].parts for s in asks)


def test_a_setting_is_not_asked_where_a_turn_that_it_gives_has_no_reference() -> None:
    turns = [replace(turn, references={}) if turn.turn == 2 else turn for turn in ITEM.turns]
    steps = asked_of(item=replace(ITEM, turns=tuple(turns)))
    unasked = [step for step in steps if isinstance(step, SkippedTurn)]
    assert {step.trial for step in unasked} == {scores.PERFECT_REASONING}
    assert len(unasked) == 3 and all(step.no_reference for step in unasked)
    assert unasked[0].why == "Turn 2 has no reference to give in the trial perfect-reasoning."


def test_a_single_turn_is_asked_alone_with_its_picture() -> None:
    asks = asked_of(Convbench(single_turn=True))
    assert [(s.trial, s.turn, len(s.messages)) for s in asks] == [(PLAIN, n, 1) for n in (1, 2, 3)]
    assert [s.messages[0].parts[0] for s in asks] == [Image("a" * 64)] * 3
    texts = [s.messages[0].parts[-1].text.strip() for s in asks]
    assert texts[1:] == ["Why is it there?", "Write a line."]


def test_the_second_order_is_the_first_with_the_letters_turned_round() -> None:
    requests, _ = judged_by()
    first, second = (requests[PLAIN, 2, order] for order in ORDERS)
    assert shown(first) == (
        "<caption>A cat.</caption>\n<asked><image-1>\nWhat is it?</asked>\n"
        "<saida>M1</saida>\n<saidb>R1</saidb>\n<instruction>Why is it there?</instruction>\n"
        "<answera>M2</answera>\n<answerb>R2</answerb>\n"
        "<asked>Write a line.</asked>\n<saida>M3</saida>\n<saidb>R3</saidb>"
    )
    assert shown(first).translate(str.maketrans("MR", "RM")) == shown(second)


def test_given_turns_are_declared_given_and_are_nobodys_win() -> None:
    requests, observed = judged_by()
    whole = shown(requests[scores.PERFECT_REASONING, 3, "overall-model-first"])
    assert "<given>R1</given>" in whole and "<given>R2</given>" in whole
    assert whole.count("<verdict>") == 1
    assert ("Perception", scores.PERFECT_PERCEPTION) not in {(o.metric, o.trial) for o in observed}


def test_the_conversation_is_told_the_verdicts_of_its_own_order() -> None:
    def reply(ask: JudgeRequest) -> str | None:
        trial, turn, part = ask.place
        reason = f"{trial} {turn} {part}"
        return None if turn == 2 else f'{{"reason": "{reason}", "winner": "A"}}'

    requests, observed = judged_by(Convbench(), reply)
    for order in ORDERS:
        whole = shown(requests[PLAIN, 3, f"overall-{order}"])
        assert f"<verdict>A: plain 1 {order}</verdict>" in whole
        assert f"<verdict>A: plain 3 {order}</verdict>" in whole
        assert whole.count("<verdict>") == 2
    lost = [each for each in observed if each.metric == "Reasoning"]
    assert {each.status for each in lost} == {"not_judged"}


@pytest.mark.parametrize(("benchmark", "n"), [(Convbench(), 1), (Convbench(focus=False), 0)])
def test_focus_points_stand_at_the_creation_and_are_left_out_on_demand(benchmark, n) -> None:
    requests, _ = judged_by(benchmark)
    shown_at = [(3, "model-first"), (2, "model-first"), (3, "overall-model-first")]
    counts = [shown(requests[PLAIN, turn, part]).count("It rhymes.") for turn, part in shown_at]
    assert counts == [n, 0, n]


def test_without_turn_judgments_the_conversation_is_compared_by_its_texts() -> None:
    requests, _ = judged_by(Convbench(turn_judgments=False))
    whole = requests[PLAIN, 3, "overall-model-first"]
    system, _ = prompt(whole.prompt).render(images=(), **whole.data)
    assert "<verdict>" not in shown(whole) + system.parts[0].text


@pytest.mark.parametrize("later", [True, False])
def test_a_turn_is_judged_within_all_three_turns_or_those_up_to_it(later: bool) -> None:
    """Formula (i) of section 4: the judge of turn i gets M1 to M3 and R1 to R3."""
    requests, _ = judged_by(Convbench(later_turns=later, grades=True), graded)
    for turn in (1, 2, 3):
        text, grade = (shown(requests[PLAIN, turn, part]) for part in ("model-first", "grade"))
        for n in (1, 2, 3):
            is_shown = later or n <= turn
            assert all((f">{side}{n}<" in text) == is_shown for side in "MR")
            assert (f">M{n}<" in grade) == is_shown
        assert ("Write a line." in text and "Write a line." in grade) == (later or turn == 3)


def test_a_caption_stands_in_the_place_of_the_picture_and_else_the_picture_is_shown() -> None:
    turns = (replace(ITEM.turns[0], references={"answer": "R1"}), *ITEM.turns[1:])
    for item, images in ((ITEM, ()), (replace(ITEM, turns=turns), ITEM.image_ids)):
        requests, _ = judged_by(item=item)
        for each in requests.values():
            assert each.images == images
            assert ("<caption>" in shown(each)) != bool(images)
            # A judge that is sent the picture reads no caption.
            assert "<caption>" not in shown(replace(each, images=ITEM.image_ids))


def test_no_request_names_the_reference_or_the_model() -> None:
    for request in judged_by()[0].values():
        for message in prompt(request.prompt).render(images=(), **request.data):
            text = message.parts[0].text.lower()
            assert "reference" not in text and "model" not in text


def test_what_the_model_failed_fails_the_conversation_too() -> None:
    def failing(ask: AnswerRequest) -> Answer:
        return Answer("empty") if (ask.trial, ask.turn) == (PLAIN, 2) else own(ask)

    _, observed = judged(Convbench().judge(ITEM, transcript(answer=failing)))
    of = {(o.metric, o.trial): o.status for o in observed}
    assert of["Perception", PLAIN] == "judged"
    assert (of["Reasoning", PLAIN], of["Overall", PLAIN]) == ("empty", "empty")
    assert of["Creation", PLAIN] == "not_asked"
    assert of["Overall", scores.PERFECT_PERCEPTION] == "judged"


def test_grades_stand_beside_the_comparisons() -> None:
    benchmark = Convbench(grades=True)
    requests, observed = judged_by(benchmark, graded)
    grades = {(o.metric, o.trial): o.value for o in observed if o.part.endswith("grade")}
    assert len(grades) == 9 and set(grades.values()) == {7}
    pair = "<reference>R2</reference>\n<answer>M2</answer>"
    assert pair in shown(requests[PLAIN, 2, "grade"])
    names = [metric.name for metric in benchmark.metrics]
    assert len(set(names)) == len(names) and {"S1 grade", "SO~ grade"} < set(names)


def test_every_variant_has_versions_of_its_own() -> None:
    variants = [
        Convbench(),
        *(Convbench(focus=False), Convbench(turn_judgments=False), Convbench(later_turns=False)),
        *(Convbench(single_turn=True), Convbench(grades=True)),
    ]
    assert len({each.judge_version for each in variants}) == len(variants)
    assert Convbench(single_turn=True).answer_version != Convbench().answer_version
    assert Convbench().metrics == scores.METRICS


ALWAYS_FIRST = (1.0, 0.0)
N = 40


def comparisons(name: str, values: Iterable[tuple[float, float]]) -> list[ScoredObservation]:
    """Both orders of every item, in the setting of a win rate."""
    of = scores.WIN_RATES[name]
    return [
        ScoredObservation(f"i{n}", f"i{n}", of.trial, 3, str(of.observation), value, part=part)
        for n, both in enumerate(values)
        for part, value in zip(ORDERS, both, strict=True)
    ]


@pytest.mark.parametrize(("more", "less"), scores.GAINS)
@pytest.mark.parametrize(("every", "gain"), [(1, 0), (4, 37.5), (N + 1, 50)])
def test_contradictions_shrink_a_difference_by_their_share_and_turn_none_round(
    more, less, every, gain
):
    # The model wins 10 of 40 items, with a turn given 30: a gain of 50. Every second, fourth or other
    # item is judged by its place alone, which is worth half a win in both settings.
    def judged(won: int) -> list[tuple[float, float]]:
        return [
            ALWAYS_FIRST if n % every == every - 1 else (float(n < won), float(n < won))
            for n in range(N)
        ]

    observed = [*comparisons(less, judged(10)), *comparisons(more, judged(30))]
    rows = score_rows((*scores.WIN_RATES.values(), *scores.DIFFERENCES), frame({"model": observed}))
    (row,) = (r for r in rows if (r["metric"], r["form"]) == (f"{more} - {less}", "floor"))
    assert row["value"] == pytest.approx(gain)
