"""Batch APIs: requests submitted to a provider together, cheaper and answered within a day.

A batch is recorded before it is submitted, and its id is in the metadata that the provider keeps. A
batch whose creation was interrupted is found again by that id, instead of being submitted, and paid
for, twice.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from methods.errors import UserError
from resources.files.bounded import is_packed_twice, unpacked_limit
from resources.images.store import ImageStore
from resources.llm.batch_files import ENDPOINT, files_of, lost_with_batch, read_results, too_large
from resources.llm.clients import Clients, Launcher
from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import (
    ENDS_WITHIN_HOURS,
    Batch,
    BatchItem,
    BatchState,
    FailedRequest,
)
from resources.llm.masking import mask
from resources.llm.model_spec import ModelSpec, RegistryError
from resources.llm.registry import Registry
from resources.llm.request_keys import KeyedRequest
from resources.llm.request_locks import RequestLocks

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch as RemoteBatch


_RESULTS_AT_ONCE = 1_000
_ENDED = ("completed", "failed", "expired", "cancelled")
"""Statuses of a batch that has ended; with any other status it is in progress."""
_MAY_APPEAR_SECONDS = 600.0
"""Seconds within which a batch must appear in the provider's list if the request that
created it got no clear answer."""
_POLL_SECONDS = 40.0
"""The most seconds for polling the batches of a model: Dagster stops a sensor after a minute."""
_BATCH_SECONDS = 1800.0
"""The most seconds in which a run polls a batch and reads its results: 280 kB/s for 500 MB."""
_MOST_LISTED = 10_000
"""The most batches of a provider's list, 100 a page, among which a batch is searched."""
_LINES_PER_REQUEST, _SPARE_LINES = 2, 1_000
"""A file of results may have this many lines for each request of its batch, and these in addition."""
_MARK = "vlm_loom_batch"
_CLOCKS_DIFFER = 3600.0
"""The most seconds by which the provider's clock may be behind this machine's clock."""


class BatchError(UserError):
    """A batch could not be submitted or polled; the message says what became of it."""


