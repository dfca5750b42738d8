"""What the gateway costs: against the ideal, plain asyncio and a pool of threads, on loopback.

Run by `make bench-gateway`. Every figure is taken in a process of its own, and the API is a stand-in
in another. Prints tables, and as the last line all figures as one JSON object.
"""

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from resources.home import REPO_ROOT

N, MANY = 2_000, 20_000
LATENCY_MS, IN_FLIGHT = 200, 64
IDEAL_SECONDS = N / IN_FLIGHT * LATENCY_MS / 1000
LIMIT, WINDOW, LIMITED = 600, 5.0, 1_800
"""Requests per window, the seconds that stand for a minute, requests asked under the limit."""
WAYS = ("gateway", "asyncio", "threads")
MODELS = """
profiles: {{p: {{writer: it, judge: it, evaluate: [it]}}}}
models:
  it: {{provider: openai, base_url: "{url}", concurrency: {in_flight}, requests_per_minute: {limit}}}
"""


def text(number: int) -> str:
    """The question asked as request `number`."""
    return f"Question {number}: which way is north?"


def ask_gateway(url: str, n: int, limit: int | None = None, window: float = 60.5) -> None:
    """All requests through the project's gateway with an empty ledger."""
    from methods.messages import Message
    from resources.image_store import ImageStore
    from resources.llm.gateway import Gateway
    from resources.llm.ledger import Ledger
    from resources.llm.limits import SlidingMinute
    from resources.llm.registry import load_registry
    from resources.llm.request import ChatRequest, Completion

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = folder / "models.yaml"
        models.write_text(MODELS.format(url=url, in_flight=IN_FLIGHT, limit=limit or "null"))
        ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
        gateway = Gateway(load_registry(models), "p", ledger, images)
        if limit:
            gateway.limits(gateway.registry.model("it"))._requests = SlidingMinute(limit, window)
        requests = [
            ChatRequest("it", (Message.of("user", text(number)),), "bench@1") for number in range(n)
        ]
        outcomes, usage = gateway.ask("bench", requests)
        assert usage.calls == n and all(isinstance(each, Completion) for each in outcomes)


def ask_asyncio(url: str, n: int) -> None:
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


def ask_threads(url: str, n: int) -> None:
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


def serve(low_ms: float, high_ms: float) -> None:
    """The stand-in, until its standard input is closed."""
    from tests.resources.openai_double import Api

    async def run() -> None:
        print(await Api((low_ms, high_ms)).listen(), flush=True)
        await asyncio.to_thread(sys.stdin.read)

    asyncio.run(run())


def measure(way: str, url: str, n: int, limit: int, window: float, profiled: bool) -> None:
    """One way, here and now: prints its figures as JSON. Imports and a first call are not counted."""
    import openai

    openai.OpenAI(api_key="none", base_url=url).chat.completions.create(
        model="it", messages=[{"role": "user", "content": "warm"}]
    )
    ask: dict[str, Callable[[], None]] = {
        "gateway": lambda: ask_gateway(url, n, limit or None, window),
        "asyncio": lambda: ask_asyncio(url, n),
        "threads": lambda: ask_threads(url, n),
    }
    profile = cProfile.Profile()
    base_mib, cpu, wall = _peak_mib(), time.process_time(), time.monotonic()
    if profiled:
        profile.runcall(ask[way])
    else:
        ask[way]()
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    figures: dict[str, object] = {
        "requests": n,
        "wall_s": round(wall, 3),
        "cpu_ms_per_request": round(cpu / n * 1000, 3),
        "peak_mib": round(_peak_mib(), 1),
        "peak_mib_over_imports": round(_peak_mib() - base_mib, 1),
        "requests_per_minute": round(n / wall * 60),
    }
    if profiled:
        figures["profile"] = shares(profile)
    print(json.dumps(figures))


def shares(profile: cProfile.Profile) -> dict[str, dict[str, float]]:
    """Parts of the profiled CPU time: the five costliest functions, and each function of ours.

    `own` is time in the function itself, which is what the five are chosen by; `all` is with what
    it called. Time spent waiting for the network is no part of it.
    """
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    busy = {at: row for at, row in stats.items() if "select.epoll" not in at[2]}
    total = sum(row[2] for row in busy.values())
    ranked = sorted(busy.items(), key=lambda item: -item[1][2])
    ours = sorted(
        ((at, row) for at, row in busy.items() if "/resources/llm/" in at[0]),
        key=lambda item: -item[1][3],
    )
    return {
        "top_five_own": {_place(at): round(row[2] / total, 3) for at, row in ranked[:5]},
        "ours_all": {_place(at): round(row[3] / total, 3) for at, row in ours[:10]},
        "ours_own": {"resources/llm": round(sum(row[2] for _, row in ours) / total, 3)},
    }


