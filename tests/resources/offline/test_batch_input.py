"""What the offline server takes in as a file and as a batch, and how it refuses the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.resources.offline.offline_batching import CHAT, MODEL, Api, asked, serving, some


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with serving(batch_max_requests=12, batch_max_bytes=4000) as found:
        yield found


@pytest.mark.parametrize(
    ("line", "code", "param"),
    [
        (b"{", "invalid_json_line", None),
        (b"[1]", "invalid_json_line", None),
        (b"\xff", "invalid_json_line", None),
        ({"method": "POST", "url": CHAT, "body": {}}, "missing_required_parameter", "custom_id"),
        (asked(""), "missing_required_parameter", "custom_id"),
        (asked("b", custom_id=5), "invalid_type", "custom_id"),
        (asked("a"), "duplicate_custom_id", "custom_id"),
        (asked("b", method=None), "missing_required_parameter", "method"),
        (asked("b", method="GET"), "invalid_value", "method"),
        (asked("b", url=None), "missing_required_parameter", "url"),
        (asked("b", url="/v1/embeddings"), "invalid_url", "url"),
        (asked("b", body=None), "missing_required_parameter", "body"),
        (asked("b", body="Hi"), "invalid_type", "body"),
        (asked("b", body={"messages": [{}]}), "invalid_request", "body.model"),
        (asked("b", body={"model": MODEL}), "invalid_request", "body.messages"),
        (asked("b", model="gpt-4o"), "model_not_found", "body.model"),
        (asked("b", model="offline-judge"), "mismatched_model", "body.model"),
        (
            asked("b", body={**asked("b")["body"], "stream": True}),
            "streaming_unsupported",
            "body.stream",
        ),
    ],
)
def test_one_wrong_line_fails_the_batch(api: Api, line: Any, code: str, param: str | None) -> None:
    batched = api.stats()["batched"]
    ended = api.run([asked("a"), b"", line, asked("c")])
    assert ended.status == "failed" and ended.failed_at and ended.errors and ended.errors.data
    found = [(error.code, error.param, error.line) for error in ended.errors.data]
    assert found == [(code, param, 3)] and ended.errors.data[0].message
    assert (ended.output_file_id, ended.error_file_id) == (None, None)
    assert api.counts(ended)["total"] == 0
    assert api.stats()["batched"] == batched


def test_every_wrong_line_is_named(api: Api) -> None:
    ended = api.run([asked("a"), b"{", asked("a"), asked("b")])
    assert ended.errors and [error.line for error in ended.errors.data or []] == [2, 3]


def test_an_unknown_input_file_fails_the_batch(api: Api) -> None:
    ended = api.end(api.create("file-unknown"))
    assert ended.status == "failed" and ended.errors and ended.errors.data
    assert [(error.code, error.param) for error in ended.errors.data] == [
        ("invalid_request", "file_id")
    ]


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"endpoint": "/v1/embeddings"}, "endpoint"),
        ({"completion_window": "1h"}, "completion_window"),
        ({"input_file_id": None}, "input_file_id"),
        ({"input_file_id": 5}, "input_file_id"),
        ({"metadata": {"a": ["b"]}}, "metadata.a"),
        ({"metadata": {str(number): "x" for number in range(17)}}, "metadata"),
    ],
)
def test_a_wrong_order_is_refused(api: Api, changes: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        api.create("file-unknown", **changes)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("name", "lines"),
    [("input.txt", some(1)), ("input.jsonl", []), ("input.jsonl", [b"a,b"]), ("x.jsonl", [[1]])],
)
def test_a_file_that_is_no_batch_is_refused(api: Api, name: str, lines: list[Any]) -> None:
    with pytest.raises(openai.BadRequestError, match=r"Must be \.jsonl"):
        api.upload(lines, name)


def test_a_wrong_form_is_refused(api: Api) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        api.client.files.create(file=("input.jsonl", b"{}"), purpose="fine-tune")
    assert caught.value.param == "purpose"
    kind = "multipart/form-data; boundary=xyz"
    nameless = b"--xyz\r\nContent-Type: text/plain\r\n\r\nhello\r\n--xyz--\r\n"
    named = nameless.replace(b"Content-Type: text/plain", b'Content-Disposition: f; name="file"')
    for content_type, body in [
        ("application/json", b"{}"),
        ("multipart/form-data", named),
        (kind, b"hello"),
        (kind, named[:-9]),
        (kind, nameless),
        (kind, named),
    ]:
        answer = api.http.post("/v1/files", content=body, headers={"content-type": content_type})
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "invalid_request_error"


def test_a_file_over_the_limits_is_refused(api: Api) -> None:
    assert api.run(some(12)).status == "completed"
    with pytest.raises(openai.BadRequestError, match="12 requests at most") as caught:
        api.upload(some(13))
    assert caught.value.type == "invalid_request_error"
    with pytest.raises(openai.APIStatusError, match="4000 maximum") as too_large:
        api.upload([asked("a", "x" * 4000)])
    assert too_large.value.status_code == 413
