"""Requests handed to a provider in batches: cheaper, within a day, across restarts.

A batch is written down before it is sent and carries its own id to the provider, so that one whose
creation was cut short is found again instead of being sent, and paid for, twice. What belongs here:
handing over, looking after, finding again. What came back is read by `batch_results.py`, the rows are
`ledger/batch_state.py`'s.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple
from uuid import uuid4

from methods.errors import UserError
from resources.images.store import ImageStore
from resources.llm.batch_results import loss_of_batch, results
from resources.llm.clients import Clients, Launcher
from resources.llm.flights import Flights
from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import Batch, BatchState, Item, Lost
from resources.llm.registry import ModelSpec, Registry, RegistryError
from resources.llm.request import ChatRequest
from resources.llm.wire import wire_body

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch as RemoteBatch

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MOST_REQUESTS = 50_000
MOST_BYTES = 100_000_000
"""OpenAI takes 200 MB; half of it is what is held in memory."""
_RESULTS_AT_ONCE = 1_000
_ENDED = ("completed", "failed", "expired", "cancelled")
"""Statuses of a batch that is over; whatever else a provider may say, it is in work."""
_MAY_APPEAR_SECONDS = 600.0
"""How long a batch whose creation had no clear end may take to stand in the provider's list."""
_LOOK_SECONDS = 40.0
"""The longest that looking after all batches may take: Dagster gives a sensor's tick a minute."""
_MARK = "vlm_loom_batch"
_CLOCKS_DIFFER = 3600.0
"""Seconds by which the provider's clock may be behind ours."""


class BatchError(UserError):
    """A batch could not be handed over; the message says what became of it."""


class Wanted(NamedTuple):
    """A request that is to go into a batch."""

    request: ChatRequest
    canonical: dict[str, object]
    key: str


class Batches:
    """The batches of one ledger, seen from one event loop."""

    def __init__(self, registry: Registry, ledger: Ledger, clients: Clients, flights: Flights):
        self.state = BatchState(ledger)
        self._registry = registry
        self._clients = clients
        self._flights = flights
        self._looked_at: dict[str, asyncio.Task[None]] = {}

    async def hand_over(
        self, spec: ModelSpec, stage: str, run: str, wanted: Sequence[Wanted], images: ImageStore
    ) -> set[str]:
        """Hand requests to the model's provider; the batches they are in then. Raises BatchError.

        What another process handed over meanwhile is in that one's batch.
        """
        client, awaited = await self._clients.of(spec), set[str]()
        chunks = _chunks(wanted, spec, images)
        # One after another, and off the event loop: a batch's pictures fill a hundred megabytes.
        while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
            batch = uuid4().hex
            items = [
                Item(
                    *(each.key, batch, 0, "waiting", None, None, stage, run),
                    each.request.prompt_version,
                    each.canonical,
                )
                for each, _ in chunk
            ]
            # Who looks after open batches meanwhile is not to take this one for forgotten.
            async with self._flights.one(batch):
                taken = self.state.hand_over(batch, spec.name, items)
                # Who was quicker has put it into a batch that is then waited for.
                others = [self.state.item(each.key) for each, _ in chunk if each.key not in taken]
                awaited |= {other.batch for other in others if other}
                lines = b"".join(line for each, line in chunk if each.key in taken)
                if taken:
                    await self._create(client, spec, batch, lines)
                    awaited.add(batch)
        return awaited

    async def close(self) -> None:
        """Stop looking."""
        for task in self._looked_at.values():
            task.cancel()
        await asyncio.gather(*self._looked_at.values(), return_exceptions=True)

    async def look_after(self, batch: str) -> None:
        """Ask how a batch is doing, once however many want to know, and take in what it brought."""
        if batch not in self._looked_at:
            self._looked_at[batch] = asyncio.ensure_future(self._look_after(batch))
        await asyncio.shield(self._looked_at[batch])

    async def _look_after(self, name: str) -> None:
        from resources.llm.errors import ANY_TROUBLE, sentence

        async with self._flights.one(name):
            found = [batch for batch in self.state.batches(still_open=True) if batch.batch == name]
            if not found:
                return  # another process has just taken it in
            spec = self._registry.model(found[0].model)
            try:
                await self._ask_how_it_is(spec, found[0])
            except ANY_TROUBLE as error:
                raise BatchError(
                    f"A batch of {spec.name} could not be looked after: {sentence(error, spec)}"
                ) from None

    async def _ask_how_it_is(self, spec: ModelSpec, batch: Batch) -> None:
        client = await self._clients.of(spec)
        remote = await self._remote(client, batch)
        if remote is None:
            return
        if remote.status in _ENDED:
            await self._take_in(client, spec, batch, remote)
        else:
            self.state.seen(batch.batch, str(remote.status))

    async def _remote(self, client: "AsyncOpenAI", batch: Batch) -> "RemoteBatch | None":
        """The batch at its provider; None when there is none, which is noted."""
        import openai

        if batch.remote_id is None:
            written_down = datetime.fromisoformat(batch.created_at).timestamp()
            async for remote in client.batches.list(limit=100):
                if (remote.metadata or {}).get(_MARK) == batch.batch:
                    self.state.submitted(batch.batch, remote.id)
                    return remote
                if (remote.created_at or 0) < written_down - _CLOCKS_DIFFER:
                    break  # the list begins with the newest
            asked_for = batch.status == "creating"
            if not asked_for or time.time() - written_down > _MAY_APPEAR_SECONDS:
                self.state.never_sent(batch.batch)
            return None
        try:
            return await client.batches.retrieve(batch.remote_id)
        except openai.NotFoundError as error:
            # Only the API's own word counts: a proxy in front of it says 404 on a bad day, too.
            if not isinstance(error.body, dict):
                raise
            gone = Lost("", "expired", "The provider does not know the batch any more.", True)
            self.state.ended(batch.batch, "gone", gone)
            return None

    async def _take_in(
        self, client: "AsyncOpenAI", spec: ModelSpec, batch: Batch, remote: "RemoteBatch"
    ) -> None:
        import openai

        waiting, n_lines = self.state.waiting(batch.batch), 0
        for file in (remote.output_file_id, remote.error_file_id):
            if file is None:
                continue
            try:
                n_lines += await self._take_in_file(client, spec, batch, file, waiting)
            except openai.NotFoundError as error:
                if not isinstance(error.body, dict):
                    raise
        counts = remote.request_counts
        if counts and 0 < n_lines < counts.completed + counts.failed:
            said = f"{n_lines} of {counts.completed + counts.failed} lines came"
            raise BatchError(f"What a batch of {spec.name} brought is not whole yet: {said}.")
        self.state.ended(batch.batch, remote.status, loss_of_batch(remote, spec))

    async def _take_in_file(
        self,
        client: "AsyncOpenAI",
        spec: ModelSpec,
        batch: Batch,
        file: str,
        waiting: Mapping[str, Item],
    ) -> int:
        """Take in one file of a batch, a part at a time; how many lines it had."""
        n_lines, left = 0, b""
        async with client.files.with_streaming_response.content(file) as content:
            async for chunk in content.iter_bytes():
                # Lines end with a line feed alone: other separators may stand inside an answer.
                *lines, left = (left + chunk).split(b"\n")
                for start in range(0, len(lines), _RESULTS_AT_ONCE):
                    part = lines[start : start + _RESULTS_AT_ONCE]
                    self.state.take_in(batch.batch, results(part, waiting, spec))
                n_lines += sum(1 for line in lines if line.strip())
        self.state.take_in(batch.batch, results([left], waiting, spec))
        return n_lines + bool(left.strip())

    async def _create(
        self, client: "AsyncOpenAI", spec: ModelSpec, batch: str, lines: bytes
    ) -> None:
        from resources.llm.errors import ANY_TROUBLE, is_retryable, sentence

        try:
            file = await client.files.create(file=(f"{batch}.jsonl", lines), purpose="batch")
        except ANY_TROUBLE as error:
            self.state.never_sent(batch)
            said = sentence(error, spec)
            raise BatchError(f"A batch for {spec.name} could not be uploaded: {said}") from None
        self.state.seen(batch, "creating")
        try:
            remote = await client.batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={_MARK: batch},
            )
        except ANY_TROUBLE as error:
            said = sentence(error, spec)
            if is_retryable(error):
                # It may have been created all the same: the next look finds out.
                said += " Run again: if it was taken it is found, if not it is sent."
            else:
                self.state.never_sent(batch)
            raise BatchError(f"A batch for {spec.name} could not be created: {said}") from None
        self.state.submitted(batch, remote.id)


