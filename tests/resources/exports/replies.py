"""200 replies as models write them: one to each of four passes of 50 questions.

Prose, boxes, reasoning first, Chinese, refusals, texts of choices, wrong letters, what no rule reads.
"""

from collections.abc import Iterator, Mapping, Sequence

from methods.benchmarks import BENCHMARKS
from methods.choice.lettered import LETTERS
from methods.choice.strict import read_letter
from methods.evaluation.asking import Answer, AskingLimits, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import replay
from methods.evaluation.scoring import score_rows
from methods.evaluation.slices import labels_by_turn
from methods.exports.conversations import Conversation, conversations
from resources.images.store import ImageStore
from resources.settings.prompts import prompt
from tests.methods.evaluation.observed import ScoredObservation, frame
from tests.resources.exports.recorder import Said, expected

N_QUESTIONS = 50
ANIMALS = ("cat", "horse", "bird", "dog", "owl", "hare", "fox", "toad")
FORMS = (
    "{letter}",
    "**{letter}**",
    "({letter}) {text}",
    "A {text}.",
    "The correct answer is {text}.",
    "So the result is $\\boxed{{\\text{{{letter}}}}}$.",
    "<answer>{letter}</answer>",
    "<think>It could be {wrong}. No: the tail is long.</think>\n\n{letter}",
    "It has ears and a tail, which rules out {wrong}.\n\nAnswer: {letter}",
    "Option {letter} is correct because of the shape of the ears and the tail.",
    "It is not {wrong}, it is {letter}.",
    "图中的动物耳朵很长，因此选{letter}。",
    "最终答案：{letter}",
)
"""Replies that name one choice; `wrong` is the letter of another one."""
ODD = (
    "",
    "I'm sorry, but I can't help with identifying what is in this picture.",
    "There is an animal in a meadow, and the light is soft.",
    "It could be {letter} or {wrong}.",
    "The answer is {wrong}.",
    "The answer is {letter}. No, wait, it is {wrong}.",
    "抱歉，图片不够清楚。",
    "Z",
)
"""Replies that decline, name another choice or several, or say something else."""


def choices_of(number: int) -> tuple[str, ...]:
    """Four different animals for a question."""
    return tuple(ANIMALS[(number + place * (1 + number % 2)) % len(ANIMALS)] for place in range(4))


def questions(image_ids: Sequence[str], n: int = N_QUESTIONS) -> list[Item]:
    """Questions whose keys are all letters, of three tasks of unequal size, some in groups."""
    return [
        Item(
            f"q{number}",
            (Turn(1, f"Which animal is it, {number}?", (1,), {"key": LETTERS[number % 4]}),),
            tuple(image_ids[:1]),
            choices_of(number),
            f"group {number // 3}" if number < n // 2 else "",
            {"task": "abbb"[number % 4] if number % 5 else "c", "category": "x"},
        )
        for number in range(n)
    ]


def reply(conversation: Conversation, number: int) -> str:
    """The reply with this number: nine of ten name one choice, and 19 of 20 of these the right one."""
    right = LETTERS.index(conversation.target)
    wrong = (right + 1) % len(conversation.choices)
    if number % 20 == 7:
        right, wrong = wrong, right
    form = ODD[number // 10 % len(ODD)] if number % 10 == 3 else FORMS[number * 7 % len(FORMS)]
    return form.format(
        letter=LETTERS[right], wrong=LETTERS[wrong], text=conversation.choices[right]
    )


def asked(benchmark: str, items: Sequence[Item]) -> Iterator[tuple[Conversation, str]]:
    """Every pass with the reply to it."""
    passes = [
        each
        for item in items
        for each in conversations(item, BENCHMARKS[benchmark], AskingLimits(prompt=prompt))
    ]
    return ((each, reply(each, number)) for number, each in enumerate(passes))


def request_of(conversation: Conversation, store: ImageStore) -> tuple[Said, ...]:
    """The messages of a conversation of one turn."""
    (request,) = expected(conversation, store)
    return tuple(request)


def on_the_leaderboard(benchmark: str, items: Sequence[Item]) -> float:
    """The score that the project gives for these replies, where no extractor is asked."""
    texts: Mapping[tuple[str, str], tuple[str, str | None]] = {
        (each.item_id, each.trial): (text, read_letter(text, each.choices).letter)
        for each, text in asked(benchmark, items)
    }
    scored = []
    for item in items:
        of_item = {
            trial: said for (item_id, trial), said in texts.items() if item_id == item.item_id
        }
        transcript = Transcript(
            {
                (trial, 1): Answer("answered", text) if text else Answer("empty")
                for trial, (text, _) in of_item.items()
            },
            {(trial, 1): letter for trial, (_, letter) in of_item.items()},
        )
        scored += [
            ScoredObservation(
                item.item_id,
                item.cluster,
                each.trial,
                each.turn,
                each.metric,
                each.value,
                each.status,
                labels=labels_by_turn(item)[each.turn],
            )
            for each in replay(BENCHMARKS[benchmark].judge(item, transcript), {})
        ]
    rows = score_rows(BENCHMARKS[benchmark].metrics, frame({"m": scored}))
    (value,) = (
        row["value"]
        for row in rows
        if (row["place"], row["form"], row["subset_label"]) == (0, "floor", "")
    )
    assert isinstance(value, float)
    return value