def _place(at: tuple[str, int, str]) -> str:
    folder, line, function = at
    return f"{'/'.join(Path(folder).parts[-2:])}:{line} {function}" if line else function


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def api(low_ms: float, high_ms: float) -> Iterator[SimpleNamespace]:
    """The stand-in in a process of its own: its `url`, and `cpu()`, the seconds it has worked."""
    command = [sys.executable, "-m", "tests.bench.gateway", "serve", f"{low_ms}", f"{high_ms}"]
    with subprocess.Popen(
        command, cwd=REPO_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout

        def cpu() -> float:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        try:
            yield SimpleNamespace(url=process.stdout.readline().strip(), cpu=cpu)
        finally:
            process.stdin.close()


def measured(
    way: str, url: str, n: int, limit: int = 0, window: float = 0.0, profiled: bool = False
) -> dict:
    """The figures of one way, from a process of its own."""
    command = [sys.executable, "-m", "tests.bench.gateway", "measure", way, url, str(n)]
    command += [str(limit), str(window), str(int(profiled))]
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        command, cwd=REPO_ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def bench(rounds: int) -> dict:
    """Every figure there is; the three ways take turns, and the fastest round of each counts."""
    with api(LATENCY_MS, LATENCY_MS) as slow:
        before = slow.cpu()
        runs = [{way: measured(way, slow.url, N) for way in WAYS} for _ in range(rounds)]
        server_ms = (slow.cpu() - before) / (N * rounds * len(WAYS)) * 1000
        best = {way: min((run[way] for run in runs), key=lambda row: row["wall_s"]) for way in WAYS}
    for way in WAYS:
        best[way]["all_wall_s"] = [run[way]["wall_s"] for run in runs]
        best[way]["of_ideal"] = round(best[way]["wall_s"] / IDEAL_SECONDS, 3)
    with api(0, 5) as fast:
        many = measured("gateway", fast.url, MANY)
        few = measured("gateway", fast.url, N)
        limited = measured("gateway", fast.url, LIMITED, LIMIT, WINDOW)
        profiles = {
            way: measured(way, fast.url, N // 2, profiled=True)["profile"]
            for way in ("gateway", "asyncio")
        }
    # The first window's requests leave at once; the last window's take as long as without a limit.
    ideal = (LIMITED / LIMIT - 1) * WINDOW + LIMIT / (few["requests_per_minute"] / 60)
    limited |= {"limit_per_window": LIMIT, "window_s": WINDOW}
    limited |= {"ideal_s": round(ideal, 2), "of_ideal": round(limited["wall_s"] / ideal, 3)}
    return {
        "ideal_s": IDEAL_SECONDS,
        "server_cpu_ms_per_request": round(server_ms, 3),
        "ways": best,
        "gateway_2000_fast": few,
        "gateway_20000_fast": many,
        "limited": limited,
        "profiles": profiles,
    }


def show(figures: dict) -> None:
    """The figures for people."""
    print(
        f"\n{N} requests of {LATENCY_MS} ms, {IN_FLIGHT} in flight: "
        f"ideal {figures['ideal_s']:.2f} s. The stand-in works "
        f"{figures['server_cpu_ms_per_request']:.2f} ms a request."
    )
    print(f"{'':28}{'wall s':>9}{'of ideal':>10}{'CPU ms/req':>12}{'peak MiB':>10}{'req/min':>9}")
    rows = {
        "gateway, empty ledger": figures["ways"]["gateway"],
        "asyncio + AsyncOpenAI": figures["ways"]["asyncio"],
        "64 threads + OpenAI": figures["ways"]["threads"],
        f"gateway, {N} at 0-5 ms": figures["gateway_2000_fast"],
        f"gateway, {MANY} at 0-5 ms": figures["gateway_20000_fast"],
        f"gateway, {LIMIT} per {WINDOW:.0f} s": figures["limited"],
    }
    for name, row in rows.items():
        of_ideal = f"{row['of_ideal']:.3f}" if "of_ideal" in row else ""
        print(
            f"{name:28}{row['wall_s']:9.2f}{of_ideal:>10}{row['cpu_ms_per_request']:12.2f}"
            f"{row['peak_mib']:10.0f}{row['requests_per_minute']:9}"
        )
    print(f"The limit's minute was shortened to {WINDOW:.0f} s; {LIMITED} requests were asked.")
    for way, profile in figures["profiles"].items():
        print(f"\nProfile of {way}, parts of CPU time, functions' own:")
        for place, share in profile["top_five_own"].items():
            print(f"  {share:6.1%}  {place}")
    print("\nProfile of gateway, our functions with all they call:")
    for place, share in figures["profiles"]["gateway"]["ours_all"].items():
        print(f"  {share:6.1%}  {place}")
    print(f"  {figures['profiles']['gateway']['ours_own']['resources/llm']:6.1%}  ours alone\n")


def main() -> None:
    """Everything; or a part of it in a process of its own, as the arguments say."""
    if sys.argv[1:2] == ["serve"]:
        return serve(float(sys.argv[2]), float(sys.argv[3]))
    if sys.argv[1:2] == ["measure"]:
        way, url, n, limit, window, profiled = sys.argv[2:]
        return measure(way, url, int(n), int(limit), float(window), profiled == "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    figures = bench(parser.parse_args().rounds)
    show(figures)
    print(json.dumps(figures))
    return None


if __name__ == "__main__":
    main()