def _chunks(
    wanted: Sequence[Wanted], spec: ModelSpec, images: ImageStore
) -> Iterator[list[tuple[Wanted, bytes]]]:
    """The lines of each batch's file, as many as a file may hold."""
    chunk: list[tuple[Wanted, bytes]] = []
    n_bytes = 0
    for each in wanted:
        body = wire_body(each.request, spec, images)
        row = {"custom_id": each.key, "method": "POST", "url": ENDPOINT, "body": body}
        line = json.dumps(row).encode() + b"\n"
        if chunk and (len(chunk) == MOST_REQUESTS or n_bytes + len(line) > MOST_BYTES):
            yield chunk
            chunk, n_bytes = [], 0
        chunk.append((each, line))
        n_bytes += len(line)
    if chunk:
        yield chunk


def look_after_all(registry: Registry, ledger: Ledger, launcher: Launcher) -> list[str]:
    """Look after every batch that has not ended; sentences on those that could not be."""

    troubles: list[str] = []

    async def look() -> None:
        flights = Flights(ledger.path)
        try:
            async with Clients(launcher) as clients, AsyncExitStack() as stack:
                batches = Batches(registry, ledger, clients, flights)
                stack.push_async_callback(batches.close)
                for batch in batches.state.batches(still_open=True):
                    try:
                        await batches.look_after(batch.batch)
                    except (BatchError, RegistryError) as error:
                        troubles.append(str(error))
                    except Exception as error:
                        # One batch that nobody foresaw must not keep the others from their runs.
                        what = type(error).__name__
                        troubles.append(f"Looking after batch {batch.batch} ended in {what}.")
        finally:
            flights.close()
            launcher.stop()

    async def look_for_a_while() -> None:
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await look()
        except TimeoutError:
            troubles.append("A provider took too long to say how its batches are.")

    asyncio.run(look_for_a_while())
    return troubles
