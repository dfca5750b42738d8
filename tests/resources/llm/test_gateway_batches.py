"""The gateway in batch mode: submitted once, polled across restarts, results stored once."""

import asyncio
import gzip
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response, StreamingResponse

from methods.prompts.messages import Message
from resources.llm import batch_files, batches
from resources.llm.batch_files import read_results
from resources.llm.batches import BatchError, poll_open_batches
from resources.llm.budget import BudgetReached
from resources.llm.canary import ModelGivenUp
from resources.llm.estimate import highest_cost
from resources.llm.ledger import Call, Ledger
from resources.llm.ledger.batch_state import BatchState, FailedRequest
from resources.llm.model_calls import BatchPending, ModelCalls, WaitingForBatch
from resources.llm.request import ChatRequest, Completion, Failure, Outcome, request_key
from resources.llm.usage import Usage
from resources.mock_server.process import MockServerProcess
from tests.doubles.batch_api import BatchServer
from tests.resources.llm.entries import (
    BATCH_ITEM,
    AskingGateway,
    batch_result,
    charges_of,
    gateway_of,
    kinds,
    questions,
    spec_of,
)

pytestmark = pytest.mark.slow
ON_BOTH_STORES = pytest.mark.usefixtures("stores_on")


@pytest.fixture
def api() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture
def slow() -> Iterator[BatchServer]:
    """None of its batches ends during a test."""
    with BatchServer(batch_seconds=3600) as running:
        yield running


def make_gateway(folder, api, mode="batch", run="run-1", budget_usd=None, **more) -> AskingGateway:
    """A gateway as each run makes its own, over one ledger."""
    return gateway_of(folder, {"it": {**entry_on(api, mode), **more}}, budget_usd, run=run)


def entry_on(api: BatchServer, mode: str = "batch") -> dict[str, Any]:
    entry = {"model": "offline-careful", "identity": "the server, wherever it listens"}
    return entry | {"base_url": api.base_url, "mode": mode, "price": {"prompt": 1, "completion": 2}}


def hand_over(folder: Path, api: BatchServer, n: int, **entry: Any) -> None:
    """A run that ends with so many items in a batch."""
    with pytest.raises(WaitingForBatch, match=f"^s waits for batches with {n} of its items"):
        make_gateway(folder, api, **entry).ask("s", questions(n))


def ledger_of(folder: Path) -> Ledger:
    return Ledger(folder / "ledger.sqlite")


def state(folder: Path) -> BatchState:
    return BatchState(ledger_of(folder))


def poll(gateway: AskingGateway, folder: Path) -> list[str]:
    return poll_open_batches(gateway.registry, ledger_of(folder), MockServerProcess())


def sizes_of(api: BatchServer) -> list[int]:
    """How many requests each batch was handed over with, the newest first."""
    return [len(api.lines(batch)) for batch in api.batches]


def asked_until_done(folder, api, n, **entry) -> tuple[list, list[int]]:
    """Runs of the same stage until one comes to its end: its outcomes, how many waited each time."""
    waited = []
    for _ in range(8):
        try:
            return make_gateway(folder, api, **entry).ask("s", questions(n))[0], waited
        except WaitingForBatch as error:
            waited.append(int(str(error).split(" with ")[1].split()[0]))
            api.finish()
    raise AssertionError(f"still waiting after 8 runs: {waited}")


def packed(content: bytes) -> Response:
    return Response(gzip.compress(content), headers={"Content-Encoding": "gzip"})


def serve_files(monkeypatch, answer: Callable[[bytes], Response]) -> None:
    """Servers made from now on answer so with a file of results."""

    async def serve(self, request):
        return answer(self._files[request.path_params["id"]])

    monkeypatch.setattr(BatchServer, "_content", serve)


