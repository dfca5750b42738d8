"""Example items of a report: their images, and the answers of models and judges."""

import re
from collections.abc import Sequence
from typing import Any

from methods.prompts.messages import IMAGE_HERE
from methods.review import POLICY_PREFIX
from methods.web_address import is_web_address
from resources.images.store import ImageStore
from resources.reports.report_input import Row
from resources.web.addresses import CALLS

THUMBNAIL_SIDE = 208
"""Size in pixels; shown at half the size, so that images are sharp on high-density screens and paper.
"""
MOST_SHOWN = 20_000
"""Longer answers, references and explanations are cut to this many characters."""
_TOKEN = re.compile(rf"({re.escape(IMAGE_HERE)})|<image-([0-9]{{1,3}})>", re.IGNORECASE)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def example(number: int, item: Row, best: float | None, image_store: ImageStore) -> dict[str, Any]:
    """Make the template data of one example item. A missing image gets a placeholder.

    Args:
        number: The number of the example on the page, from 1.
        item: The item.
        best: The highest grade that a judge can give; None without grades.
        image_store: The image store.
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
                # An imported image may have no title and no page.
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
    """Return how many characters of a text are cut, and the address of the whole model reply."""
    whole = f"{CALLS}/{call_key}/reply" if call_key else None
    return {"n_left_out": max(0, len(text) - MOST_SHOWN), "whole": whole}


def pieces(text: str, positions: Sequence[int] = ()) -> list[tuple[str, str | int | None]]:
    """Split a text at its image tokens: ("text", str), ("entry", number or None), ("image", number).

    Args:
        text: The text.
        positions: The number of the i-th `<ImageHere>`.
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
    """Add a short verdict to a judgment: its grade, or the scores of a rule."""
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
    # A review policy that decided without a person must not look like a person's name.
    policy = name.removeprefix(POLICY_PREFIX)
    return name if policy == name else f"no person (policy “{policy}”)"


def source_of(image_id: str, image_store: ImageStore) -> str | None:
    """Return a thumbnail as a data URL; None if the image is not stored.

    Args:
        image_id: The image.
        image_store: The image store.

    Raises:
        ImageDamaged: The file of the image is damaged.
    """
    thumbnail = image_store.thumbnail_base64(image_id, THUMBNAIL_SIDE)
    return thumbnail and f"data:image/jpeg;base64,{thumbnail}"


def _link(url: str) -> str | None:
    """Return the link only if it is HTTP(S): an address from outside may also be a script."""
    return url if is_web_address(url) else None
