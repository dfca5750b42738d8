"""The functions that lmms-eval calls for each row: messages, and scoring of answers."""

import functools
import importlib.util
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
FAILED = "[LMMS_EVAL_"
"""How lmms-eval begins what it puts in place of an answer that there is none."""
APART = "models that take pictures apart from texts cannot be given a history: use a chat model"


@functools.cache
def _letter_scores():
    """The file beside this one; it is there where letters are scored."""
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
    """The places of the model's own answers among the messages."""
    return [place for place, message in enumerate(doc["messages"]) if message["turn"] is not None]


def doc_to_messages(doc, round_idx=None, previous_output=None, previous_round_info=None):
    """The messages of a round: pictures where they enter, and the model's own answers so far.

    A round without an answer is the last one.
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
    """The item, trial and turns of the answers; of a letter that counts, whether it is right.

    `right` is None where no rule of vlm-loom reads a letter.
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
    """The score that the release has on its leaderboard; the passes of an item count as one."""
    return _summary(results)["score"]


def standard_error(results):
    """The standard error of the score, clustered by items that belong together."""
    return _summary(results)["standard_error"]


def unread(results):
    """The number of answers whose letter no rule reads."""
    return _summary(results)["unread"]


def not_scored(results):
    """What stands in place of a score."""
    return "not scored here: see README.md of the task"
