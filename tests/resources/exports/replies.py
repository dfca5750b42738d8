"""What exported tasks ask of a model server, which keeps it, and what is replied.

`asked_items` are hostile dialogues, passes and given turns. `asked` has 200 replies as models write,
one to each of four passes of 50 questions: prose, boxes, reasoning first, Chinese, refusals, texts of
choices, wrong letters, what no rule reads.
"""

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from methods.benchmarks import BENCHMARKS
from methods.choice.lettered import LETTERS
from methods.choice.strict import read_letter
from methods.evaluation.asking import Answer, AskingLimits, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import replay
from methods.evaluation.predictions import place_of, predictions_of
from methods.evaluation.scoring import score_rows
from methods.evaluation.slices import labels_by_turn
from methods.exports.conversations import (
    Conversation,
    ModelAnswerSlot,
    NamedPositions,
    conversations,
)
from methods.prompts.messages import Text
from methods.release import Edition
from resources.images.store import ImageStore
from resources.importing.answer_files import read_rows
from resources.settings.prompts import prompt
from tests.doubles.serving import QuietHandler, serving
from tests.methods.evaluation.observed import ScoredObservation, frame

# --- The server --------------------------------------------------------------------------------------

Said = tuple[str, tuple[str, ...]]
"""A role, and texts and pictures by a hash of their pixels."""


