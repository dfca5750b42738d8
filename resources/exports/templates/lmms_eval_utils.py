"""What lmms-eval asks of each row of this folder, and how it reads an answer."""

import re

HERE = "<ImageHere>"
LETTERS = "ABCDEFGH"
BY_LETTER = "Answer with the option's letter from the given choices directly."


def _text_below(doc):
    if not doc["choices"]:
        return ""
    lines = [f"{letter}. {choice}" for letter, choice in zip(LETTERS, doc["choices"], strict=False)]
    return "\n" + "\n".join([*lines, BY_LETTER])


def doc_to_messages(doc, lmms_eval_specific_kwargs=None):
    """One message, with pictures where they enter."""
    (turn,) = doc["turns"]
    images = [image.convert("RGB") for image in doc["images"]]
    shown = [images[position - 1] for position in turn["image_positions"]]
    pieces = turn["question"].split(HERE)
    n_before = max(len(shown) - len(pieces) + 1, 0)
    content = [{"type": "image", "url": image} for image in shown[:n_before]]
    placed = iter(shown[n_before:])
    for number, piece in enumerate(pieces):
        image = next(placed, None) if number else None
        if image is not None:
            content.append({"type": "image", "url": image})
        if piece:
            content.append({"type": "text", "text": piece})
    if _text_below(doc):
        content.append({"type": "text", "text": _text_below(doc)})
    return [{"role": "user", "content": content}]


def doc_to_visual(doc):
    """The pictures, for models that take them apart from the text."""
    (turn,) = doc["turns"]
    return [doc["images"][position - 1].convert("RGB") for position in turn["image_positions"]]


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    """The text, for models that take it apart from the pictures."""
    return doc["turns"][0]["question"].replace(HERE, "<image>") + _text_below(doc)


def doc_to_target(doc):
    """The right letter or the reference; empty where it is held out."""
    (turn,) = doc["turns"]
    return turn["key"] or turn["answer"] or ""


def process_results(doc, results):
    """Whether the answer is right, and of which item it is: by that it is found again."""
    answer = results[0] if isinstance(results[0], str) else results[0][0]
    said = re.match(r"\W*([A-H])(?![A-Za-z])", answer)
    right = (said[1] if said and doc["choices"] else answer.strip()) == doc_to_target(doc)
    return {"vlm_loom": {"item_id": doc["item_id"], "right": float(right)}}


def mean(results):
    """The share of right answers."""
    return sum(result["right"] for result in results) / max(len(results), 1)
