"""Releases whose tasks are run by real tools: hostile dialogues, passes, given turns."""

from collections.abc import Sequence
from pathlib import Path

from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import AskingLimits
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import place_of, predictions_of
from methods.exports.conversations import Conversation, NamedPositions, conversations
from methods.release import Edition
from resources.images.store import ImageStore
from resources.importing.answer_files import read_rows
from resources.settings.prompts import prompt
from tests.resources.exports.recorder import Said, answer, expected

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
    """All that is asked."""
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
