"""An item as the site's sample browser shows it: images, turns, answers, judgments and scores."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from assets.evaluate.site_requests import requests_of
from assets.evaluate.site_scores import plain_number
from methods.evaluation.asking import AnswerStatus
from methods.prompts.messages import IMAGE_HERE
from resources.llm.ledger import Call
from resources.site.pictures import ImagePaths
from resources.site.sample_browser import SampleBrowserItem

Row = dict[str, Any]

EXCERPT = 120
"""Characters of the question that the list of items shows."""
STATUSES = get_args(AnswerStatus)
"""How an answer can end, from best to worst."""
ANSWER_KEY = ("item_id", "model", "trial", "turn")
_ENTERS = re.compile(rf"(?:image ?[0-9]{{1,3}}: ?)?{re.escape(IMAGE_HERE)}[.,;]?", re.IGNORECASE)
_NAMED = re.compile(r"<image-([0-9]{1,3})>", re.IGNORECASE)


class SiteItems:
    """Items of one release. `place` has the numbers by which an item names models, trials, judges,
    prompts and parts, and `pictures` the paths of its images.
    """

    def __init__(
        self, place: Mapping[str, Mapping[Any, int]], pictures: Mapping[str, ImagePaths]
    ) -> None:
        self._place, self._pictures = place, pictures

    def entry(
        self, number: int, row: Row, tables: Mapping[str, Any], calls: Mapping[str, Call]
    ) -> SampleBrowserItem:
        """Return what the sample browser shows of an item.

        Args:
            number: The item's place in the release.
            row: Its row of `release.items`.
            tables: Rows by table, grouped by item, or by item and turn, or by ANSWER_KEY.
            calls: The model calls behind its answers, by key.
        """
        key = (row["item_id"],)
        turns = [
            _turn(turn, tables["release.references"].get((*key, turn["turn"]), ()))
            for turn in tables["release.turns"].get(key, ())
        ]
        images = [self._image(image) for image in tables["release.images"].get(key, ())]
        choices = [choice["choice"] for choice in tables["release.choices"].get(key, ())]
        answers = [
            self._answer(answer, tables, calls)
            for answer in tables["evaluate.shown_answers"].get(key, ())
            if not _is_shown_above(answer, turns)
        ]
        answers.sort(key=lambda answer: (answer["turn"], answer["model"], answer.get("trial", 0)))
        labels = dict(row["labels"])
        item = {
            "number": number,
            "id": row["item_id"],
            "set": row["set_id"],
            "group": row["group_id"],
            "labels": labels,
            "reviewers": row["reviewers"],
            "revision": row["revision"],
            "images": images,
            "choices": choices,
            "turns": turns,
            "answers": answers,
        }
        question = turns[0]["question"] if turns else ""
        # The list shows a thumbnail, so the excerpt leaves out image placeholders.
        text = _NAMED.sub(r"[\1]", _ENTERS.sub(" ", question)).replace("&nbsp;", " ")
        excerpt = " ".join(text.split()) or " ".join(question.split())
        head = [excerpt[:EXCERPT], images[0]["thumb"] if images else None]
        answer_calls = [calls[each["call"]] for each in answers if each.get("call") in calls]
        answer_texts = list(_answer_texts(item))
        texts = [*_texts(item), *answer_texts]
        return SampleBrowserItem(item, head, texts, answer_texts, requests_of(answer_calls))

    def _image(self, row: Row) -> Row:
        shown = self._pictures.get(row["image_id"])
        return {
            "id": row["image_id"],
            "thumb": shown and shown.thumb,
            "picture": shown and shown.picture,
            "page": row["page_url"],
            **{
                name: row[name]
                for name in ("title", "attribution", "licence", "licence_url", "artist")
            },
        }

    def _answer(self, row: Row, tables: Mapping[str, Any], calls: Mapping[str, Call]) -> Row:
        """Return an answer with its extraction, judgments, scores and failures; empty fields are
        left out.
        """
        key = tuple(row[name] for name in ANSWER_KEY)
        call = calls.get(row["call_key"])
        readings = tables["evaluate.extractions"].get(key, ())
        return _without_empty(
            {
                "model": self._place["models"][row["model"]],
                # 0 is left out to save space: the first trial, and below the status "answered".
                "trial": self._place["trials"][row["trial"]] or None,
                "turn": row["turn"],
                "status": STATUSES.index(row["status"]) or None,
                "text": row["answer"],
                "reasoning": row["reasoning"],
                "call": row["call_key"],
                "tokens": call and [call.prompt_tokens, call.completion_tokens],
                "seconds": call and round(call.seconds, 1),
                "prompt": self._place["prompts"][row["prompt_version"]],
                # A repeated call gives a new answer, which the stored extraction does not belong to.
                "reading": next(
                    (
                        {
                            "value": entry["value"],
                            "extractor": entry["extractor"],
                            "call": entry["call_key"],
                        }
                        for entry in readings
                        if entry["answer_call_key"] == row["call_key"]
                    ),
                    None,
                ),
                "judgments": [
                    self._judgment(entry)
                    for entry in tables["evaluate.shown_judgments"].get(key, ())
                    if entry["answer_call_key"] == row["call_key"]
                ],
                "observed": [
                    {
                        "judge": self._place["judges"][entry["judge"], entry["judge_version"]],
                        "metric": entry["metric"],
                        "value": entry["value"],
                        "status": entry["status"],
                    }
                    for entry in tables["evaluate.observations"].get(key, ())
                ],
                "lost": [
                    {"asked": entry["asked"], "reason": entry["reason"], "detail": entry["detail"]}
                    for entry in tables["evaluate.shown_failed"].get(key, ())
                ],
            }
        )

    def _judgment(self, row: Row) -> Row:
        scores = {name: plain_number(value) for name, value in row["scores"]}
        score = plain_number(row["score"])
        return _without_empty(
            {
                "judge": self._place["judges"].get((row["judge"], row["judge_version"])),
                "replicate": row["replicate"] or None,
                "part": self._place["parts"][row["part"]] or None,
                "score": score,
                "scores": None if list(scores.values()) == [score] else scores,
                "why": row["explanation"],
                "call": row["call_key"],
                "prompt": self._place["prompts"].get(row["prompt_version"]),
            }
        )


def _turn(row: Row, references: Sequence[Row]) -> Row:
    return {
        "turn": row["turn"],
        "question": row["question"],
        "images": row["image_positions"],
        "given": row["given"],
        "call": row["call_key"],
        "prompt": row["prompt_version"],
        "references": [
            {
                "kind": entry["kind"],
                "text": entry["reference"],
                "call": entry["call_key"],
                "prompt": entry["prompt_version"],
            }
            for entry in references
        ],
    }


def _texts(item: Row) -> Iterator[str | None]:
    """Yield the texts for the full-text search of an item, except its answers: id, labels, choices,
    image titles and artists, questions, references and judges' explanations.
    """
    yield item["id"]
    yield from item["labels"].values()
    yield from item["choices"]
    for image in item["images"]:
        yield image["title"]
        yield image["artist"]
    for turn in item["turns"]:
        yield turn["question"]
        yield turn["given"]
        yield from (reference["text"] for reference in turn["references"])
    for answer in item["answers"]:
        yield from (judgment["why"] for judgment in answer.get("judgments", ()))


def _answer_texts(item: Row) -> Iterator[str | None]:
    """Yield the models' answers to an item, and their reasoning."""
    for answer in item["answers"]:
        yield answer.get("text")
        yield answer.get("reasoning")


def _is_shown_above(answer: Row, turns: Sequence[Row]) -> bool:
    """Tell whether an answer that the benchmark prescribes is already shown with its turn, as the
    given answer or as a reference.
    """
    if answer["status"] != "given":
        return False
    shown = next((turn for turn in turns if turn["turn"] == answer["turn"]), None)
    texts = [shown["given"], *(each["text"] for each in shown["references"])] if shown else []
    return not (answer["answer"] or "").strip() or answer["answer"] in texts


def _without_empty(row: Row) -> Row:
    """Return the row without None and empty lists."""
    return {name: value for name, value in row.items() if value is not None and value != []}