@ON_BOTH_STORES
def test_a_stage_in_batch_mode_hands_its_requests_over_and_says_that_it_waits(tmp_path, api):
    hand_over(tmp_path, api, 5)

    (batch,) = api.batches
    assert {line["body"]["messages"][0]["content"] for line in api.lines(batch)} == {
        f"Question {number}?" for number in range(5)
    }
    assert api.n_live == 0, "nothing is asked live"
    (kept,) = state(tmp_path).batches(still_open=True)
    assert (kept.model, kept.remote_id, kept.n_requests) == ("it", batch["id"], 5)
    waiting = state(tmp_path).waiting(kept.batch)
    assert {item.run for item in waiting.values()} == {"run-1"}
    # A run that reports an earlier failure of these requests takes none out of its new batch.
    state(tmp_path).delete_reported(waiting)
    assert state(tmp_path).waiting(kept.batch) == waiting


def test_the_next_run_takes_in_what_a_live_call_would_get_at_its_part_of_the_price(tmp_path, api):
    in_batch, waited = asked_until_done(tmp_path, api, 5)

    assert waited == [5]
    assert all(outcome.cached for outcome in in_batch)
    assert (api.n_live, api.n_batched) == (0, 5)
    assert state(tmp_path).batches(still_open=True) == []
    (tmp_path / "live").mkdir()
    live, usage = make_gateway(tmp_path / "live", api, "live").ask("s", questions(5))
    assert [each.text for each in in_batch] == [each.text for each in live]
    assert [each.key for each in in_batch] == [each.key for each in live], "one ledger for both"
    # Half the price, which is what `price.batch` is by default.
    assert sum(each.cost_usd for each in in_batch) == pytest.approx(usage.cost_usd / 2)
    assert {(call.via, call.run, call.stage) for call in ledger_of(tmp_path)} == {
        ("batch", "run-1", "s")
    }


@ON_BOTH_STORES
def test_live_and_batch_mix_and_no_request_is_paid_for_twice(tmp_path, slow):
    make_gateway(tmp_path, slow, "live").ask("s", questions(3))
    with pytest.raises(WaitingForBatch, match="with 4 of"):
        make_gateway(tmp_path, slow, "batch").ask("s", questions(7))

    # What is in the batch is not asked live meanwhile; what is in none is.
    with pytest.raises(WaitingForBatch, match="with 4 of"):
        make_gateway(tmp_path, slow, "live").ask("s", questions(9))

    assert (slow.n_live, slow.n_batched) == (5, 0)
    assert len(slow.batches) == 1


def test_work_of_several_calls_goes_as_far_as_it_can_each_time(tmp_path, api):
    async def converse(session, request):
        first = await session.complete(request)
        more = (*request.messages, Message.from_text("assistant", first.text), request.messages[0])
        return (await session.complete(ChatRequest("it", more, "q@1"))).text

    for _ in range(2):
        with pytest.raises(WaitingForBatch, match="with 3 of"):
            make_gateway(tmp_path, api).map("s", questions(3), converse)
        api.finish()
    results, _ = make_gateway(tmp_path, api).map("s", questions(3), converse)

    assert len(results) == 3 and all(results)
    assert (api.n_live, api.n_batched) == (0, 6) and len(api.batches) == 2, (
        "a batch a turn, not one a dialogue"
    )


@ON_BOTH_STORES
def test_of_two_runs_that_hand_the_same_over_at_once_both_wait_for_the_one_batch(tmp_path, api):
    both_want_it = threading.Barrier(2)

    async def want(session, request):
        try:
            return await session.complete(request)
        finally:
            await asyncio.to_thread(both_want_it.wait, 30)

    def run(gateway: AskingGateway) -> None:
        with pytest.raises(WaitingForBatch):
            gateway.map("s", questions(1), want)

    gateways = [make_gateway(tmp_path, api, run=name) for name in ("run-1", "run-2")]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, gateways))

    assert len(api.batches) == 1
    assert poll(gateways[0], tmp_path) == []
    assert sorted(state(tmp_path).ready_runs()) == ["run-1", "run-2"]


