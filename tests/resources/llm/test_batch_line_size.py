"""One result of a batch that is too large costs its request, and the others keep their answers."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from resources.llm.model_calls import WaitingForBatch
from resources.llm.request import Completion, Failure
from tests.doubles.odd_api import PIECE, Asked, answering
from tests.doubles.openai_api import completion
from tests.resources.llm.loopback import gateway_of, questions

MB = 1_000_000
FILE = {"id": "file-1", "object": "file", "bytes": 1, "created_at": 0, "filename": "f.jsonl"}
BATCH = {
    "id": "batch-1",
    "object": "batch",
    "endpoint": "/v1/chat/completions",
    "input_file_id": "file-1",
    "completion_window": "24h",
    "created_at": 0,
}


def line(key: str, spaces: int = 0) -> bytes:
    """A result, with so many bytes in it that say nothing."""
    body = completion({"role": "assistant", "content": "Fine."}, 10, 5)
    head = json.dumps({"custom_id": key})[:-1].encode()
    filler = b"".join([PIECE] * (spaces // len(PIECE)))
    return head + b', "response": {"status_code": 200, "body": ' + filler + body + b"}}\n"


def test_a_line_that_is_too_large_is_a_loss_and_the_others_are_answers(tmp_path: Path) -> None:
    keys: list[str] = []

    def answer(asked: Asked) -> None:
        path = urlsplit(asked.path).path.removeprefix("/v1/")
        if path == "files":
            keys.extend(re.findall(r'"custom_id": "(\w+)"', asked.body.decode()))
            asked.send(json.dumps({**FILE, "purpose": "batch", "status": "processed"}).encode())
        elif path == "batches":
            asked.send(json.dumps({**BATCH, "status": "in_progress"}).encode())
        elif path == "batches/batch-1":
            ended = {"status": "completed", "output_file_id": "file-2"}
            asked.send(json.dumps({**BATCH, **ended}).encode())
        else:
            first, second, third = keys
            asked.send(line(first) + line(second, 3 * MB) + line(third))

    with answering(answer) as api:
        entry = {"base_url": api.url, "mode": "batch", "max_reply_bytes": MB}
        with pytest.raises(WaitingForBatch):
            gateway_of(tmp_path, {"it": entry}).ask("s", questions(3))
        outcomes, _ = gateway_of(tmp_path, {"it": entry}).ask("s", questions(3))

    assert [type(each) for each in outcomes] == [Completion, Failure, Completion]
    lost = outcomes[1]
    assert isinstance(lost, Failure) and lost.kind == "bad_response"
    assert "max_reply_bytes of it allows" in lost.detail
