"""What evaluation costs: asking, judging and scoring, against the time that the models themselves take.

Run by `make bench NAME=evaluate`: 3,000 items of MMBench's form (four choices, circular with an early
stop), 3,000 of MMIU's (four choices, four images, asked once), and 110 dialogues of 15 turns (MMDU's
size), each by five models that answer after 200 ms, ten requests of each in flight. The dialogues are
judged, too. That is at most 250 requests a second, which one core sends and another one answers: the
rest of the time is waiting, so two cores are enough. Each benchmark is measured in a process of its
own, through the assets, gateway, ledger and warehouse of a fresh home; the API is a stand-in in another
process.

The ideal is what no order of the requests can go below: the calls of the slowest model times the
latency by the requests in flight, or the turns of one dialogue after one another, whichever takes
longer. Prints tables, and as the last line all figures as one JSON object.
"""

import asyncio
import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench import measuring
from tests.bench.measuring import Row

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

    measuring.serve_api(Models())


def text_of(asked: Row) -> str:
    content = asked["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def said(model: str, text: str) -> str:
    """Grades or a winner by the judge, a letter to an item of choices, words to a turn of a dialogue.

    The best model gives the references of three turns that it knows as its answers, so that
    settings share requests.
    """
    from methods.mmdu.judging import DIMENSIONS

    if model == JUDGE and "<answera>" in text:
        winner = ("A", "B", "tie")[int(3 * measuring.chance(text))]
        return json.dumps({"reason": "It was read with care.", "winner": winner})
    if model == JUDGE:
        grades = {name: 1 + int(10 * measuring.chance(name, text)) for name in DIMENSIONS}
        return f"It was read with care.\n\n{grades}"
    known = re.search(r"Known (\d+, \d)", text)
    if known and measuring.chance(model, known[1]) < SKILLS[model] - 0.5:
        return f"Reference {known[1]}"
    item = re.search(r"Item (\d+)\.", text)
    if item is None:
        return " ".join(["word"] * WORDS) + f" {measuring.chance(model, text):.6f}"
    right = re.search(rf"^\(?([A-Z])[.)] value {item[1]}$", text, re.MULTILINE)
    assert right is not None
    letter = (
        right[1]
        if measuring.chance(model, text) < SKILLS[model]
        else "B"
        if right[1] == "A"
        else "A"
    )
    return f"The answer is {letter}."


# --- What is asked ---------------------------------------------------------------------------------


def items_of(name: str, n: int, images: Sequence[str]) -> list[Any]:
    make = {DIALOGUES: dialogue, SETTINGS: three_turns}.get(name, choices)
    return [make(number, images, name) for number in range(n)]


def dialogue(number: int, images: Sequence[str], name: str) -> Any:
    """A dialogue with an image each in two of its turns."""
    from methods.evaluation.items import Item, Turn

    placed = {1: (1,), 5: (2,)}
    turns = tuple(
        Turn(
            turn,
            f"{'<ImageHere>' if turn in placed else ''}What of {number}, {turn}?",
            placed.get(turn, ()),
            {"answer": " ".join(["reference"] * 120)},
        )
        for turn in range(1, N_TURNS + 1)
    )
    shown = images[number % len(images)], images[(number + 1) % len(images)]
    return Item(f"dialogue-{number:03}", turns, shown)


def three_turns(number: int, images: Sequence[str], name: str) -> Any:
    """A conversation of three turns, which is asked in several settings."""
    from methods.evaluation.items import Item, Turn

    references = [{"answer": f"Reference {number}, {turn}"} for turn in (1, 2, 3)]
    references[0]["caption"] = "It is plain."
    references[2]["focus"] = "It rhymes."
    turns = (
        Turn(1, f"<ImageHere>Known {number}, 1?", (1,), references[0]),
        Turn(2, f"Known {number}, 2?", (), references[1]),
        Turn(3, f"Known {number}, 3?", (), references[2]),
    )
    tasks = enumerate(("creation", "perception", "reasoning"))
    labels = {task: str(number % (N_TASKS - place)) for place, task in tasks}
    return Item(f"item-{number:03}", turns, (images[number % len(images)],), labels=labels)


def choices(number: int, images: Sequence[str], name: str) -> Any:
    """A question with four choices, on one image or four."""
    from methods.evaluation.items import Item, Turn

    n_images, right = (1 if name == CIRCULAR else N_IMAGES), number % N_CHOICES
    question = f"{'<ImageHere>' * n_images}Item {number}. Which is it?"
    texts = [f"other {place}" for place in range(N_CHOICES)]
    texts[right] = f"value {number}"
    turn = Turn(1, question, tuple(range(1, n_images + 1)), {"key": "ABCD"[right]})
    shown = tuple(images[(number + place) % len(images)] for place in range(n_images))
    label = "task" if name == ONCE else "category"
    return Item(f"item-{number:05}", (turn,), shown, tuple(texts), labels={label: str(number % 20)})


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


def opened(models: Row) -> tuple[Any, Any]:
    """The warehouse of a new home, and a gateway to these models."""
    from resources.files import home
    from resources.images.store import ImageStore
    from resources.llm.errors import ANY_TROUBLE  # noqa: F401 - the client is imported with it
    from resources.llm.gateway import Gateway
    from resources.llm.ledger import Ledger
    from resources.llm.registry import load_registry
    from resources.mock_server.process import MockServerProcess
    from resources.warehouse import Warehouse

    registry = Path(os.environ["LOOM_MODELS"])
    registry.write_text(json.dumps(models))
    ledger, images = Ledger(home.ledger_path()), ImageStore(home.images_path())
    gateway = Gateway(load_registry(registry), "p", ledger, images, launcher=MockServerProcess())
    return Warehouse(home.warehouse_path()), gateway


def measure(name: str, url: str, number: str) -> Row:
    """The figures of one benchmark, here and now. Imports are not counted."""
    import dagster as dg

    from assets.evaluate import answers, comparisons, judgments, observations, scores
    from assets.release.published import write_imported
    from methods.benchmarks import BENCHMARKS
    from methods.release import Edition

    warehouse, gateway = opened(models(url))
    n = int(number)
    items = items_of(name, n, pictures(gateway.images))
    edition = Edition(name, "test", None, "imported")
    write_imported(warehouse, f"{name}-test", edition, items, {"file": "bench"})
    given = {"warehouse": warehouse, "llm": gateway, "benchmarks": BENCHMARKS}
    before, stages = measuring.peak_mib(), dict[str, Row]()
    with dg.DagsterInstance.ephemeral() as instance:
        for asset in (answers, judgments, observations, scores, comparisons):
            name_of_stage, n_calls = asset.key.path[-1], len(gateway.ledger)
            with measuring.stage(stages, name_of_stage):
                assert dg.materialize([asset], resources=given, instance=instance).success
            stages[name_of_stage] |= {
                "calls": len(gateway.ledger) - n_calls,
                "rows": warehouse.count(f"evaluate.{name_of_stage}"),
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
    return {**figures, **against_the_ideal(name, n, stages, calls)}


def against_the_ideal(name: str, n: int, stages: dict[str, Row], calls: dict[str, int]) -> Row:
    """Each stage that asks models against the ideal, and the calls against those of every pass."""
    one, chain = LATENCY_MS / 1000, PASSES[name]
    ideal = {"answers": max(max(calls.values()) * one / IN_FLIGHT, chain * one)}
    if name in (DIALOGUES, SETTINGS):
        ideal["judgments"] = stages["judgments"]["calls"] * one / (IN_FLIGHT * len(SKILLS))
    for asking, seconds in ideal.items():
        stages[asking]["ideal_s"] = round(seconds, 2)
        stages[asking]["of_ideal"] = round(stages[asking]["wall_s"] / seconds, 3)
    every = n * chain * len(SKILLS)
    scoring = sum(stages[name]["wall_s"] for name in ("observations", "scores", "comparisons"))
    return {
        "calls": sum(calls.values()),
        "calls_without_early_stop": every,
        "calls_of_every": round(sum(calls.values()) / every, 3),
        "scoring_s": round(scoring, 2),
        "within_bar": all(stages[asking]["of_ideal"] <= BAR for asking in ideal),
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
    with measuring.served(__spec__.name) as server:
        return {
            "items": n,
            **measuring.in_a_fresh_home(__spec__.name, name, measuring.address_of(server), n),
        }


def show(name: str, figures: Row) -> None:
    columns = ["calls", "shared_calls", "rows", "wall_s", "ideal_s", "of_ideal"]
    measuring.print_table(name, figures["stages"], [*columns, "cpu_s", "peak_mib"])
    others = {key: value for key, value in figures.items() if key != "stages"}
    print("\n", ", ".join(f"{key}: {value}" for key, value in others.items()), sep="")


def main() -> None:
    if measuring.is_part(serve=serve, measure=measure):
        return
    sizes = {"items": N_ITEMS, "dialogues": N_DIALOGUES, "settings_items": N_SETTINGS_ITEMS}
    given = measuring.options(__doc__, **sizes)
    figures: Row = {"latency_ms": LATENCY_MS, "in_flight_of_each": IN_FLIGHT, "bar": BAR}
    asked = {CIRCULAR: given.items, ONCE: given.items, DIALOGUES: given.dialogues}
    for name, n in {**asked, SETTINGS: given.settings_items}.items():
        figures[name] = measured(name, n)
        show(f"{name}, {n:,} items, {len(SKILLS)} models", figures[name])
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