def test_a_run_whose_requests_are_answered_before_it_hands_them_over_does_not_wait(tmp_path, api):
    other, run = make_gateway(tmp_path, api, "live"), make_gateway(tmp_path, api)

    async def want(session, request):
        try:
            return await session.complete(request)
        except BatchPending:
            await asyncio.to_thread(other.ask, "s", [request])
            raise

    try:
        run.map("s", questions(1), want)
    except WaitingForBatch:
        # It is told that it is run again.
        assert state(tmp_path).ready_runs() == ["run-1"]


def test_a_look_that_takes_too_long_is_ended_in_good_order_and_the_others_are_polled(
    tmp_path, api, monkeypatch, caplog
):
    monkeypatch.setattr(batches, "_POLL_SECONDS", 2.0)
    slow = entry_on(api) | {"identity": "slow"}
    for model, entry in (("slow", slow), ("it", entry_on(api))):
        with pytest.raises(WaitingForBatch):
            gateway_of(tmp_path, {model: entry}).ask("s", questions(1, model))
    api.finish()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        slow["base_url"] = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        said = poll(gateway_of(tmp_path, {"slow": slow, "it": entry_on(api)}), tmp_path)

    assert said == ["The server of slow took more than 2 s to give its batches and their results."]
    assert [each.model for each in state(tmp_path).batches(still_open=True)] == ["slow"]
    assert caplog.text == ""


def test_more_than_a_file_may_hold_is_several_batches(tmp_path, slow, monkeypatch):
    monkeypatch.setattr(batch_files, "MOST_REQUESTS", 4)
    hand_over(tmp_path, slow, 10)
    assert sorted(sizes_of(slow)) == [2, 4, 4]

    line = len(json.dumps(slow.lines(slow.batches[0])[0]))
    monkeypatch.setattr(batch_files, "MOST_BYTES", 3 * (line + 5))
    hand_over(tmp_path, slow, 17)
    assert sorted(sizes_of(slow)[:3]) == [1, 3, 3]


def test_a_budget_has_to_hold_the_price_of_a_batch_and_not_that_of_live_calls(tmp_path, api):
    spec = make_gateway(tmp_path, api).registry.model("it")
    usd = sum(highest_cost(request, spec, "batch") for request in questions(3))
    with pytest.raises(BudgetReached):
        make_gateway(tmp_path, api, budget_usd=usd / 4).ask("s", questions(3))
    assert api.batches == []

    with pytest.raises(WaitingForBatch, match="with 3 of its items"):
        make_gateway(tmp_path, api, budget_usd=usd).ask("s", questions(3))


EXPIRED = {"kind": "batch_expire", "count": 2}
FULL = {"kind": "batch_fail", "count": 3, "code": "token_limit_exceeded"}


@pytest.mark.parametrize(
    ("faults", "waited", "sizes", "n_answered", "lost", "detail"),
    [
        ([EXPIRED], [5, 2], [2, 5], 5, {}, ""),
        ([{"kind": "batch_item_status", "status": 500, "count": 2}], [5, 2], [2, 5], 7, {}, ""),
        # The provider has no record of the first batch.
        ([{"kind": "batch_lost"}], [5, 5], [5], 5, {}, ""),
        ([{"kind": "large"}], [5], [5], 5, {"bad_response": 1}, "max_reply_bytes of it allows"),
        ([{"kind": "batch_fail"}], [5], [5], 0, {"bad_request": 5}, "failed"),
        # The queue may have room later.
        ([FULL], [5, 5, 5], [5, 5, 5], 0, {"rate_limited": 5}, "failed"),
        # Three batches, and no fourth.
        ([EXPIRED] * 3, [5, 2, 2], [2, 2, 5], 3, {"expired": 2}, "expired"),
    ],
    ids=["expired", "fails a while", "forgotten", "too large", "refused", "full", "expired thrice"],
)
def test_only_what_has_no_answer_is_handed_over_again_and_what_is_lost_for_good_is_a_failure(
    tmp_path, api, faults, waited, sizes, n_answered, lost, detail
):
    for fault in faults:
        api.fail(**fault)

    outcomes, waited_each_time = asked_until_done(tmp_path, api, 5, max_reply_bytes=1_000_000)

    assert (waited_each_time, sorted(sizes_of(api))) == (waited, sizes)
    assert (api.n_live, api.n_batched) == (0, n_answered), "no request is answered twice"
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert Counter(failure.kind for failure in failures) == lost
    assert all(detail in failure.detail for failure in failures)


