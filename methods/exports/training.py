"""Fine-tuning records in the formats of LLaVA, ShareGPT, ms-swift, LLaMA-Factory, OpenAI and MMDU.

Formats with an image token have it at the place of each image in the text. Their list of images is in
the order of the tokens.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from methods.evaluation.published import PublishedItem
from methods.exports.rows import ExportedItem, ExportedMessage, messages, shown_images, user_message
from methods.mmdu.published import mmdu_record
from methods.naming import number_of
from methods.prompts.messages import IMAGE_HERE

Record = dict[str, Any]
MakeRecord = Callable[[ExportedItem, Sequence[str]], Record | None]
"""Makes the record of an item from the item and the paths of its images; None if the first turn has no
answer."""

IMAGE = "<image>"
_TOKENS = re.compile(r"<(?=(?:image|video|audio)>)")
ESCAPED = "A text that itself says <image>, <video> or <audio> has a blank after its <."
NAMES = {"user": "human", "assistant": "gpt"}
OPENAI_MOST_PICTURES = 10
OPENAI_KINDS = frozenset({"image/jpeg", "image/png", "image/webp"})
TOO_MANY, OF_ANOTHER_KIND = "more pictures", "pictures of another kind"
LLAMA_FACTORY_FILE = "data.jsonl"


def llava(item: ExportedItem, paths: Sequence[str]) -> Record | None:
    """Make a record for LLaVA and for Qwen's scripts; `image` is a path, or a list of several paths.

    Args:
        item: The dialogue.
        paths: The paths of its images.
    """
    dialogue = messages(item)
    if not dialogue:
        return None
    pictures = [paths[number] for number in shown_images(dialogue)]
    image = {"image": pictures[0] if len(pictures) == 1 else pictures} if pictures else {}
    return {
        "id": item.item_id,
        **image,
        "conversations": _conversations(dialogue),
        **_sources(item),
    }


def sharegpt(item: ExportedItem, paths: Sequence[str]) -> Record | None:
    """Make a ShareGPT record: conversations of human and gpt, and a list of images.

    Args:
        item: The dialogue.
        paths: The paths of its images.
    """
    dialogue = messages(item)
    if not dialogue:
        return None
    pictures = [paths[number] for number in shown_images(dialogue)]
    return {
        "id": item.item_id,
        "conversations": _conversations(dialogue),
        "images": pictures,
        **_sources(item),
    }


def swift(item: ExportedItem, paths: Sequence[str]) -> Record | None:
    """Make a record of messages by role and a list of images, for ms-swift and LLaMA-Factory.

    Args:
        item: The dialogue.
        paths: The paths of its images.
    """
    dialogue = messages(item)
    if not dialogue:
        return None
    return {
        "messages": [{"role": each.role, "content": _marked(each)} for each in dialogue],
        "images": [paths[number] for number in shown_images(dialogue)],
        "id": item.item_id,
        **_sources(item),
    }


def openai(item: ExportedItem, urls: Sequence[str]) -> Record | None:
    """Make a record of OpenAI's chat API, with images as message parts.

    Args:
        item: The dialogue.
        urls: The data URLs of its images.
    """
    dialogue = messages(item)
    if not dialogue:
        return None
    return {"messages": [_openai_message(each, urls) for each in dialogue]}


def openai_rejection(record: Record) -> list[str]:
    """List the reasons why OpenAI's fine-tuning rejects a record of `openai`; empty if accepted."""
    parts = [part for message in record["messages"] for part in message["content"]]
    urls = [part["image_url"]["url"] for part in parts if "image_url" in part]
    kinds = {url.partition(";")[0].removeprefix("data:") for url in urls}
    return [
        *([TOO_MANY] if len(urls) > OPENAI_MOST_PICTURES else []),
        *([OF_ANOTHER_KIND] if kinds - OPENAI_KINDS else []),
    ]


def openai_limits(n_records: int, not_taken: Mapping[str, int]) -> str:
    """Describe the records that OpenAI's fine-tuning does not accept.

    Args:
        n_records: The number of records.
        not_taken: The number of rejected records by reason.
    """
    return (
        f"OpenAI's fine-tuning takes at most {OPENAI_MOST_PICTURES} pictures in an example, and JPEG, "
        f"PNG and WEBP alone: of {number_of(n_records, 'record')} {not_taken.get(TOO_MANY, 0)} have "
        f"{TOO_MANY}, and {not_taken.get(OF_ANOTHER_KIND, 0)} have {OF_ANOTHER_KIND}."
    )


def mmdu(item: ExportedItem, paths: Sequence[str]) -> Record | None:
    """Make a record as MMDU's authors publish it; a missing answer is empty.

    Args:
        item: The dialogue.
        paths: The paths of its images.
    """
    turns = [
        replace(turn, question=user_message(item, turn).text(IMAGE_HERE)) for turn in item.turns
    ]
    return mmdu_record(
        PublishedItem(item.item_id, tuple(turns), tuple(paths), labels=item.labels or {})
    )


def dataset_info(name: str) -> Mapping[str, Any]:
    """Make the content of LLaMA-Factory's `dataset_info.json` for a dataset of this name."""
    return {
        name: {
            "file_name": LLAMA_FACTORY_FILE,
            "formatting": "sharegpt",
            "columns": {"messages": "messages", "images": "images"},
            "tags": {
                "role_tag": "role",
                "content_tag": "content",
                "user_tag": "user",
                "assistant_tag": "assistant",
            },
        }
    }


def _conversations(dialogue: Sequence[ExportedMessage]) -> list[Record]:
    return [{"from": NAMES[each.role], "value": _marked(each)} for each in dialogue]


def _marked(message: ExportedMessage) -> str:
    """The text with a token for each image; tokens that the text itself contains are escaped."""
    parts = [part if isinstance(part, int) else _TOKENS.sub("< ", part) for part in message.parts]
    return message._replace(parts=tuple(parts)).text(IMAGE)


def _openai_message(message: ExportedMessage, urls: Sequence[str]) -> Record:
    if message.role == "assistant":
        return {"role": message.role, "content": message.text("")}
    parts: list[Record] = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": urls[part]}}
        for part in message.parts
    ]
    return {"role": message.role, "content": parts}


def _sources(item: ExportedItem) -> Record:
    stacked = {"dialogues": list(item.stacked)} if item.stacked else {}
    return {**stacked, "image_sources": [picture._asdict() for picture in item.pictures]}