class Batches:
    """The batches in one ledger, used from one event loop."""

    def __init__(self, registry: Registry, ledger: Ledger, clients: Clients, locks: RequestLocks):
        self.state = BatchState(ledger)
        self._registry = registry
        self._clients = clients
        self._locks = locks
        self._polls: dict[str, asyncio.Task[None]] = {}

    async def submit(
        self,
        spec: ModelSpec,
        stage: str,
        run: str,
        wanted: Sequence[KeyedRequest],
        images: ImageStore,
    ) -> set[str]:
        """Submit requests to the model's provider.

        A request that another process submitted meanwhile stays in that process's batch. A request that
        cannot be sent is stored as failed.

        Args:
            spec: The entry of the model.
            stage: The stage that makes the requests.
            run: The run that makes the requests.
            wanted: The requests.
            images: The store with their images.

        Returns:
            The ids of the batches that contain the requests.

        Raises:
            BatchError: The provider did not accept a batch.
        """
        client, awaited = (await self._clients.client(spec)).api, set[str]()
        files = files_of(wanted, spec, images)
        # Batches are encoded one after another, in a thread: a file with its images takes up to 100 MB.
        while (file := await asyncio.to_thread(next, files, None)) is not None:
            batch = uuid4().hex
            items = [
                BatchItem(
                    *(keyed.key, batch, 0, "waiting", None, None, stage, run),
                    keyed.request.prompt_version,
                    keyed.canonical,
                )
                for keyed, _ in file
            ]
            # Without the lock, a process that polls open batches could record this one as never sent.
            async with self._locks.hold(batch):
                own_keys = self.state.add_batch(batch, spec.name, items, spec.address())
                # A request that another process took first is in a batch of that process.
                others = [
                    self.state.item(keyed.key) for keyed, _ in file if keyed.key not in own_keys
                ]
                awaited |= {other.batch for other in others if other}
                lines = [line for keyed, line in file if keyed.key in own_keys]
                lost = [line for line in lines if isinstance(line, FailedRequest)]
                self.state.store_results(batch, lost)
                if len(lost) < len(lines):
                    sent = b"".join(line for line in lines if isinstance(line, bytes))
                    await self._create(client, spec, batch, sent)
                    awaited.add(batch)
                elif lost:
                    self.state.mark_ended(batch, "failed", lost[-1])
        return awaited

    async def close(self) -> None:
        """Stop polling."""
        for task in self._polls.values():
            task.cancel()
        await asyncio.gather(*self._polls.values(), return_exceptions=True)

    async def poll(self, batch: str) -> None:
        """Request a batch's status and store its results. Concurrent callers share one request."""
        if batch not in self._polls:
            self._polls[batch] = asyncio.ensure_future(self._poll(batch))
        await asyncio.shield(self._polls[batch])

    async def _poll(self, name: str) -> None:
        from resources.llm.errors import ANY_TROUBLE, sentence

        async with self._locks.hold(name):
            batches = [
                batch for batch in self.state.batches(still_open=True) if batch.batch == name
            ]
            if not batches:
                return  # another process has just stored its results
            try:
                spec = self._registry.model(batches[0].model)
            except RegistryError as error:
                raise BatchError(
                    f"{batches[0].n_requests} requests are in a batch of the entry {batches[0].model}: "
                    f"put it back into models.yaml until their answers are read. {error}"
                ) from None
            limit = asyncio.timeout(_BATCH_SECONDS)
            try:
                async with limit:
                    client = (await self._clients.client(spec)).api
                    remote = await self._remote(client, spec, batches[0])
                    if remote is not None and remote.status in _ENDED:
                        await self._store_results(client, spec, batches[0], remote)
                    elif remote is not None:
                        self.state.update_status(name, str(remote.status))
                        if _is_overdue(batches[0]):
                            raise BatchError(
                                f"A batch of {spec.name} has not ended {ENDS_WITHIN_HOURS} hours "
                                "after its submission: cancel it at the provider, or run again later."
                            )
            except ANY_TROUBLE as error:
                if limit.expired():
                    raise BatchError(_too_slow(spec.name, _BATCH_SECONDS)) from None
                raise BatchError(
                    f"A batch of {spec.name} could not be polled: {sentence(error, spec)}"
                ) from None

    async def _remote(
        self, client: "AsyncOpenAI", spec: ModelSpec, batch: Batch
    ) -> "RemoteBatch | None":
        """Get the batch from its provider; record and return None if the provider lacks it."""
        import openai

        if batch.remote_id is None:
            recorded, n_listed = datetime.fromisoformat(batch.created_at).timestamp(), 0
            async for remote in client.batches.list(limit=100):
                if (remote.metadata or {}).get(_MARK) == batch.batch:
                    self.state.mark_submitted(batch.batch, remote.id)
                    return remote
                if (remote.created_at or 0) < recorded - _CLOCKS_DIFFER:
                    break  # the list begins with the newest batch
                n_listed += 1
                if n_listed > _MOST_LISTED:
                    raise BatchError(
                        f"The server of {spec.name} lists more than {_MOST_LISTED} batches that are "
                        "newer than a batch of this workspace: correct base_url in models.yaml, or run "
                        "again later."
                    )
            was_requested = batch.status == "creating"
            if was_requested:
                _require_same_address(batch, spec)
            if not was_requested or time.time() - recorded > _MAY_APPEAR_SECONDS:
                self.state.discard_unsent(batch.batch)
            return None
        try:
            return await client.batches.retrieve(batch.remote_id)
        except openai.NotFoundError as error:
            # Only an answer of the API itself counts: a proxy in front of it may send a 404, too.
            if not isinstance(error.body, dict):
                raise
            _require_same_address(batch, spec)
            gone = FailedRequest(
                "", "expired", "The provider does not know the batch any more.", True
            )
            self.state.mark_ended(batch.batch, "gone", gone)
            return None

    async def _store_results(
        self, client: "AsyncOpenAI", spec: ModelSpec, batch: Batch, remote: "RemoteBatch"
    ) -> None:
        import openai

        waiting, n_lines = self.state.waiting(batch.batch), 0
        for file in (remote.output_file_id, remote.error_file_id):
            if file is None:
                continue
            try:
                n_lines += await self._store_file(client, spec, batch, file, waiting)
            except openai.NotFoundError as error:
                if not isinstance(error.body, dict):
                    raise
        counts = remote.request_counts
        stated = [getattr(counts, name, None) for name in ("completed", "failed")]
        n_stated = min(sum(count for count in stated if isinstance(count, int)), batch.n_requests)
        if 0 < n_lines < n_stated and not _is_overdue(batch):
            raise BatchError(
                f"The results of a batch of {spec.name} have {n_lines} of {n_stated} lines so far: "
                "run again later."
            )
        self.state.mark_ended(batch.batch, remote.status, lost_with_batch(remote, spec))

    async def _store_file(
        self,
        client: "AsyncOpenAI",
        spec: ModelSpec,
        batch: Batch,
        file: str,
        waiting: Mapping[str, BatchItem],
    ) -> int:
        """Store the results in one file of a batch, part by part. Returns its number of lines."""
        n_lines, remainder, skipping = 0, b"", False
        n_bytes, n_ends, most_ends = 0, 0, _LINES_PER_REQUEST * batch.n_requests + _SPARE_LINES
        async with client.files.with_streaming_response.content(file) as content:
            if is_packed_twice(content.headers):
                raise _not_results(spec, "is compressed several times")
            async for chunk in content.iter_bytes():
                # Parts that are already decoded would keep the loop from everything else.
                await asyncio.sleep(0)
                n_bytes += len(chunk)
                if n_bytes > unpacked_limit(content.http_response.num_bytes_downloaded):
                    raise _not_results(spec, "unpacks to more than a text of its size")
                n_ends += chunk.count(b"\n")
                if n_ends > most_ends:
                    raise _not_results(spec, f"has too many lines for {batch.n_requests} requests")
                if skipping:
                    _, ended, chunk = chunk.partition(b"\n")
                    skipping = not ended
                # Only a line feed ends a line: an answer may contain other line separators.
                *lines, remainder = (remainder + chunk).split(b"\n")
                lines = [line for line in lines if line.strip()]
                for start in range(0, len(lines), _RESULTS_AT_ONCE):
                    part = lines[start : start + _RESULTS_AT_ONCE]
                    self.state.store_results(batch.batch, read_results(part, waiting, spec))
                n_lines += len(lines)
                if len(remainder) > spec.max_reply_bytes:
                    self.state.store_results(batch.batch, too_large(remainder, waiting, spec))
                    n_lines, remainder, skipping = n_lines + 1, b"", True
        self.state.store_results(batch.batch, read_results([remainder], waiting, spec))
        return n_lines + bool(remainder.strip())

    async def _create(
        self, client: "AsyncOpenAI", spec: ModelSpec, batch: str, lines: bytes
    ) -> None:
        from resources.llm.errors import ANY_TROUBLE, is_retryable, sentence

        try:
            file = await client.files.create(file=(f"{batch}.jsonl", lines), purpose="batch")
        except ANY_TROUBLE as error:
            self.state.discard_unsent(batch)
            reason = sentence(error, spec)
            raise BatchError(f"A batch for {spec.name} could not be uploaded: {reason}") from None
        self.state.update_status(batch, "creating")
        try:
            remote = await client.batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={_MARK: batch},
            )
        except ANY_TROUBLE as error:
            reason = sentence(error, spec)
            if is_retryable(error):
                # The batch may have been created nevertheless: the next poll finds out.
                reason += " Run again: if it was created it is found, if not it is submitted again."
            else:
                self.state.discard_unsent(batch)
            raise BatchError(f"A batch for {spec.name} could not be created: {reason}") from None
        self.state.mark_submitted(batch, remote.id)


