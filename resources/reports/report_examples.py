"""Examples of a report: items with their pictures, and what models and judges said of them."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from methods.prompts.messages import IMAGE_HERE
from methods.review import POLICY_PREFIX
from resources.images.store import ImageStore
from resources.reports.report_input import Row
from resources.web.addresses import CALLS

THUMBNAIL_SIDE = 208
"""Pixels; shown at half the size, so that they are sharp on fine screens and on paper."""
MOST_SHOWN = 20_000
"""Characters of an answer, a reference or an explanation that are shown."""
_TOKEN = re.compile(rf"({re.escape(IMAGE_HERE)})|<image-([0-9]{{1,3}})>", re.IGNORECASE)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def example(number: int, item: Row, best: float | None, image_store: ImageStore) -> dict[str, Any]:
    """Make the data of one example item. A missing image is shown as missing.

    Args:
        number: The number of the example.
        item: The item.
        best: The highest grade of a judge.
        image_store: The image store.

    Returns:
        The data of the template.
    """
    return {
        **item,
        "anchor": f"example-{number}",
        "reviewers": [_reviewer(name) for name in item["reviewers"]],
        "choices": [
            (_LETTERS[place] if place < len(_LETTERS) else str(place + 1), pieces(choice))
            for place, choice in enumerate(item["choices"])
        ],
        "images": [
            {
                **image,
                # An imported image may have neither.
                "title": image["title"] or "",
                "link": _link(image["page_url"] or ""),
                "source": source_of(image["image_id"], image_store),
            }
            for image in item["images"]
        ],
        "turns": [
            {
                **turn,
                "question": pieces(turn["question"], turn["image_positions"]),
                "references": [
                    {
                        **reference,
                        "pieces": pieces(reference["reference"][:MOST_SHOWN]),
                        **_rest(reference["reference"], reference["call_key"]),
                    }
                    for reference in turn["references"]
                ],
                "answers": [
                    {
                        **answer,
                        "pieces": pieces((answer["answer"] or "")[:MOST_SHOWN]),
                        **_rest(answer["answer"] or "", answer["call_key"]),
                        "judgments": [
                            _judgment(judgment, best) for judgment in answer["judgments"]
                        ],
                    }
                    for answer in turn["answers"]
                ],
            }
            for turn in item["turns"]
        ],
    }


def _rest(text: str, call_key: str | None) -> dict[str, Any]:
    """How much of a text is not shown, and where the reply that it is of is shown whole."""
    whole = f"{CALLS}/{call_key}/reply" if call_key else None
    return {"n_left_out": max(0, len(text) - MOST_SHOWN), "whole": whole}


def pieces(text: str, positions: Sequence[int] = ()) -> list[tuple[str, str | int | None]]:
    """Split a text at its image tokens: ("text", str), ("entry", number or None), ("image", number).

    Args:
        text: The text.
        positions: The number of the i-th `<ImageHere>`.

    Returns:
        The pieces.
    """
    entering = iter(positions)
    parts: list[tuple[str, str | int | None]] = []
    end = 0
    for token in _TOKEN.finditer(text):
        parts.append(("text", text[end : token.start()]))
        parts.append(("entry", next(entering, None)) if token[1] else ("image", int(token[2])))
        end = token.end()
    return [*parts, ("text", text[end:])]


def _judgment(judgment: Row, best: float | None) -> dict[str, Any]:
    """A judgment with its verdict in short: a grade, or what a rule observed."""
    explanation = judgment["explanation"] or ""
    judgment = {
        **judgment,
        "explanation": explanation[:MOST_SHOWN],
        **_rest(explanation, judgment["call_key"]),
    }
    grade, out_of = judgment["score"], f" / {best:g}" if best else ""
    if grade is not None:
        return {**judgment, "verdict": f"{grade:g}{out_of}", "shade": grade / best if best else 0.0}
    observed = [f"{name} {value:g}" for name, value in judgment["scores"].items()]
    return {**judgment, "verdict": ", ".join(observed) or "no score", "shade": 0.0}


def _reviewer(name: str) -> str:
    # A policy that stood in for a person must not read like a person's name.
    policy = name.removeprefix(POLICY_PREFIX)
    return name if policy == name else f"no person (policy “{policy}”)"


def source_of(image_id: str, image_store: ImageStore) -> str | None:
    """Return a thumbnail as a data URL; None if the image is not stored. Raises ImageDamaged.

    Args:
        image_id: The image.
        image_store: The image store.

    Returns:
        The URL.
    """
    thumbnail = image_store.thumbnail_base64(image_id, THUMBNAIL_SIDE)
    return thumbnail and f"data:image/jpeg;base64,{thumbnail}"


def _link(url: str) -> str | None:
    """The image's page where it is a web page: an address from outside may also be a script."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None
