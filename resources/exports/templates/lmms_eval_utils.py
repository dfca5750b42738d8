"""The functions that lmms-eval calls for each row: messages, and scoring of answers."""

import functools
import importlib.util
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
FAILED = "[LMMS_EVAL_"
"""The beginning of the text that lmms-eval returns for a failed request."""
APART = "models that take pictures apart from texts cannot be given a history: use a chat model"


@functools.cache
def _letter_scores():
    """Load letter_scores.py from this folder. It only exists if the task scores letters."""
    spec = importlib.util.spec_from_file_location("letter_scores", HERE / "letter_scores.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    """Return the indexes of the model's own answers among the messages."""
    return [place for place, message in enumerate(doc["messages"]) if message["turn"] is not None]


def doc_to_messages(doc, round_idx=None, previous_output=None, previous_round_info=None):
    """Make the messages of a round, with images in their places and the model's own earlier answers.

    A round without an answer ends the dialogue.
    """
    places = _answers(doc)
    earlier = list(previous_output or [])[: round_idx or 0]
    lost = any(not text.strip() or text.startswith(FAILED) for text in earlier)
    if round_idx is not None and (round_idx >= len(places) or lost):
        return None, True, previous_output, None
    answers = iter(earlier)
    messages = [
        {"role": "assistant", "content": [{"type": "text", "text": next(answers)}]}
        if message["turn"] is not None
        else {"role": message["role"], "content": _content(message)}
        for message in doc["messages"][: places[len(earlier)]]
    ]
    return messages if round_idx is None else (messages, False, previous_output, None)


def _alone(doc):
    """Return the only message, for models that get images and text separately."""
    if len(doc["messages"]) != 2:
        raise ValueError(f"{doc['item_id']} has several turns, and {APART}.")
    return doc["messages"][0]


def doc_to_visual(doc):
    """Return the images, for models that get them separately from the text."""
    return [part["url"] for part in _content(_alone(doc)) if part["type"] == "image"]


def doc_to_text(doc, lmms_eval_specific_kwargs=None, round_idx=None, **rounds):
    """Return the text of the first message, for models that get it separately from the images."""
    if round_idx is not None:
        _alone(doc)
    parts = doc["messages"][0]["content"]
    return "".join("<image>" if part["image"] is not None else part["text"] for part in parts)


def doc_to_target(doc):
    """Return the right letter or the reference answer; empty if it is held out."""
    return doc["target"]


def process_results(doc, results):
    """Return the item, variant and turns of the answers, and whether a counted letter is right.

    `right` is None if no rule of vlm-loom extracts a letter.
    """
    texts = results[0] if isinstance(results[0], list) else results[:1]
    turns = [doc["messages"][place]["turn"] for place in _answers(doc)]
    result = {"item_id": doc["item_id"], "trial": doc["trial"], "turns": turns, "right": None}
    if doc["counted"] is None:
        return {"vlm_loom": result}
    text = "" if texts[0].startswith(FAILED) else texts[0]
    letter = _letter_scores().read_letter(text, doc["choices"]).letter
    result["right"] = None if letter is None else letter == doc["target"]
    result |= {**doc["counted"], "item": doc["item_id"]}
    return {f"vlm_loom{name}": result for name in ("", "_standard_error", "_unread")}


def _summary(results):
    return _letter_scores().summary([result for result in results if "item" in result])


def score(results):
    """Compute the score as on the release's leaderboard: the passes of an item count once together."""
    return _summary(results)["score"]


def standard_error(results):
    """Compute the standard error of the score, clustered by groups of related items."""
    return _summary(results)["standard_error"]


def unread(results):
    """Count the answers from which no rule extracts a letter."""
    return _summary(results)["unread"]


def not_scored(results):
    """Return a note in place of a score."""
    return "not scored here: see README.md of the task"