@ON_BOTH_STORES
def test_what_would_fail_again_is_a_typed_failure_once_told_and_asked_anew_after_that(
    tmp_path, api
):
    api.fail("batch_item_status", status=400, count=1)

    outcomes, waited = asked_until_done(tmp_path, api, 3)

    assert waited == [3]
    (failure,) = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert failure.kind == "bad_request" and failure.detail
    with pytest.raises(WaitingForBatch, match="with 1 of"):
        make_gateway(tmp_path, api).ask("s", questions(3))


@ON_BOTH_STORES
def test_a_filtered_answer_in_a_batch_is_refused_and_what_it_cost_is_in_the_account(tmp_path, api):
    api.fail("content_filter")

    outcomes, waited = asked_until_done(tmp_path, api, 2)

    assert waited == [2]
    (refused,) = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert refused.kind == "refused"
    (charge,) = charges_of(ledger_of(tmp_path))
    assert (charge.key, charge.via) == (refused.key, "batch")
    # Taken in once more, as after a crash, it is charged once all the same.
    (batch,) = state(tmp_path).batches()
    state(tmp_path).store_results(
        batch.batch, [FailedRequest(charge.key, "refused", "No.", False, charge)]
    )
    assert charges_of(ledger_of(tmp_path)) == [charge]


@pytest.mark.parametrize(
    ("owner", "method", "waited"),
    [
        # Killed between the provider's yes and writing it down: it is found again.
        (BatchState, "mark_submitted", []),
        # Written down, and killed before it was sent.
        (batches.Batches, "_create", [3]),
    ],
)
def test_a_batch_whose_creation_was_cut_short_is_sent_once(
    tmp_path, api, monkeypatch, owner, method, waited
):
    (tmp_path / "other").mkdir()
    hand_over(tmp_path / "other", api, 2)

    def die(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, method, die)
        with pytest.raises(KeyboardInterrupt):
            make_gateway(tmp_path, api).ask("s", questions(3))
    assert state(tmp_path).batches(still_open=True)[0].remote_id is None
    api.finish()

    outcomes, waited_each_time = asked_until_done(tmp_path, api, 3)

    assert waited_each_time == waited and len(outcomes) == 3
    assert len(api.batches) == 2 and (api.n_live, api.n_batched) == (0, 5)


@ON_BOTH_STORES
def test_killed_amid_taking_in_nothing_is_lost_and_nothing_is_double(tmp_path, api, monkeypatch):
    monkeypatch.setattr(batches, "_RESULTS_AT_ONCE", 2)
    api.fail("content_filter")
    hand_over(tmp_path, api, 6)
    api.finish()
    kept, calls = BatchState.store_results, []

    def die_at_the_third(self, batch, results):
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        kept(self, batch, results)

    with monkeypatch.context() as patch:
        patch.setattr(BatchState, "store_results", die_at_the_third)
        with pytest.raises(KeyboardInterrupt):
            make_gateway(tmp_path, api).ask("s", questions(6))

    outcomes, _ = make_gateway(tmp_path, api).ask("s", questions(6))

    ledger = ledger_of(tmp_path)
    assert Counter(map(type, outcomes)) == {Completion: 5, Failure: 1}
    assert (len(ledger), len(charges_of(ledger))) == (5, 1)
    assert (api.n_live, api.n_batched) == (0, 6)


