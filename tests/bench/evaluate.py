"""What evaluation costs: asking, judging and scoring, against the time that the models themselves take.

Run by `make bench NAME=evaluate`: 3,000 items of MMBench's form (four choices, circular with an early
stop), 3,000 of MMIU's (four choices, four images, asked once), and 110 dialogues of 15 turns (MMDU's
size), each by five models that answer after 200 ms, ten requests of each in flight. The dialogues are
judged, too. That is at most 250 requests a second, which one core sends and another one answers: the
rest of the time is waiting, so two cores are enough. Each benchmark is measured in a process of its
own, through the assets, gateway, ledger and warehouse of a fresh home; the API is a stand-in in another
process. Three more parts wait for no model, and are all there is with `--without-models`: responses
that are imported (`rated.py`; also a fifth and four times as many, for their memory), scores of many
models on many items (`scored.py`), and the report of many models (`reported.py`).

The ideal is what no order of the requests can go below: the calls of the slowest model times the
latency by the requests in flight, or the turns of one dialogue after one another, whichever takes
longer. Prints tables, and as the last line all figures as one JSON object.
"""

import argparse
import asyncio
import io
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench import measuring, rated, reported, scored
from tests.bench.measuring import chance, in_a_fresh_home, peak_mib, served

N_ITEMS, N_CHOICES, N_IMAGES = 3_000, 4, 4
N_DIALOGUES, N_TURNS = 110, 15
N_SETTINGS_ITEMS, N_SETTINGS_ASKS, N_TASKS = 578, 6, 79
LATENCY_MS, IN_FLIGHT = 200, 10
BAR = 1.15
"""A stage may take so many times the ideal."""
SKILLS = {"m85": 0.85, "m70": 0.7, "m55": 0.55, "m40": 0.4, "m25": 0.25}
"""How often each model is right in a pass of its own."""
JUDGE, WRITER = "judge", "writer"
CIRCULAR, ONCE, DIALOGUES, SETTINGS = "mmbench", "mmiu", "mmdu", "convbench"
PASSES = {CIRCULAR: N_CHOICES, ONCE: 1, DIALOGUES: N_TURNS, SETTINGS: N_SETTINGS_ASKS}
"""How often an item of each benchmark is asked at most, one after the other."""
WORDS = 120
"""Words of an answer in a dialogue."""
N_PICTURES = 200
DIMENSIONS = (
    "Creativity",
    "Richness",
    "Visual Perception",
    "Logical Coherence",
    "Answer Accuracy",
    "Image Relationship Understanding",
    "Overall Score",
)
Row = dict[str, Any]


# --- The stand-in ----------------------------------------------------------------------------------


def serve() -> None:
    """The stand-in, until its standard input is closed."""
    from tests.doubles.openai_api import Api, completion, http_reply

    class Models(Api):
        """Answers as the model that is asked for."""

        def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
            asked = json.loads(body)
            message = {"role": "assistant", "content": said(asked["model"], text_of(asked))}
            reply = http_reply(200, completion(message, 100, 100))

            def write() -> None:
                if not transport.is_closing():
                    transport.write(reply)

            asyncio.get_running_loop().call_later(LATENCY_MS / 1000, write)

    async def run() -> None:
        print(await Models().listen(), flush=True)
        await asyncio.to_thread(sys.stdin.read)

    asyncio.run(run())


