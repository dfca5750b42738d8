"""What the gateway costs: against the ideal, plain asyncio and a pool of threads, on loopback.

Run by `make bench NAME=gateway`. Every figure is taken in a process of its own, and the API is a
stand-in in another. Prints tables, and as the last line all figures as one JSON object.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.bench import measuring
from tests.bench.measuring import Row

N, MANY = 2_000, 20_000
LATENCY_MS, IN_FLIGHT = 200, 64
IDEAL_SECONDS = N / IN_FLIGHT * LATENCY_MS / 1000
LIMIT, LIMITED = 1_200, 3_000
"""Requests per minute, and requests asked under that limit: two minutes and a half."""
MODELS = """
profiles: {{p: {{writer: it, judge: it, evaluate: [it]}}}}
models:
  it: {{provider: openai, base_url: "{url}", concurrency: {in_flight}, requests_per_minute: {limit}}}
"""


def text(number: int) -> str:
    return f"Question {number}: which way is north?"


def ask_gateway(url: str, n: int, limit: int = 0) -> None:
    """All requests through the project's gateway with an empty ledger."""
    from methods.prompts.messages import Message
    from resources.images.store import ImageStore
    from resources.llm.gateway import Gateway
    from resources.llm.ledger import Ledger
    from resources.llm.model_calls import ModelCalls
    from resources.llm.registry import load_registry
    from resources.llm.request import ChatRequest, Completion
    from resources.mock_server.process import MockServerProcess

    class Questions(Sequence[ChatRequest]):
        """Made one by one as they are asked, so that what is measured is the gateway's memory."""

        def __len__(self) -> int:
            return n

        def __getitem__(self, number: Any) -> Any:
            if number >= n:
                raise IndexError
            return ChatRequest("it", (Message.from_text("user", text(number)),), "bench@1")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = folder / "models.yaml"
        models.write_text(MODELS.format(url=url, in_flight=IN_FLIGHT, limit=limit or "null"))
        ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
        gateway = Gateway(load_registry(models), "p", ledger, images, launcher=MockServerProcess())
        outcomes, usage = gateway.map("bench", Questions(), ModelCalls.complete)
        assert usage.calls == n and all(isinstance(each, Completion) for each in outcomes)


def ask_asyncio(url: str, n: int, limit: int = 0) -> None:
    """All requests by the plain client under a semaphore, nothing kept."""
    from openai import AsyncOpenAI

    async def ask_all() -> None:
        places = asyncio.Semaphore(IN_FLIGHT)
        async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:

            async def ask(number: int) -> None:
                async with places:
                    reply = await client.chat.completions.create(
                        model="it", messages=[{"role": "user", "content": text(number)}]
                    )
                    assert reply.choices[0].message.content

            await asyncio.gather(*(ask(number) for number in range(n)))

    asyncio.run(ask_all())


def ask_threads(url: str, n: int, limit: int = 0) -> None:
    """All requests by the plain blocking client in a pool of threads, nothing kept."""
    from openai import OpenAI

    with (
        OpenAI(api_key="none", base_url=url, max_retries=0) as client,
        ThreadPoolExecutor(IN_FLIGHT) as pool,
    ):

        def ask(number: int) -> None:
            reply = client.chat.completions.create(
                model="it", messages=[{"role": "user", "content": text(number)}]
            )
            assert reply.choices[0].message.content

        list(pool.map(ask, range(n)))


WAYS: dict[str, Callable[..., None]] = {
    "gateway": ask_gateway,
    "asyncio": ask_asyncio,
    "threads": ask_threads,
}


def serve(low_ms: str, high_ms: str) -> None:
    """The stand-in, until its standard input is closed; a line there is answered with when each
    request since the last one arrived."""
    from tests.doubles.openai_api import Api

    arrivals: list[float] = []

    def tell() -> None:
        while sys.stdin.readline():
            print(json.dumps(arrivals), flush=True)
            arrivals.clear()

    async def run() -> None:
        api = Api((float(low_ms), float(high_ms)), lambda *_: arrivals.append(time.monotonic()))
        print(await api.listen(), flush=True)
        await asyncio.to_thread(tell)

    asyncio.run(run())


def arrivals_of(server: "subprocess.Popen[str]") -> list[float]:
    """When each request came since the last time this was asked."""
    assert server.stdin and server.stdout
    server.stdin.write("arrivals\n")
    server.stdin.flush()
    return list(json.loads(server.stdout.readline()))