def test_garbage_in_a_file_costs_nobody_else_its_answer():
    lines = [
        b"", b"{", b"null", b"[" * 200_000, b'{"custom_id": "k"}', b'{"custom_id": "else"}',
        b'{"custom_id": "k", "response": {"status_code": 200, "body": "yes"}}',
        b'{"custom_id": "k", "response": {"status_code": 200, "body": {"choices": [{"message": '
        b'{"content": "fine"}}], "usage": {"prompt_tokens": 1e99, "completion_tokens": 1}}}}',
    ]  # fmt: skip

    results = read_results(lines, {"k": BATCH_ITEM}, spec_of())

    assert [type(each) for each in results] == [FailedRequest, Call]
    # An answer with separators of lines in it is one answer.
    text = "first\u2028second\u2029third\x85fourth"
    call = batch_result({"choices": [{"message": {"content": text}}]}, spec_of())
    assert isinstance(call, Call) and call.response == text


@ON_BOTH_STORES
def test_a_cancelled_batch_is_let_go_and_its_requests_may_be_asked_live(tmp_path, slow):
    hand_over(tmp_path, slow, 3)
    slow.cancel(slow.batches[0])
    assert poll(make_gateway(tmp_path, slow), tmp_path) == []

    outcomes, _ = make_gateway(tmp_path, slow, "live").ask("s", questions(3))

    assert all(isinstance(outcome, Completion) for outcome in outcomes)
    assert len(slow.batches) == 1 and state(tmp_path).ready_runs() == []


def test_a_field_refused_in_a_batch_gives_the_model_up_and_the_requests_may_be_sent_anew(tmp_path):
    gateway = gateway_of(tmp_path, {"it": {"base_url": "http://127.0.0.1:9/v1", "mode": "batch"}})
    spec, asked = gateway.registry.model("it"), questions(50, temperature=0)
    forms = {request_key(form): form for form in (each.canonical(spec) for each in asked)}
    items = {key: BATCH_ITEM._replace(key=key, request=form) for key, form in forms.items()}
    said = "Unsupported value: 'temperature' does not support 0 with this model."
    error = {"message": said, "param": "temperature", "code": "unsupported_value"}
    answer = {"status_code": 400, "body": {"error": error}}
    lines = [json.dumps({"custom_id": key, "response": answer}).encode() for key in items]
    of_batch = state(tmp_path)
    of_batch.add_batch("b", "it", list(items.values()))
    of_batch.store_results("b", read_results(lines, items, spec))

    with pytest.raises(ModelGivenUp, match="set `temperature: none`"):
        gateway.ask("s", asked)

    assert [of_batch.item(key) for key in items] == [None] * 50


def test_a_batch_of_an_entry_with_another_name_or_address_is_not_submitted_again(tmp_path, api):
    hand_over(tmp_path, api, 5)
    api.finish()
    with pytest.raises(BatchError, match="5 requests are in a batch of the entry it: put it back"):
        gateway_of(tmp_path, {"other": entry_on(api)}).ask("s", questions(5, "other"))
    with BatchServer() as elsewhere:
        with pytest.raises(BatchError, match=f"a batch of it at {api.base_url}, .*: set it back"):
            make_gateway(tmp_path, elsewhere).ask("s", questions(5))
        assert elsewhere.batches == []
    assert len(make_gateway(tmp_path, api).ask("s", questions(5))[0]) == 5
    assert len(api.batches) == 1


def test_a_batch_ends_whatever_the_server_says_of_its_counts_and_errors(tmp_path, api):
    hand_over(tmp_path, api, 2)
    api.finish()
    api.batches[0] |= {"request_counts": {"total": 1}, "errors": {"data": ["x"]}}

    outcomes, _ = make_gateway(tmp_path, api).ask("s", questions(2))

    assert [type(outcome) for outcome in outcomes] == [Completion, Completion]
    assert state(tmp_path).batches(still_open=True) == []


