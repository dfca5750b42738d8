"""How long large work takes: the project's own limits and queues under a clock that jumps.

Run by `make bench NAME=sizing`. Calls of models go through `ModelLimits`, pictures through
`HostQueues`, as in a run; only their answers are made up, after the time that a server would take. The
small end of both is run in real time, too, against servers on loopback, and compared. Writes the tables
to docs/results/sizing.md. The last line is all figures as one JSON object.
"""

import asyncio
import io
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import pytest
from PIL import Image

from resources.files.home import REPO_ROOT
from resources.images import fetcher, host_pace, host_queue
from resources.images.host_pace import HostPace, Turn
from resources.images.host_queue import HostQueues, Job
from resources.llm import rate_limits
from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.rate_limits import ModelLimits, SlidingMinute
from resources.web import host_pauses
from tests.bench.gateway import IN_FLIGHT, LATENCY_MS, api, ask_gateway
from tests.doubles.serving import serving
from tests.doubles.virtual_time import VirtualTime

PAGE = REPO_ROOT / "docs" / "results" / "sizing.md"
BEGIN, END = "<!-- by simulation -->\n", "<!-- end of what is by simulation -->\n"
SIMULATED = 30_000
"""Calls or pictures of a simulation: rates are even long before."""


class Work(NamedTuple):
    """What one dialogue of the instruction set takes, as docs/results/dialogue-shape.md has it."""

    calls: float = 413_438 / 45_000
    prompt_tokens: float = 284_099_062 / 45_000
    answer_tokens: float = 384_001_875 / 45_000
    dollars: float = 4_550.27 / 45_000

    @property
    def tokens_a_call(self) -> float:
        """Prompt and answer of a call in the mean."""
        return (self.prompt_tokens + self.answer_tokens) / self.calls


class Provider(NamedTuple):
    """Limits of an account, or what a server of one's own takes at once."""

    name: str
    in_flight: int
    requests: int | None
    tokens: int | None
    tokens_a_second: float
    """Answer tokens of one call, each second."""


PROVIDERS = (
    Provider("500 requests, 30,000 tokens a minute", 64, 500, 30_000, 60),
    Provider("5,000 requests, 2,000,000 tokens a minute", 256, 5_000, 2_000_000, 60),
    Provider("10,000 requests, 30,000,000 tokens a minute", 1_024, 10_000, 30_000_000, 60),
    Provider("a server of one's own, 64 calls at once", 64, None, None, 25),
)
FIRST_TOKEN = 1.0
"""Seconds until an answer begins."""
PICTURE_BYTES = 300_000
"""Of a picture in the mean; sizes vary as exp(N(0, 1)) does."""
PICTURE_SECONDS = 0.15
"""Until its first byte."""
WIT_PICTURES, DIALOGUES = 11_500_000, (45_000, 1_000_000)
PICTURES_A_DIALOGUE = 3
WIKIMEDIA = "https://upload.wikimedia.org/{}.jpg"


@contextmanager
def virtual_time() -> Iterator[VirtualTime]:
    """Every clock of limits and queues is one that jumps."""
    clock = VirtualTime()
    with pytest.MonkeyPatch.context() as patch:
        for module in (rate_limits, host_pauses, host_pace, host_queue):
            patch.setattr(module, "time", clock)
        yield clock


def calls_under(provider: Provider, n: int, tokens: float, seconds: Sequence[float]) -> float:
    """Simulated seconds of `n` calls of so many tokens, the i-th of them `seconds[i]` long."""

    async def scenario() -> None:
        model = ModelLimits(
            provider.in_flight,
            SlidingMinute(provider.requests) if provider.requests else None,
            SlidingMinute(provider.tokens) if provider.tokens else None,
        )
        breaker = CircuitBreaker("simulated")
        waiting = iter(seconds[:n])

        async def worker() -> None:
            for took in waiting:
                async with model.attempt(round(tokens), breaker) as reservation:
                    sent_at = rate_limits.time.monotonic()
                    await asyncio.sleep(took)
                    reservation.settle(round(tokens))
                    model.answered(sent_at)

        await asyncio.gather(*(worker() for _ in range(provider.in_flight)))

    with virtual_time() as clock:
        began = clock.now
        clock.run(scenario)
        return clock.now - began


def pictures_from(
    addresses: Sequence[str], sizes: Sequence[int], seconds: float, bytes_a_second: float
) -> float:
    """Simulated seconds of fetching pictures; a connection has so many bytes a second."""

    async def scenario() -> None:
        jobs = [Job(str(number), address) for number, address in enumerate(addresses)]
        queues = HostQueues(jobs, HostPace(1.0), lasts=math.inf)

        async def worker() -> None:
            while job := await queues.next():
                size = sizes[int(job.url)]
                if isinstance(turn := await queues.begin(job), Turn):
                    await asyncio.sleep(seconds + size / bytes_a_second)
                    await queues.answered(turn, size)
                    queues.done(job)

        await asyncio.gather(*(worker() for _ in range(fetcher.CONCURRENCY)))

    with virtual_time() as clock:
        began = clock.now
        clock.run(scenario)
        return clock.now - began


