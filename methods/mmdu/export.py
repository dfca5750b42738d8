"""MMDU's published JSON: {id, image: [paths], conversations: [{from, value}]} (MMDU, A and 2.2)."""

from collections.abc import Sequence


def mmdu_record(item_id: str, image_paths: Sequence[str], turns: Sequence[tuple[str, str]]) -> dict:
    """One dialogue as MMDU publishes it; `turns` are (question, answer) pairs in order."""
    conversations = []
    for question, answer in turns:
        conversations.append({"from": "user", "value": question})
        conversations.append({"from": "assistant", "value": answer})
    return {"id": item_id, "image": list(image_paths), "conversations": conversations}