def _is_overdue(batch: Batch) -> bool:
    """Tell whether the provider had more than enough time for a batch and its results."""
    seconds = time.time() - datetime.fromisoformat(batch.created_at).timestamp()
    return seconds > 3600 * ENDS_WITHIN_HOURS


def _require_same_address(batch: Batch, spec: ModelSpec) -> None:
    """Raise BatchError if a batch that the server does not know was submitted to another address."""
    if batch.address is not None and batch.address != spec.address():
        raise BatchError(
            f"{batch.n_requests} requests are in a batch of {spec.name} at "
            f"{mask(batch.address, spec)}, and its address is another one now: set it back in "
            "models.yaml until their answers are read."
        )


def _not_results(spec: ModelSpec, reason: str) -> BatchError:
    """Make the error for a file that is not the result file of a batch."""
    return BatchError(
        f"A file of results of a batch of {spec.name} {reason}: the server sends something else."
    )


def _too_slow(model: str, seconds: float) -> str:
    return (
        f"The server of {model} took more than {seconds:g} s to give its batches and their results."
    )


def poll_open_batches(registry: Registry, ledger: Ledger, launcher: Launcher) -> list[str]:
    """Poll every batch that has not ended.

    Args:
        registry: The models.
        ledger: The ledger, which stores the results.
        launcher: Starts the mock model server if a batch needs it.

    Returns:
        An error message for each batch that could not be polled.
    """

    troubles: list[str] = []

    async def poll_model(batches: Batches, model: str, names: Sequence[str]) -> None:
        try:
            async with asyncio.timeout(_POLL_SECONDS):
                for name in names:
                    try:
                        await batches.poll(name)
                    except (BatchError, RegistryError) as error:
                        troubles.append(str(error))
                    except Exception as error:
                        # An unexpected error of one batch must not stop the others.
                        what = type(error).__name__
                        troubles.append(f"Polling batch {name} ended in {what}.")
        except TimeoutError:
            troubles.append(_too_slow(model, _POLL_SECONDS))

    async def poll_each() -> None:
        locks = RequestLocks(ledger.path)
        try:
            async with Clients(launcher) as clients, AsyncExitStack() as stack:
                batches = Batches(registry, ledger, clients, locks)
                stack.push_async_callback(batches.close)
                of_model: dict[str, list[str]] = {}
                for batch in batches.state.batches(still_open=True):
                    of_model.setdefault(batch.model, []).append(batch.batch)
                # Models are polled at the same time: a slow server must not hold up the others.
                await asyncio.gather(
                    *(poll_model(batches, model, names) for model, names in of_model.items())
                )
        finally:
            locks.close()
            launcher.stop()

    asyncio.run(poll_each())
    return troubles