def test_a_server_without_batches_or_away_is_a_sentence_and_no_batch_is_lost(tmp_path, slow):
    with pytest.raises(BatchError, match="^A batch for it could not be uploaded: "):
        make_gateway(tmp_path, slow, base_url=slow.base_url + "/nothing").ask("s", questions(2))
    assert state(tmp_path).batches() == []

    hand_over(tmp_path, slow, 2)
    with pytest.raises(BatchError, match="^A batch of it could not be polled: "):
        make_gateway(tmp_path, slow, base_url="http://127.0.0.1:9/v1").ask("s", questions(2))
    assert len(state(tmp_path).batches(still_open=True)) == 1


async def dripping() -> AsyncIterator[bytes]:
    while True:
        yield b"{}\n"
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "seconds", "text"),
    [
        (lambda: packed(b" " * 21_000_000), 60.0, "unpacks to more than a text of its size"),
        (lambda: packed(b"\n" * 5_000), 60.0, "has too many lines for 2 requests"),
        (lambda: Response(b"{}\n" * 5_000), 60.0, "has too many lines for 2 requests"),
        (lambda: StreamingResponse(dripping()), 1.0, "The server of it took more than 1 s to give"),
    ],
    ids=["packed spaces", "packed blank lines", "lines", "without an end"],
)
def test_a_file_of_results_without_an_end_is_a_sentence_and_the_batch_stays_open(
    tmp_path, monkeypatch, answer, seconds, text
):
    monkeypatch.setattr(batches, "_POLL_SECONDS", 60.0)
    monkeypatch.setattr(batches, "_BATCH_SECONDS", seconds, raising=False)
    serve_files(monkeypatch, lambda _: answer())
    with BatchServer() as api:
        hand_over(tmp_path, api, 2)
        api.finish()
        (message,) = poll(make_gateway(tmp_path, api), tmp_path)

    assert text in message
    assert len(state(tmp_path).batches(still_open=True)) == 1


def test_a_packed_file_of_results_with_blank_lines_is_read(tmp_path, monkeypatch):
    serve_files(monkeypatch, lambda content: packed(content.replace(b"\n", b"\r\n \n")))
    with BatchServer() as api:
        outcomes, _ = asked_until_done(tmp_path, api, 5)

    assert [*map(type, outcomes)] == [Completion] * 5