def text_of(asked: Row) -> str:
    """The text of the last message."""
    content = asked["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def said(model: str, text: str) -> str:
    """Grades or a winner by the judge, a letter to an item of choices, words to a turn of a dialogue.

    The best model gives the references of three turns that it knows as its answers, so that
    settings share requests.
    """
    if model == JUDGE and "<answera>" in text:
        winner = ("A", "B", "tie")[int(3 * chance(text))]
        return json.dumps({"reason": "It was read with care.", "winner": winner})
    if model == JUDGE:
        grades = {name: 1 + int(10 * chance(name, text)) for name in DIMENSIONS}
        return f"It was read with care.\n\n{grades}"
    known = re.search(r"Known (\d+, \d)", text)
    if known and chance(model, known[1]) < SKILLS[model] - 0.5:
        return f"Reference {known[1]}"
    item = re.search(r"Item (\d+)\.", text)
    if item is None:
        return " ".join(["word"] * WORDS) + f" {chance(model, text):.6f}"
    right = re.search(rf"^\(?([A-Z])[.)] value {item[1]}$", text, re.MULTILINE)
    assert right is not None
    letter = right[1] if chance(model, text) < SKILLS[model] else "B" if right[1] == "A" else "A"
    return f"The answer is {letter}."


# --- What is asked ---------------------------------------------------------------------------------


def items_of(name: str, n: int, images: Sequence[str]) -> list[Any]:
    """The items of the benchmark: choices, or dialogues with an image each in two of their turns."""
    from methods.evaluation.items import Item, Turn

    if name == SETTINGS:
        return [
            Item(
                f"item-{number:03}",
                tuple(
                    Turn(
                        turn,
                        f"{'<ImageHere>' if turn == 1 else ''}Known {number}, {turn}?",
                        (1,) if turn == 1 else (),
                        {
                            "answer": f"Reference {number}, {turn}",
                            **({"caption": "It is plain."} if turn == 1 else {}),
                            **({"focus": "It rhymes."} if turn == 3 else {}),
                        },
                    )
                    for turn in (1, 2, 3)
                ),
                (images[number % len(images)],),
                labels={
                    task: str(number % (N_TASKS - place))
                    for place, task in enumerate(("creation", "perception", "reasoning"))
                },
            )
            for number in range(n)
        ]
    if name != DIALOGUES:
        found, n_images = [], 1 if name == CIRCULAR else N_IMAGES
        for number in range(n):
            right = number % N_CHOICES
            question = f"{'<ImageHere>' * n_images}Item {number}. Which is it?"
            choices = [f"other {place}" for place in range(N_CHOICES)]
            choices[right] = f"value {number}"
            found.append(
                Item(
                    f"item-{number:05}",
                    (Turn(1, question, tuple(range(1, n_images + 1)), {"key": "ABCD"[right]}),),
                    tuple(images[(number + place) % len(images)] for place in range(n_images)),
                    tuple(choices),
                    labels={"task" if name == ONCE else "category": str(number % 20)},
                )
            )
        return found
    return [
        Item(
            f"dialogue-{number:03}",
            tuple(
                Turn(
                    turn,
                    f"{'<ImageHere>' if turn in (1, 5) else ''}What of {number}, {turn}?",
                    ((1,) if turn == 1 else (2,) if turn == 5 else ()),
                    {"answer": " ".join(["reference"] * WORDS)},
                )
                for turn in range(1, N_TURNS + 1)
            ),
            (images[number % len(images)], images[(number + 1) % len(images)]),
        )
        for number in range(n)
    ]


def pictures(store: Any) -> list[str]:
    """Small pictures in the store, by their ids."""
    from PIL import Image

    found = []
    for number in range(N_PICTURES):
        data = io.BytesIO()
        Image.new("RGB", (64, 64), (number, 255 - number, 90)).save(data, "PNG")
        found.append(store.put(data.getvalue()).image_id)
    return found


# --- Measuring -------------------------------------------------------------------------------------


def measure(name: str, url: str, n: int) -> None:
    """One benchmark, here and now: prints its figures as JSON. Imports are not counted."""
    import dagster as dg

    from assets.evaluate import answers, comparisons, judgments, observations, scores
    from assets.release.published import write_imported
    from methods.benchmarks import BENCHMARKS
    from methods.release import Edition
    from resources.files import home
    from resources.images.store import ImageStore
    from resources.llm.errors import ANY_TROUBLE  # noqa: F401 - the client is imported with it
    from resources.llm.gateway import Gateway
    from resources.llm.ledger import Ledger
    from resources.llm.registry import load_registry
    from resources.mock_server.process import MockServerProcess
    from resources.warehouse import Warehouse

    registry = Path(os.environ["LOOM_MODELS"])
    registry.write_text(json.dumps(models(url)))
    warehouse, store = Warehouse(home.warehouse_path()), ImageStore(home.images_path())
    ledger = Ledger(home.ledger_path())
    gateway = Gateway(load_registry(registry), "p", ledger, store, launcher=MockServerProcess())
    edition = Edition(name, "test", None, "imported")
    items = items_of(name, n, pictures(store))
    write_imported(warehouse, f"{name}-test", edition, items, {"file": "bench"})
    given = {"warehouse": warehouse, "llm": gateway, "benchmarks": BENCHMARKS}
    before, stages = peak_mib(), dict[str, Row]()
    with dg.DagsterInstance.ephemeral() as instance:
        for asset in (answers, judgments, observations, scores, comparisons):
            stage, n_calls = asset.key.path[-1], len(ledger)
            with measuring.stage(stages, stage):
                assert dg.materialize([asset], resources=given, instance=instance).success
            stages[stage] |= {
                "calls": len(ledger) - n_calls,
                "rows": warehouse.count(f"evaluate.{stage}"),
            }
    counted = warehouse.sql(
        "SELECT model, count(DISTINCT call_key) AS n FROM evaluate.answers GROUP BY model"
    )
    calls = {row["model"]: row["n"] for row in counted.to_pylist()}
    asked = {"answers": "status NOT IN ('given', 'not_asked')", "judgments": "true"}
    for asking, where in asked.items():
        (row,) = warehouse.sql(
            f"SELECT count(*) AS n FROM evaluate.{asking} WHERE {where}"
        ).to_pylist()
        stages[asking]["shared_calls"] = row["n"] - stages[asking]["calls"]
    gateway.close()
    figures = {"imports_mib": before, "stages": stages, "calls_of": calls}
    print(json.dumps({**figures, **against_the_ideal(name, n, stages, calls)}))


def against_the_ideal(name: str, n: int, stages: dict[str, Row], calls: dict[str, int]) -> Row:
    """Each stage that asks models against the ideal, and the calls against those of every pass."""
    one, chain = LATENCY_MS / 1000, PASSES[name]
    ideal = {"answers": max(max(calls.values()) * one / IN_FLIGHT, chain * one)}
    if name in (DIALOGUES, SETTINGS):
        ideal["judgments"] = stages["judgments"]["calls"] * one / (IN_FLIGHT * len(SKILLS))
    for stage, seconds in ideal.items():
        stages[stage]["ideal_s"] = round(seconds, 2)
        stages[stage]["of_ideal"] = round(stages[stage]["wall_s"] / seconds, 3)
    every = n * chain * len(SKILLS)
    scoring = sum(stages[stage]["wall_s"] for stage in ("observations", "scores", "comparisons"))
    return {
        "calls": sum(calls.values()),
        "calls_without_early_stop": every,
        "calls_of_every": round(sum(calls.values()) / every, 3),
        "scoring_s": round(scoring, 2),
        "within_bar": all(stages[stage]["of_ideal"] <= BAR for stage in ideal),
    }


def models(url: str) -> Row:
    """Five models and a judge behind the stand-in; the judge has the places of all five."""
    entry = {"provider": "openai", "base_url": url, "concurrency": IN_FLIGHT}
    judge = {**entry, "concurrency": IN_FLIGHT * len(SKILLS)}
    return {
        "profiles": {"p": {"writer": WRITER, "judge": JUDGE, "evaluate": list(SKILLS)}},
        "models": {**dict.fromkeys(SKILLS, entry), WRITER: entry, JUDGE: judge},
    }


def measured(name: str, n: int) -> Row:
    """The figures of one benchmark, from a process of its own with a home of its own."""
    print(f"{name}, {n:,} items ...", file=sys.stderr)
    with served("tests.bench.evaluate") as url:
        return in_a_fresh_home("tests.bench.evaluate", "measure", name, url, str(n))


def bench(n_items: int, n_dialogues: int, n_settings: int) -> Row:
    """The figures of what waits for models."""
    return {
        "models": len(SKILLS),
        "latency_ms": LATENCY_MS,
        "in_flight_of_each": IN_FLIGHT,
        "bar": BAR,
        **{name: {"items": n_items, **measured(name, n_items)} for name in (CIRCULAR, ONCE)},
        DIALOGUES: {
            "dialogues": n_dialogues,
            "turns": n_dialogues * N_TURNS,
            **measured(DIALOGUES, n_dialogues),
        },
        SETTINGS: {"items": n_settings, **measured(SETTINGS, n_settings)},
    }


def bench_without_models() -> Row:
    """The figures of what waits for none."""
    sizes = (rated.N_QUESTIONS // 5, rated.N_QUESTIONS, rated.N_QUESTIONS * 4)
    return {
        **{f"imported responses to {n}": rated.measured(n) for n in sizes},
        "scores at size": scored.measured(),
        "a report at size": reported.measured(),
    }


def show(figures: Row) -> None:
    """The figures for people."""
    print(
        f"{figures['models']} models, {LATENCY_MS} ms a call, {IN_FLIGHT} in flight of each; the bar "
        f"is {BAR} of the ideal\n"
    )
    for name in PASSES:
        of = figures[name]
        what = f"{of['turns']:,} turns" if name == DIALOGUES else f"{of['items']:,} items"
        print(f"{name}, {what}")
        heads = ("calls", "shared", "rows", "wall s", "ideal s", "of ideal", "CPU s", "peak MiB")
        print(f"  {'stage':<14}" + "".join(f"{head:>10}" for head in heads))
        for stage, row in of["stages"].items():
            asks = "ideal_s" in row
            cells = (
                f"{row['calls']:,}",
                f"{row['shared_calls']:,}" if "shared_calls" in row else "",
                f"{row['rows']:,}",
                f"{row['wall_s']:.2f}",
                f"{row['ideal_s']:.2f}" if asks else "",
                f"{row['of_ideal']:.3f}" if asks else "",
                f"{row['cpu_s']:.2f}",
                f"{row['peak_mib']}",
            )
            print(f"  {stage:<14}" + "".join(f"{cell:>10}" for cell in cells))
        print(
            f"  {of['calls']:,} of {of['calls_without_early_stop']:,} calls were made "
            f"({of['calls_of_every']:.0%}); scoring took {of['scoring_s']:.1f} s; "
            f"{'within' if of['within_bar'] else 'over'} the bar. Imports {of['imports_mib']} MiB.\n"
        )


def show_imported(name: str, figures: Row) -> None:
    """The figures of a part that asks no model, for people."""
    print(f"{name}, {figures['questions']:,} questions x {figures['models']} models")
    print(f"  {'stage':<16}" + "".join(f"{head:>10}" for head in ("wall s", "CPU s", "peak MiB")))
    for stage, row in figures["stages"].items():
        cells = (f"{row['wall_s']:.2f}", f"{row['cpu_s']:.2f}", str(row["peak_mib"]))
        print(f"  {stage:<16}" + "".join(f"{cell:>10}" for cell in cells))
    print(f"  {figures['wall_s']:.1f} s in all. Imports {figures['imports_mib']} MiB.\n")


def main() -> None:
    """Everything; or a part of it in a process of its own, as the arguments say."""
    if sys.argv[1:2] == ["serve"]:
        return serve()
    if sys.argv[1:2] == ["measure"]:
        return measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=N_ITEMS)
    parser.add_argument("--dialogues", type=int, default=N_DIALOGUES)
    parser.add_argument("--settings-items", type=int, default=N_SETTINGS_ITEMS)
    parser.add_argument(
        "--without-models", action="store_true", help="what waits for no model alone"
    )
    given = parser.parse_args()
    figures: Row = {}
    if not given.without_models:
        figures = bench(given.items, given.dialogues, given.settings_items)
        show(figures)
    for name, part in bench_without_models().items():
        show_imported(name, part)
        figures[name] = part
    print(json.dumps(figures))
    return None


if __name__ == "__main__":
    main()
