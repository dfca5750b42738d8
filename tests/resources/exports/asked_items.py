"""Releases whose tasks are run by real tools: hostile dialogues, passes, given turns."""

from collections.abc import Sequence

from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import AskingLimits
from methods.evaluation.items import Item, Turn
from methods.evaluation.predictions import PredictionKey, predictions_of
from methods.exports.conversations import Conversation, NamedPositions, conversations
from methods.release import Edition
from resources.settings.prompts import prompt

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
    "mmdu": Edition("mmdu", "dev", "en"),
    "mmbench": Edition("mmbench", "dev", "en"),
    "convbench": Edition("convbench", "dev", "en"),
    "alignmmbench": Edition("alignmmbench", "dev", "en"),
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


def placed(benchmark: str, items: Sequence[Item], rows) -> dict[PredictionKey, str]:
    """What rows of a log are predictions of."""
    return dict(
        predictions_of(
            NamedPositions(BENCHMARKS[benchmark], None, AskingLimits(prompt=prompt)), items, rows
        ).texts
    )
