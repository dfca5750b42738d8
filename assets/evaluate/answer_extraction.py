"""Answer extraction: reads the extracted letters of answers to a release's multiple-choice questions.

The benchmark's `ask` runs again on the stored answers to reproduce the order of choices. No model is
called.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assets.evaluate.released import EvaluatedRelease, current_of, items_of
from assets.evaluate.transcripts import transcripts_of
from methods.benchmarks import Benchmarks
from methods.choice.answer_extraction import ExtractedAnswer, Place, compat
from methods.choice.lettered import LETTERS, key_of
from methods.evaluation.asking import AskingLimits, ExtractionRequest, readings_of
from methods.evaluation.items import Item
from methods.evaluation.judging import RULE
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

NO_CHOICES = "No release with answers has multiple-choice questions."


class AnswerExtraction(NamedTuple):
    """An answer with its extracted letters, and the benchmark's extraction request for it."""

    answer: ExtractedAnswer
    extract: ExtractionRequest
    answer_call_key: str | None


def answered_choices(
    warehouse: Warehouse, benchmarks: Benchmarks, *, current_only: bool = False
) -> list[EvaluatedRelease]:
    """List the releases with answers from which letters are extracted.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks by name.
        current_only: Whether to list current releases only.

    Returns:
        The releases, each with its benchmark.
    """
    answered = [
        EvaluatedRelease(benchmarks[row["benchmark"]], row["release_id"])
        for row in warehouse.read("evaluate/answered_releases").to_pylist()
        if row["benchmark"] in benchmarks and benchmarks[row["benchmark"]].extractor_prompts
    ]
    current = {row["release_id"] for row in current_of(warehouse, benchmarks)}
    return [release for release in answered if not current_only or release.release_id in current]


def readings_on(
    warehouse: Warehouse, release: EvaluatedRelease, *, with_second: bool = True
) -> Iterator[AnswerExtraction]:
    """Read every answer on a release from which a letter is extracted, with the letters by extractor.

    Args:
        warehouse: The tables.
        release: The release.
        with_second: Whether to include second extractions, which are only made for comparison.

    Yields:
        The answers.
    """
    where = {"release_id": release.release_id}
    with warehouse.kept_open():
        stored = {
            (row["model"], row["item_id"], row["trial"], row["turn"]): row
            for row in warehouse.read("evaluate/readings_of", where).to_pylist()
        }
        second = _second_readings(warehouse, release.release_id) if with_second else {}
        items = {item.item_id: item for item in items_of(warehouse, release.release_id)}
        transcripts = transcripts_of(warehouse, release.release_id)
    for (model, item_id), transcript in transcripts.items():
        item = items[item_id]
        asking = release.benchmark.ask(item, AskingLimits(transcript.context_policy, prompt))
        for extract in readings_of(asking, transcript):
            place = (model, item_id, extract.trial, extract.turn)
            row, model_answer = stored.get(place), transcript.answer(extract.trial, extract.turn)
            if row is None or model_answer.text is None or not extract.choices:
                continue
            by_rule = row["extractor"] == RULE
            answer = ExtractedAnswer(
                *place,
                cluster=item.cluster,
                question=item.turns[extract.turn - 1].question,
                choices=extract.choices,
                answer=model_answer.text,
                rule=row["value"] if by_rule else None,
                extractor=None if by_rule else row["value"],
                lost=row["reason"],
                compat_rule=compat(model_answer.text, extract.choices),
                by_model=second.get(place, {}),
                right=_right(item, extract.choices),
            )
            yield AnswerExtraction(answer, extract, model_answer.call_key)


def _right(item: Item, choices: Sequence[str]) -> str | None:
    """Return the letter of the right choice, in the order of choices of the request."""
    key = key_of(item)
    return LETTERS[choices.index(item.choices[LETTERS.index(key)])] if key else None


def _second_readings(warehouse: Warehouse, release_id: str) -> dict[Place, dict[str, str | None]]:
    """Read the second extractions, by answer and extractor; they do not count in scores."""
    readings: dict[Place, dict[str, str | None]] = {}
    rows = warehouse.read("evaluate/second_readings_of", {"release_id": release_id}).to_pylist()
    for row in rows:
        place = row["model"], row["item_id"], row["trial"], row["turn"]
        readings.setdefault(place, {})[row["extractor"]] = row["value"]
    return readings