def test_a_list_of_batches_without_an_end_is_a_sentence_and_the_batch_is_not_given_up(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(batches, "_POLL_SECONDS", 5.0)
    monkeypatch.setattr(batches, "_MOST_LISTED", 20, raising=False)

    async def next_page(self, request):
        batch = {"id": f"b{time.monotonic_ns()}", "created_at": int(time.time()), "metadata": {}}
        return JSONResponse({"object": "list", "data": [batch] * 10, "has_more": True})

    monkeypatch.setattr(BatchServer, "_list", next_page)
    with BatchServer() as api:
        with monkeypatch.context() as patch:
            patch.setattr(BatchState, "mark_submitted", lambda *_: None)
            hand_over(tmp_path, api, 2)
        (message,) = poll(make_gateway(tmp_path, api), tmp_path)

    assert message.startswith("The server of it lists more than 20 batches that are newer ")
    assert len(state(tmp_path).batches(still_open=True)) == 1


def map_next_to_live(folder: Path, api: BatchServer, **entry: Any) -> tuple[list[Outcome], Usage]:
    """30 requests in a batch, and as many to a live model that is isolated from it."""
    gateway = gateway_of(folder, {"it": entry_on(api) | entry, "live": entry_on(api, "live")})
    requests = [*questions(30), *questions(30, "live", temperature=1)]
    return gateway.map("s", requests, ModelCalls.complete, apart=lambda each: each.model)


def ask_next_to_live(folder: Path, api: BatchServer) -> list[Outcome]:
    return map_next_to_live(folder, api)[0]


def claim_more(api: BatchServer) -> None:
    """Only the first result of a batch is in its file, and its server counts many more."""
    api.finish()
    for batch in api.batches:
        file = batch["output_file_id"]
        api._files[file] = api._files[file].split(b"\n")[0]
        batch["request_counts"] = {"total": 10**9, "completed": 10**9, "failed": 0}


def make_overdue(folder: Path) -> None:
    with ledger_of(folder)._store.transaction() as connection:
        connection.exec_driver_sql("UPDATE batches SET created_at = '2026-01-01T00:00:00+00:00'")


def test_a_batch_is_not_asked_for_more_lines_than_it_has_requests(tmp_path, api):
    hand_over(tmp_path, api, 2)
    api.finish()
    api.batches[0]["request_counts"] = {"total": 10**9, "completed": 10**9, "failed": 10**9}

    outcomes, _ = make_gateway(tmp_path, api).ask("s", questions(2))

    assert [type(outcome) for outcome in outcomes] == [Completion, Completion]


def test_a_batch_whose_lines_never_come_ends_its_own_model_only(tmp_path, api):
    with pytest.raises(WaitingForBatch):
        ask_next_to_live(tmp_path, api)
    claim_more(api)
    outcomes = ask_next_to_live(tmp_path, api)

    assert [type(outcome) for outcome in outcomes[30:]] == [Completion] * 30
    ended = Counter(kinds(outcomes[:30]))
    assert ended == {"answered": 1, "given_up": 29}, "what came is used"
    (given_up, *_) = [outcome.detail for outcome in outcomes if isinstance(outcome, Failure)]
    assert given_up == ("The results of a batch of it have 1 of 30 lines so far: run again later.")


def test_a_batch_whose_lines_never_come_is_lost_in_the_end(tmp_path, api):
    hand_over(tmp_path, api, 30)
    claim_more(api)
    with pytest.raises(BatchError, match="have 1 of 30 lines so far: run again later"):
        make_gateway(tmp_path, api).ask("s", questions(30))
    make_overdue(tmp_path)
    # The missing requests are submitted again, as often as those of any batch.
    with pytest.raises(WaitingForBatch, match="with 29 of its items"):
        make_gateway(tmp_path, api).ask("s", questions(30))

    assert len(state(tmp_path).batches(still_open=True)) == 1


def test_a_batch_that_never_ends_keeps_the_others_waiting_for_two_days_at_most(tmp_path, slow):
    for _ in range(2):
        with pytest.raises(WaitingForBatch):
            ask_next_to_live(tmp_path, slow)
    assert state(tmp_path).ready_runs() == []
    make_overdue(tmp_path)
    assert len(state(tmp_path).ready_runs()) == 1, "the sensor continues the run"

    outcomes = ask_next_to_live(tmp_path, slow)

    assert Counter(kinds(outcomes)) == {"answered": 30, "given_up": 30}
    assert outcomes[0].detail == (
        "A batch of it has not ended 48 hours after its submission: cancel it at the provider, or run "
        "again later."
    )
    assert len(state(tmp_path).batches(still_open=True)) == 1, "its answers may come yet"


def test_a_batch_that_cannot_be_submitted_ends_its_own_model_only(tmp_path, api):
    outcomes, usage = map_next_to_live(tmp_path, api, base_url=api.base_url + "/nothing")

    assert Counter(kinds(outcomes)) == {"answered": 30, "given_up": 30}
    assert outcomes[0].detail.startswith("A batch for it could not be uploaded: ")
    # The live calls are made, and counted, once.
    assert (api.n_live, usage.calls, usage.cache_hits) == (30, 30, 0)
    assert usage.cost_usd > 0