# --- The small end, in real time ---------------------------------------------------------------------


def real_calls(n: int, limit: int | None) -> float:
    """Seconds of the gateway for `n` calls against a server of LATENCY_MS."""
    with api(LATENCY_MS, LATENCY_MS) as server:
        ask_gateway(server.url, 64, limit)
        began = time.monotonic()
        ask_gateway(server.url, n, limit)
        return time.monotonic() - began


def real_pictures(n: int, seconds: float) -> float:
    """Seconds of the fetcher for `n` pictures of one host on loopback."""
    data = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(data, "PNG")

    class Host(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = (
            -1
        )  # An answer is one packet: the second of two would wait for the first to be acknowledged.

        def do_GET(self) -> None:
            time.sleep(seconds)
            self.send_response(200)
            self.send_header("content-type", "image/png")
            self.send_header("content-length", str(len(data.getvalue())))
            self.end_headers()
            self.wfile.write(data.getvalue())

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Host)) as server:
        mirror = f"http://127.0.0.1:{server.server_port}"
        urls = [f"https://example.org/{number}.png" for number in range(n)]
        began = time.monotonic()
        results = list(fetcher.ImageFetcher(mirror, allow_private=True).fetch_each(urls))
        assert len(results) == n
        return time.monotonic() - began


def small_end() -> dict[str, dict[str, float]]:
    """Simulated beside real seconds."""
    every = [LATENCY_MS / 1000] * 2_000
    plain = Provider("", IN_FLIGHT, None, None, 0)
    limited = plain._replace(requests=1_200)
    return {
        f"2,000 calls of {LATENCY_MS} ms, {IN_FLIGHT} at once": {
            "simulated_s": calls_under(plain, 2_000, 0, every),
            "real_s": real_calls(2_000, None),
        },
        "1,500 calls, 1,200 a minute": {
            "simulated_s": calls_under(limited, 1_500, 0, every),
            "real_s": real_calls(1_500, 1_200),
        },
        "300 pictures of one host, 100 ms each": {
            "simulated_s": pictures_from(
                ["https://example.org/a.png"] * 300, [200] * 300, 0.1, math.inf
            ),
            "real_s": real_pictures(300, 0.1),
        },
    }


# --- Tables ------------------------------------------------------------------------------------------


def hours(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 5_400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def providers(work: Work) -> dict[str, float]:
    """Calls a second that each provider's limits leave, by its name."""
    random.seed(0)
    found = {}
    for provider in PROVIDERS:
        answer = work.answer_tokens / work.calls
        seconds = [
            FIRST_TOKEN + random.gammavariate(2, answer / 2) / provider.tokens_a_second
            for _ in range(SIMULATED)
        ]
        n = min(SIMULATED, 40 * (provider.requests or SIMULATED))
        if provider.tokens:
            n = min(n, round(40 * provider.tokens / work.tokens_a_call))
        found[provider.name] = n / calls_under(provider, n, work.tokens_a_call, seconds)
    return found


def pictures() -> float:
    """Pictures a second that Wikimedia's limits leave."""
    random.seed(0)
    spread = [random.lognormvariate(0, 1) for _ in range(SIMULATED)]
    mean = sum(spread) / len(spread)
    sizes = [round(PICTURE_BYTES * each / mean) for each in spread]
    addresses = [WIKIMEDIA.format(number) for number in range(SIMULATED)]
    return SIMULATED / pictures_from(addresses, sizes, PICTURE_SECONDS, 10_000_000)


def main() -> None:
    """Simulate, run the small end, print and write the tables."""
    work = Work()
    checked = small_end()
    rates, a_second = providers(work), pictures()
    lines = ["| small end | simulated | real | real : simulated |", "| --- | ---: | ---: | ---: |"]
    for name, row in checked.items():
        ratio = row["real_s"] / row["simulated_s"]
        lines.append(
            f"| {name} | {row['simulated_s']:.1f} s | {row['real_s']:.1f} s | {ratio:.2f} |"
        )
    heads = [f"{n:,} dialogues" for n in DIALOGUES]
    lines += [
        "",
        f"| limits of the writer | calls a minute | {' | '.join(heads)} |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, rate in rates.items():
        took = [hours(n * work.calls / rate) for n in DIALOGUES]
        lines.append(f"| {name} | {rate * 60:,.0f} | {' | '.join(took)} |")
    numbers = [n * PICTURES_A_DIALOGUE for n in DIALOGUES] + [WIT_PICTURES]
    lines += [
        "",
        f"| pictures off Wikimedia | a second | {' | '.join(f'{n:,}' for n in numbers)} |",
        "| --- | ---: | ---: | ---: | ---: |",
        f"| two connections, 25 megabits a second | {a_second:.1f} "
        f"| {' | '.join(hours(n / a_second) for n in numbers)} |",
    ]
    print("\n".join(lines))
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.partition(END)[2])
    print()
    print(
        json.dumps({"small_end": checked, "calls_a_second": rates, "pictures_a_second": a_second})
    )


if __name__ == "__main__":
    main()
