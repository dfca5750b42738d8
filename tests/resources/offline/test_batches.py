"""The offline server's batches, through the real client: their answers, faults and ends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import get_args

import openai
import pytest
from openai.types import Batch

from tests.resources.offline.offline_batching import CHAT, MODEL, Api, asked, serving, some
from tests.resources.offline.offline_drawings import chat_messages, draw

STATUSES = get_args(Batch.model_fields["status"].annotation)


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with serving() as found:
        yield found


def test_round_trip(api: Api) -> None:
    lines = [json.dumps(line).encode() for line in some(3)]
    data = b"\n".join([*lines, b""])
    uploaded = api.client.files.create(file=("größe.jsonl", data), purpose="batch")
    assert (uploaded.filename, uploaded.bytes, uploaded.purpose) == (
        "größe.jsonl",
        len(data),
        "batch",
    )
    assert api.client.files.retrieve(uploaded.id) == uploaded
    assert api.client.files.content(uploaded.id).content == data

    begun = api.create(uploaded.id, metadata={"run": "7"})
    assert begun.status == "validating" and begun.metadata == {"run": "7"}
    ended = api.end(begun)
    assert (ended.status, ended.model, ended.endpoint) == ("completed", MODEL, CHAT)
    assert ended.input_file_id == uploaded.id and ended.expires_at == ended.created_at + 86400
    assert api.counts(ended) == {"total": 3, "completed": 3, "failed": 0}
    assert ended.error_file_id is None and ended.errors is None
    moved = [status for status in STATUSES if getattr(ended, f"{status}_at", None)]
    assert sorted(moved) == ["completed", "finalizing", "in_progress"]

    output = api.lines(ended.output_file_id)
    assert set(output) == {"r0", "r1", "r2"}
    assert all(line["id"].startswith("batch_req_") for line in output.values())
    assert all(line["response"]["status_code"] == 200 for line in output.values())
    assert all(line["response"]["request_id"] for line in output.values())
    assert all(line["error"] is None for line in output.values())
    spent = [line["response"]["body"]["usage"]["total_tokens"] for line in output.values()]
    assert ended.usage is not None and ended.usage.total_tokens == sum(spent) > 0

    for file_id in (uploaded.id, ended.output_file_id or ""):
        assert api.client.files.delete(file_id).deleted
        with pytest.raises(openai.NotFoundError):
            api.client.files.content(file_id)


def test_answers_are_those_of_live_calls_with_pictures_too(api: Api) -> None:
    lines = [
        asked(f"{colour} {number}", f"What is in <image-{number}>?", model="offline-careless")
        for colour in ("red", "blue")
        for number in range(3)
    ]
    for line in lines:
        colour = line["custom_id"].split()[0]
        question = line["body"]["messages"][0]["content"]
        line["body"] |= {"messages": chat_messages([draw(colour, "white")], question), "seed": 3}
    output = api.lines(api.run(lines).output_file_id)
    for line in lines:
        live = api.http.post(CHAT, json=line["body"])
        assert output[line["custom_id"]]["response"]["body"] == live.json()


def test_output_is_not_in_the_order_of_the_input_but_always_in_the_same(api: Api) -> None:
    for count in (2, 3, 10):
        runs = [list(api.lines(api.run(some(count)).output_file_id)) for _ in range(2)]
        names = [line["custom_id"] for line in some(count)]
        assert runs[0] == runs[1] != names and sorted(runs[0]) == sorted(names)


def test_requests_of_batches_are_counted_apart_from_live_calls(api: Api) -> None:
    before = api.stats()
    api.run(some(4))
    after = api.stats()
    assert after["batched"] - before["batched"] == 4
    assert (after["calls"], after["by_model"]) == (before["calls"], before["by_model"])


def test_a_request_that_a_live_call_refuses_goes_to_the_error_file(api: Api) -> None:
    bad = asked("bad")
    bad["body"]["messages"][0]["content"] = [{"type": "sound"}]
    ended = api.run([asked("good"), bad])
    assert ended.status == "completed"
    assert api.counts(ended) == {"total": 2, "completed": 1, "failed": 1}
    assert set(api.lines(ended.output_file_id)) == {"good"}
    errors = api.lines(ended.error_file_id)
    live = api.http.post(CHAT, json=bad["body"])
    assert errors["bad"]["response"]["status_code"] == live.status_code == 400
    assert errors["bad"]["response"]["body"] == live.json() and errors["bad"]["error"] is None


def test_requests_fail_on_demand(api: Api) -> None:
    api.fault(kind="batch_item_status", status=429, count=3, model=MODEL)
    assert api.run([asked("x", model="offline-judge")]).error_file_id is None
    ended = api.run(some(2))
    assert ended.status == "completed" and ended.output_file_id is None
    errors = api.lines(ended.error_file_id)
    assert [line["response"]["status_code"] for line in errors.values()] == [429, 429]
    body = errors["r0"]["response"]["body"]
    assert body["error"]["type"] == "rate_limit_error"
    ended = api.run(some(2))
    assert len(api.lines(ended.output_file_id)) == len(api.lines(ended.error_file_id)) == 1


def test_answers_suffer_in_batches_what_they_suffer_live_but_connections_do_not(api: Api) -> None:
    for kind in ("status", "content_filter", "empty_choices"):
        api.fault(kind=kind)
    output = api.lines(api.run(some(3)).output_file_id)
    choices = [line["response"]["body"]["choices"] for line in output.values()]
    assert [len(found) for found in choices] == [1, 0, 1]
    assert [choices[0][0]["finish_reason"], choices[2][0]["finish_reason"]] == [
        "content_filter",
        "stop",
    ]
    assert api.http.post(CHAT, json=asked("a")["body"]).status_code == 500


@pytest.mark.parametrize(("count", "answered"), [(2, 3), (9, 0)])
def test_a_batch_that_expires_keeps_what_was_answered(api: Api, count: int, answered: int) -> None:
    api.fault(kind="batch_expire", count=count)
    ended = api.run(some(5))
    assert ended.status == "expired" and ended.expired_at and ended.completed_at is None
    assert api.counts(ended) == {"total": 5, "completed": answered, "failed": 0}
    output = api.lines(ended.output_file_id) if answered else {}
    assert (ended.output_file_id is None) == (answered == 0)
    expired = api.lines(ended.error_file_id)
    assert sorted([*output, *expired]) == [f"r{number}" for number in range(5)]
    assert all(line["response"] is None for line in expired.values())
    assert {line["error"]["code"] for line in expired.values()} == {"batch_expired"}
    assert api.run(some(5)).status == "completed"


def test_a_batch_fails_or_is_lost_on_demand(api: Api) -> None:
    api.fault(kind="batch_fail")
    api.fault(kind="batch_lost")
    failed = api.run(some(1))
    assert failed.status == "failed" and failed.errors and failed.errors.data
    assert failed.errors.data[0].code == "batch_fail"
    lost = api.begin(some(1))
    assert lost.status == "validating"
    with pytest.raises(openai.NotFoundError):
        api.client.batches.retrieve(lost.id)
    assert api.run(some(1)).status == "completed"


def test_a_batch_takes_its_time_and_a_cancelled_one_keeps_what_was_answered() -> None:
    with serving(batch_seconds=2.0) as slow:
        begun = time.monotonic()
        whole, part = slow.begin(some(1)), slow.begin(some(20))
        while part.status == "validating" or not slow.counts(part)["completed"]:
            time.sleep(0.01)
            part = slow.client.batches.retrieve(part.id)
        assert part.status == "in_progress"
        cancelling = slow.client.batches.cancel(part.id)
        assert cancelling.status == "cancelling" and cancelling.cancelling_at
        ended = slow.end(cancelling)
        assert ended.status == "cancelled" and ended.cancelled_at
        output, errors = slow.lines(ended.output_file_id), slow.lines(ended.error_file_id)
        assert slow.counts(ended)["completed"] == len(output) < 20
        assert len(output) + len(errors) == 20
        assert {line["error"]["code"] for line in errors.values()} == {"batch_cancelled"}
        assert slow.client.batches.cancel(part.id).status == "cancelled"

        assert slow.client.batches.retrieve(whole.id).status == "in_progress"
        assert slow.end(whole).status == "completed" and time.monotonic() - begun >= 2.0
        with pytest.raises(openai.ConflictError, match="Cannot cancel a batch with status"):
            slow.client.batches.cancel(whole.id)


def test_batches_are_listed_from_the_newest_page_by_page(api: Api) -> None:
    made = [api.run(some(1)).id for _ in range(3)]
    first = api.client.batches.list(limit=2)
    assert [batch.id for batch in first.data] == made[:0:-1] and first.has_more
    assert [batch.id for batch in api.client.batches.list(after=made[1])][0] == made[0]
    everything = [batch.id for batch in api.client.batches.list(limit=2)]
    assert everything[:3] == made[::-1] and len(set(everything)) == len(everything)
    with pytest.raises(openai.BadRequestError):
        api.client.batches.list(limit=101)


def test_what_is_unknown_is_404(api: Api) -> None:
    files, batches = api.client.files, api.client.batches
    for ask in (files.retrieve, files.content, files.delete, batches.retrieve, batches.cancel):
        with pytest.raises(openai.NotFoundError, match="-unknown"):
            ask("some-unknown")
    with pytest.raises(openai.NotFoundError):
        batches.list(after="some-unknown")
