"""What lmms-eval asks of each row of this folder, and how it reads an answer."""

import re
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
FAILED = "[LMMS_EVAL_"
"""How lmms-eval begins what it puts in place of an answer that there is none."""
APART = "models that take pictures apart from texts cannot be given a history: use a chat model"


def _picture(path):
    with Image.open(HERE / path) as image:
        return image.convert("RGB")


def _content(message):
    return [
        {"type": "image", "url": _picture(part["image"])}
        if part["image"] is not None
        else {"type": "text", "text": part["text"]}
        for part in message["content"]
    ]


def _answers(doc):
    """The places of the model's own answers among the messages."""
    return [place for place, message in enumerate(doc["messages"]) if message["turn"] is not None]


def doc_to_messages(doc, round_idx=None, previous_output=None, previous_round_info=None):
    """The messages of a round: pictures where they enter, and the model's own answers so far.

    A round without an answer is the last one.
    """
    places = _answers(doc)
    said = list(previous_output or [])[: round_idx or 0]
    lost = any(not text.strip() or text.startswith(FAILED) for text in said)
    if round_idx is not None and (round_idx >= len(places) or lost):
        return None, True, previous_output, None
    answers = iter(said)
    messages = [
        {"role": "assistant", "content": [{"type": "text", "text": next(answers)}]}
        if message["turn"] is not None
        else {"role": message["role"], "content": _content(message)}
        for message in doc["messages"][: places[len(said)]]
    ]
    return messages if round_idx is None else (messages, False, previous_output, None)


def _alone(doc):
    """The only message, for models that take pictures and text apart from each other."""
    if len(doc["messages"]) != 2:
        raise ValueError(f"{doc['item_id']} has several turns, and {APART}.")
    return doc["messages"][0]


def doc_to_visual(doc):
    """The pictures, for models that take them apart from the text."""
    return [part["url"] for part in _content(_alone(doc)) if part["type"] == "image"]


def doc_to_text(doc, lmms_eval_specific_kwargs=None, round_idx=None, **rounds):
    """The text of the first message, for models that take it apart from the pictures."""
    if round_idx is not None:
        _alone(doc)
    parts = doc["messages"][0]["content"]
    return "".join("<image>" if part["image"] is not None else part["text"] for part in parts)


def doc_to_target(doc):
    """The right letter or the reference; empty where it is held out."""
    return doc["target"]


def process_results(doc, results):
    """Which item, trial and turns the answers are of; whether they are right, of one question."""
    said = results[0] if isinstance(results[0], list) else results[:1]
    right = None
    if len(_answers(doc)) == 1:
        letter = re.match(r"\W*([A-J])(?![A-Za-z])", said[0])
        right = (letter[1] if letter and doc["lettered"] else said[0].strip()) == doc["target"]
    turns = [doc["messages"][place]["turn"] for place in _answers(doc)]
    here = {"item_id": doc["item_id"], "trial": doc["trial"], "turns": turns}
    return {"vlm_loom": {**here, "right": None if right is None else float(right)}}


def mean(results):
    """The share of right answers among those to one question; dialogues have no score here."""
    known = [result["right"] for result in results if result["right"] is not None]
    return sum(known) / len(known) if known else float("nan")
