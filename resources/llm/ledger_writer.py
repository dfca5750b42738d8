"""Committing answers to the ledger off the event loop, as many at once as have come in."""

import asyncio

from resources.llm.ledger import Call, Ledger


class LedgerWriter:
    """Commits calls in batches while its block is entered; `add` returns when its call is durable."""

    def __init__(self, ledger: Ledger):
        self._ledger = ledger
        self._queue: asyncio.Queue[tuple[Call, asyncio.Future[None]]] = asyncio.Queue()

    async def __aenter__(self) -> "LedgerWriter":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._queue.join()
        self._task.cancel()

    async def add(self, call: Call) -> None:
        """Returns once `call` is committed."""
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((call, durable))
        # A caller that is cancelled must not take the paid-for answer with it.
        await asyncio.shield(durable)

    async def _run(self) -> None:
        while True:
            batch = [await self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get_nowait())
            try:
                await asyncio.to_thread(self._ledger.add, [call for call, _ in batch])
            except Exception as error:
                for _, durable in batch:
                    if not durable.done():
                        durable.set_exception(error)
            else:
                for _, durable in batch:
                    if not durable.done():
                        durable.set_result(None)
            finally:
                for _ in batch:
                    self._queue.task_done()
