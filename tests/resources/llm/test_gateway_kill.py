"""Processes that ask and are killed: what is in the ledger is there for good.

Two machines run askers, each the real gateway. They ask the same requests over one store; askers are
SIGKILLed at seeded moments and begin again until each was handed every outcome. The fake API records
which asker sent what. On files both machines have one home.
"""

import json
import os
import random
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from resources.images.store import ImageStore
from resources.llm.ledger import Call, Ledger, writer
from resources.llm.registry import load_registry
from resources.migrations import StoreError
from resources.mock_server.process import MockServerProcess
from resources.stores.postgres import store_error
from tests.doubles.openai_api import Api, answer_to, serving
from tests.plugins.backends import OnSameStores
from tests.resources.llm.entries import AskingGateway, charges_of, gateway_of, questions
from tests.shared import PROCESSES

pytestmark = pytest.mark.slow

N = 60
CONCURRENCY = 4
AT_RISK = 2
"""Answers that a kill can cost, for each that may be in flight: it, and one on its way to the disk."""
MODELS = """
profiles: {{paid: {{writer: it, judge: it, evaluate: [it]}}}}
models: {{it: {{provider: openai, base_url: "{url}", api_key_env: PAID_KEY, concurrency: 4}}}}
"""
SEED = 11
N_KILLS = 4
ASKERS_OF_A_MACHINE = 2


def ask(name: str, home: Path, models: Path) -> None:
    """What the process of an asker does; by its key the API knows it."""
    os.environ["PAID_KEY"] = name
    ledger, images = Ledger(home / "ledger.sqlite"), ImageStore(home / "images")
    launcher = MockServerProcess()
    gateway = AskingGateway(load_registry(models), "paid", ledger, images, launcher=launcher)
    outcomes, _ = gateway.ask("stage", questions(N))
    (home / f"{name}.json").write_text(json.dumps([asdict(outcome) for outcome in outcomes]))


class Recorder(Api):
    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        super().__init__((40, 80), lambda asker, text: self.sent.append((asker, text)))
        self.url = ""


@pytest.fixture
def api() -> Iterator[Recorder]:
    recorder = Recorder()
    with serving(recorder) as recorder.url:
        yield recorder


def text_of(call: Call) -> str:
    return call.request["messages"][0]["parts"][0]  # type: ignore[index]


@pytest.mark.usefixtures("stores_on")
def test_four_askers_on_two_machines_of_whom_four_are_killed_lose_nothing_and_ask_nothing_twice(
    api, stores_on, tmp_path
):
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.format(url=api.url))
    homes = {name: tmp_path / ("a" if stores_on == "sqlite" else name) for name in ("a", "b")}
    alive: dict[str, Any] = {}
    numbers = count()

    def begin(machine: str) -> None:
        name = f"{machine}-{next(numbers)}"
        arguments = (name, homes[machine], models)
        alive[name] = PROCESSES.Process(target=OnSameStores(ask), args=arguments)
        alive[name].start()

    for machine, home in homes.items():
        home.mkdir(exist_ok=True)
        for _ in range(ASKERS_OF_A_MACHINE):
            begin(machine)
    ledger, draw = Ledger(homes["a"] / "ledger.sqlite"), random.Random(SEED)
    done: list[str] = []
    killed: list[str] = []
    durable: list[dict[str, Call]] = []
    sent_by_then: list[int] = []
    until = time.monotonic() + 240
    while alive:
        assert time.monotonic() < until
        for name in [name for name, process in alive.items() if process.exitcode is not None]:
            if alive.pop(name).exitcode == 0:
                done.append(name)
            else:
                assert name in killed
                begin(name[0])
        # On a busy machine the first answers may all be on their way to the disk.
        is_due = len(api.sent) >= (len(killed) + 1) * N // (N_KILLS + 1) and len(ledger)
        if len(killed) < N_KILLS and is_due:
            name = draw.choice(list(alive))
            alive[name].kill()
            killed.append(name)
            durable.append({call.key: call for call in ledger})
            sent_by_then.append(len(api.sent))
        time.sleep(0.005)

    assert len(killed) == N_KILLS
    at_the_end = {call.key: call for call in ledger}
    assert len(at_the_end) == N and charges_of(ledger) == []
    assert all(call.response == answer_to(text_of(call)) for call in at_the_end.values())
    for state, n_sent in zip(durable, sent_by_then, strict=True):
        assert {key: at_the_end[key] for key in state} == state, "what was kept stays as it is"
        later = {text for _, text in api.sent[n_sent:]}
        assert later.isdisjoint(map(text_of, state.values())), "what was kept is never sent again"
    assert 0 < len(durable[0]) < len(durable[-1])

    senders = defaultdict(list)
    for name, text in api.sent:
        senders[text].append(name)
    again = {text: names for text, names in senders.items() if set(names[:-1]) - set(killed)}
    assert again == {}, "sent again although nobody was killed who had sent it"
    assert len(api.sent) - N <= N_KILLS * AT_RISK * CONCURRENCY

    handed = [
        [{**outcome, "cached": None} for outcome in json.loads(path.read_text())]
        for path in (homes[name[0]] / f"{name}.json" for name in done)
    ]
    assert len(handed) == 2 * ASKERS_OF_A_MACHINE
    assert all(outcomes == handed[0] for outcomes in handed)


def test_no_more_than_may_be_at_risk_is_ever_paid_for_and_not_yet_durable(
    api, tmp_path, monkeypatch
):
    at_risk: list[int] = []
    add = Ledger.add

    def add_slowly(ledger: Ledger, calls: Iterable[Call]) -> None:
        time.sleep(0.03)
        at_risk.append(len(api.sent) - len(ledger))
        add(ledger, calls)

    monkeypatch.setattr(Ledger, "add", add_slowly)
    gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 4}})

    gateway.ask("stage", questions(60))

    assert 4 < max(at_risk) <= AT_RISK * 4, "a slow disk slows nobody down at first"


@pytest.mark.parametrize("of_server", [False, True])
def test_after_the_first_answer_that_a_full_disk_cannot_take_nothing_more_is_sent(
    tmp_path, monkeypatch, of_server
):
    refused = list[int]()
    heard = list[str]()
    add = Ledger.add

    def add_until_full(ledger: Ledger, calls: Iterable[Call]) -> None:
        if len(ledger) >= 20:
            refused.append(len(list(calls)))
            if of_server:
                full = psycopg.errors.DiskFull("The disk is full")
                raise store_error(full, "The server", "ledger") from full
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise StoreError("The disk is full.") from error
        add(ledger, calls)

    monkeypatch.setattr(Ledger, "add", add_until_full)
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", 0.5)
    with serving(Api((100, 150), lambda _key, text: heard.append(text))) as url:
        gateway = gateway_of(tmp_path, {"it": {"base_url": url, "concurrency": 8}})
        with pytest.raises(StoreError, match="The disk is full"):
            gateway.ask("stage", questions(80))

    assert len(refused) > 2, "the disk may have room again: it is tried again"
    # What was in flight, and what came together with the first answer that was not taken.
    assert len(heard) - len(gateway.ledger) <= 8 + refused[0] < 14