def worked(server: "subprocess.Popen[str]") -> float:
    """Seconds of processor time that it has had."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(way: str, url: str, *numbers: str) -> Row:
    """The figures of one way, here and now. Imports and a first call are not counted."""
    ask, (n, limit) = WAYS[way], map(int, numbers)
    ask(url, 1)
    base_mib, stages = measuring.peak_mib(), dict[str, Row]()
    with measuring.stage(stages, way):
        ask(url, n, limit)
    figures = stages[way]
    return figures | {
        "requests": n,
        "cpu_ms_per_request": round(figures["cpu_s"] / n * 1000, 3),
        "peak_mib_over_imports": figures["peak_mib"] - base_mib,
        "requests_per_minute": round(n / figures["wall_s"] * 60),
    }


def kept_to(arrivals: list[float]) -> Row:
    """How a limit was kept, as the server saw it: the most in any minute, and how much was used.

    Used is the pace until the last minute's requests could begin; they are too few to fill theirs.
    """
    times, most, first = sorted(arrivals), 0, 0
    for last, time_ in enumerate(times):
        while time_ - times[first] >= 60.0:
            first += 1
        most = max(most, last - first + 1)
    full = LIMITED // LIMIT * LIMIT
    per_minute = full / (times[full] - times[0]) * 60
    return {
        "limit_per_minute": LIMIT,
        "most_in_any_minute": most,
        "of_limit": round(most / LIMIT, 4),
        "used": round(per_minute / LIMIT, 4),
    }


def measured(way: str, url: str, n: int, limit: int = 0) -> Row:
    return measuring.figures_of(__spec__.name, way, url, n, limit)


def bench(rounds: int) -> Row:
    with measuring.served(__spec__.name, f"{LATENCY_MS}", f"{LATENCY_MS}") as slow:
        url, before = measuring.address_of(slow), worked(slow)
        best = measuring.best_of(list(WAYS), rounds, lambda way: measured(way, url, N))
        server_ms = (worked(slow) - before) / (N * rounds * len(WAYS)) * 1000
    for row in best.values():
        row["of_ideal"] = round(row["wall_s"] / IDEAL_SECONDS, 3)
    with measuring.served(__spec__.name, "0", "5") as fast:
        url = measuring.address_of(fast)
        many, few = measured("gateway", url, MANY), measured("gateway", url, N)
        arrivals_of(fast)
        # The warming call of the measuring process is one of the arrivals, and no part of the run.
        limited = measured("gateway", url, LIMITED, LIMIT) | kept_to(arrivals_of(fast)[1:])
    return {
        "ideal_s": IDEAL_SECONDS,
        "server_cpu_ms_per_request": round(server_ms, 3),
        "ways": best,
        "gateway_of_asyncio": round(best["gateway"]["wall_s"] / best["asyncio"]["wall_s"], 3),
        "gateway_of_threads": round(best["gateway"]["wall_s"] / best["threads"]["wall_s"], 3),
        "gateway_2000_fast": few,
        "gateway_20000_fast": many,
        "limited": limited,
    }


def show(figures: Row) -> None:
    limited = figures["limited"]
    rows = {
        "gateway, empty ledger": figures["ways"]["gateway"],
        "asyncio + AsyncOpenAI": figures["ways"]["asyncio"],
        "64 threads + OpenAI": figures["ways"]["threads"],
        f"gateway, {N} at 0-5 ms": figures["gateway_2000_fast"],
        f"gateway, {MANY} at 0-5 ms": figures["gateway_20000_fast"],
        f"gateway, {LIMIT} a minute": limited,
    }
    title = f"{N} requests of {LATENCY_MS} ms, {IN_FLIGHT} in flight: ideal {IDEAL_SECONDS:.2f} s"
    columns = ["wall_s", "of_ideal", "cpu_ms_per_request", "peak_mib", "peak_mib_over_imports"]
    measuring.print_table(title, rows, [*columns, "requests_per_minute"])
    print(
        f"\nThe stand-in works {figures['server_cpu_ms_per_request']:.2f} ms a request. The gateway "
        f"takes {figures['gateway_of_asyncio']:.2f} x the time of asyncio and "
        f"{figures['gateway_of_threads']:.2f} x that of threads."
        f"\nUnder the limit of {LIMIT} a minute the server saw {limited['most_in_any_minute']} in "
        f"the fullest of all minutes ({limited['of_limit']:.1%}); {limited['used']:.1%} was used."
    )


def main() -> None:
    if not measuring.is_part(serve=serve, measure=measure):
        figures = bench(measuring.options(__doc__, rounds=2).rounds)
        show(figures)
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