@contextmanager
def recorder(
    reply: Callable[[Sequence[Said]], str] = lambda messages: answer(len(messages)),
) -> Iterator[tuple[str, list[list[Said]]]]:
    """The base URL of the server, and the messages of each request that it got.

    `reply` makes the answer to messages; by default it is `said N` to N of them.
    """
    requests: list[list[Said]] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            messages = [_said(message) for message in body["messages"]]
            requests.append(messages)
            message = {"role": "assistant", "content": reply(messages)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            made = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
            data = json.dumps({**made, "choices": [choice], "usage": usage}).encode()
            self.send(data, Content_Type="application/json")

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests


def answer(n_messages: int) -> str:
    return f"said {n_messages}"


def expected(asked: Conversation, store: ImageStore) -> list[list[Said]]:
    """The requests of a conversation whose answers are those of the server."""
    requests: list[list[Said]] = []
    messages: list[Said] = []
    for each in asked.messages:
        if isinstance(each, ModelAnswerSlot):
            requests.append(list(messages))
            messages.append(("assistant", (answer(len(messages)),)))
        else:
            parts = [
                part.text if isinstance(part, Text) else pixels(store.read(part.image_id))
                for part in each.parts
            ]
            messages.append((each.role, tuple(parts)))
    return requests


def pixels(data: bytes) -> str:
    with Image.open(BytesIO(data)) as image:
        shown = image.convert("RGB")
        return hashlib.sha256(repr(shown.size).encode() + shown.tobytes()).hexdigest()


def _said(message: dict[str, Any]) -> Said:
    content = message["content"]
    if isinstance(content, str):
        return message["role"], (content,)
    parts = []
    for part in content:
        if part["type"] == "text":
            parts.append(part["text"])
        else:
            parts.append(pixels(base64.b64decode(part["image_url"]["url"].partition(",")[2])))
    return message["role"], tuple(parts)


# --- Hostile dialogues, passes, given turns ----------------------------------------------------------

HERE = "<ImageHere>"
MORE = (
    "{{ name }} {0} {x!r} {% if a %} ${b} #{c}",
    "NUL \x00 and \x1b[31m bell \x07",
    "2020-01-01 00:00:00",
    "NaN",
    "  blanks before and after  ",
)
"""Further texts that templates, tables and logs could take for something else."""
EDITIONS = {
    name: Edition(name, "dev", "en") for name in ("mmdu", "mmbench", "convbench", "alignmmbench")
}


def asked_items(texts: Sequence[str], image_ids: Sequence[str]) -> dict[str, list[Item]]:
    """Items of each benchmark with these texts in questions, choices and what is given."""
    red, green = image_ids[:2]
    made: dict[str, list[Item]] = {name: [] for name in EDITIONS}
    for place, text in enumerate(texts):
        name = f"{place} {text[:30]!r}"
        again = Turn(2, f"{text}{HERE}", (2,), {"answer": text})
        made["mmdu"].append(
            Item(name, (Turn(1, f"{HERE}{text}", (1,), {"answer": "x"}), again), (red, green))
        )
        # Of a text of 5 MB four passes would say nothing more.
        choice = Turn(1, f"{HERE}\n{text[:9_000]}", (1,), {"key": "B"})
        made["mmbench"].append(Item(name, (choice,), (red,), ("yes", text[:9_000], "=no")))
        turns = (
            Turn(1, f"{HERE}{text[:9_000]}", (1,), {"answer": text[:9_000]}),
            *(Turn(turn, f"{turn}: {text[:9_000]}", (), {"answer": "x"}) for turn in (2, 3)),
        )
        made["convbench"].append(Item(name, turns, (green,)))
        history = Turn(1, f"{HERE}{text}", (1,), given=text)
        last = Turn(2, "And now?", (), {"answer": "x"})
        made["alignmmbench"].append(Item(name, (history, last), (red,)))
    return made


def asked_of(benchmark: str, items: Sequence[Item]) -> list[Conversation]:
    return [
        each
        for item in items
        for each in conversations(item, BENCHMARKS[benchmark], AskingLimits(prompt=prompt))
    ]


def assert_every_turn_and_pass(
    benchmark: str,
    items: Sequence[Item],
    requests: Sequence[list[Said]],
    log: Path,
    store: ImageStore,
) -> None:
    """Every text and every pixel was asked for in its place, and the log is predictions of all."""
    passes = asked_of(benchmark, items)
    due = [request for each in passes for request in expected(each, store)]
    assert sorted(requests) == sorted(due)
    by_id = {item.item_id: item for item in items}
    forms = NamedPositions(BENCHMARKS[benchmark], None, AskingLimits(prompt=prompt))
    assert dict(predictions_of(forms, items, read_rows(log)).texts) == {
        place_of(by_id[each.item_id], each.trial, turn): answer(len(request))
        for each in passes
        for turn, request in zip(each.turns, expected(each, store), strict=True)
    }


# --- Replies to multiple choice ----------------------------------------------------------------------

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
    return ((each, reply(each, number)) for number, each in enumerate(asked_of(benchmark, items)))


def request_of(conversation: Conversation, store: ImageStore) -> tuple[Said, ...]:
    (request,) = expected(conversation, store)
    return tuple(request)


def on_the_leaderboard(benchmark: str, items: Sequence[Item]) -> float:
    """The score that the project gives for these replies, where no extractor is asked."""
    answers: dict[str, dict[tuple[str, int], Answer]] = defaultdict(dict)
    letters: dict[str, dict[tuple[str, int], str | None]] = defaultdict(dict)
    for each, text in asked(benchmark, items):
        place = each.trial, 1
        answers[each.item_id][place] = Answer("answered", text) if text else Answer("empty")
        letters[each.item_id][place] = read_letter(text, each.choices).letter
    observed = []
    for item in items:
        transcript = Transcript(answers[item.item_id], letters[item.item_id])
        observed += [
            ScoredObservation(
                *(item.item_id, item.cluster, judged.trial, judged.turn, judged.metric),
                *(judged.value, judged.status),
                labels=labels_by_turn(item)[judged.turn],
            )
            for judged in replay(BENCHMARKS[benchmark].judge(item, transcript), {})
        ]
    rows = score_rows(BENCHMARKS[benchmark].metrics, frame({"m": observed}))
    whole = (0, "floor", "")
    (value,) = (
        row["value"] for row in rows if (row["place"], row["form"], row["subset_label"]) == whole
    )
    assert isinstance(value, float)
    return value
