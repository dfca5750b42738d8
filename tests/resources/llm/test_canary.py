"""A model whose first results all fail for one reason is asked no more, and the others go on."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from methods.prompts.messages import Message
from methods.prompts.parsing import ParseError
from resources.llm import circuit_breaker, gateway
from resources.llm.canary import (
    FIRST_RESULTS,
    FROM_OTHERS,
    Canaries,
    Canary,
    ModelGivenUp,
    PromptGivenUp,
)
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import MAX_REPAIRS, ParsedReply, complete_and_parse
from resources.llm.request import ChatRequest, Outcome
from resources.llm.usage import Usage
from tests.doubles.odd_api import Asked, answering, refusing
from tests.doubles.openai_api import Api, serving
from tests.resources.llm import entries
from tests.resources.llm.entries import AskingGateway, change_entries, gateway_of, kinds, spec_of

pytestmark = pytest.mark.slow


def make_gateway(folder: Path, url: str, concurrency: int = 16) -> AskingGateway:
    judge = {"base_url": url, "identity": "judge", "concurrency": concurrency}
    return gateway_of(folder, {"judge": judge, "other": {"base_url": url, "identity": "other"}})


questions = partial(entries.questions, model="judge")


def in_turn(n: int) -> list[ChatRequest]:
    """`n` questions to each of the two models, one after another."""
    pairs = zip(questions(n), questions(n, model="other"), strict=True)
    return [request for pair in pairs for request in pair]


def read_score(reply: str) -> int:
    if reply == "Fine.":
        return 1
    raise ParseError("no_json", "The reply holds no JSON.")


async def judge(calls: ModelCalls, request: ChatRequest) -> ParsedReply[int]:
    return await complete_and_parse(calls, request, read_score)


@pytest.mark.parametrize("concurrency", [1, 40])
def test_a_judge_that_answers_rubbish_is_not_asked_81_times(tmp_path, api, concurrency):
    api.says("I am a teapot.")
    gateway = make_gateway(tmp_path, api.url, concurrency)

    with pytest.raises(ModelGivenUp) as caught:
        gateway.map("evaluate.judgments", questions(81), judge)

    assert str(caught.value) == (
        "evaluate.judgments stopped asking judge, as its first 20 results all failed with no_json "
        "(The reply holds no JSON): correct what this names (the model's server, its entry in "
        "models.yaml or the prompt), run vlm-loom model re-ask --stage evaluate/judgments "
        "--unread, and run "
        "again; what was answered is kept and costs nothing."
    )
    # Until it is decided no more are begun than decide it, or than may be in flight.
    n_sent = len(api.received)
    assert n_sent <= max(20, concurrency) * (1 + MAX_REPAIRS) < 3 * 81
    # What the ledger knows to be rubbish counts, too.
    with pytest.raises(ModelGivenUp):
        gateway.map("evaluate.judgments", questions(81), judge)
    assert len(api.received) == n_sent or concurrency > 20


def ask_by_prompt(
    folder: Path, answer_odd: Callable[[Asked], None]
) -> tuple[Counter[str], set[str]]:
    """How 30 requests with each of two prompts ended, of which one is answered so, and what was said
    where a prompt was given up."""
    messages: set[str] = set()

    def answer(asked: Asked) -> None:
        answer_odd(asked) if b" to odd?" in asked.body else asked.says()

    requests = [
        ChatRequest("judge", (Message.from_text("user", f"{number} to {name}?"),), f"{name}@1")
        for name in ("odd", "even")
        for number in range(30)
    ]

    async def ask(calls: ModelCalls, request: ChatRequest) -> str:
        name = request.prompt_version.split("@")[0]
        try:
            reply = await judge(calls, request)
        except PromptGivenUp as error:
            messages.add(str(error))
            return f"{name}: left out"
        return f"{name}: {reply.loss[0] if reply.loss else 'read'}"

    with answering(answer) as api:
        ended, _ = make_gateway(folder, api.url).map("s", requests, ask, by_prompt=True)
    return Counter(ended), messages


def test_a_judge_that_answers_rubbish_to_one_prompt_is_asked_with_the_others(tmp_path):
    ended, messages = ask_by_prompt(tmp_path, lambda asked: asked.says("I am a teapot."))

    # Twenty results decide; the ten after them are not sent.
    ends = {"odd: no_json": 19, "odd: left out": 1, "odd: given_up": 10}
    assert ended == {"even: read": 30, **ends}
    (sentence,) = messages
    assert sentence.startswith(
        "s stopped asking judge with the prompt odd, as its first 20 results all failed with no_json "
    )


def test_a_server_that_is_out_of_order_is_given_up_for_all_prompts_and_says_so_once(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(circuit_breaker, "LONGEST_PAUSE", 0.01)
    with pytest.raises(ModelGivenUp, match="^s stopped asking judge, as its first 20 ") as caught:
        ask_by_prompt(tmp_path, refusing(500))

    assert not isinstance(caught.value, PromptGivenUp)


LOSS = ("no_json", "The reply holds no JSON.")


@pytest.mark.parametrize(
    ("results", "is_given_up"),
    [
        ([LOSS] * 20, True),
        ([*[LOSS] * 19, None], False),
        ([*[LOSS] * 19, ("too_long", "20 images."), LOSS], False),
        # After the first result that decides, no other does.
        ([None, *[LOSS] * 40], False),
        # No request with these parameters is taken.
        ([("bad_parameter", "Set `temperature: none`.")], True),
    ],
    ids=["one reason", "one readable reply", "two reasons", "later", "a refused field"],
)
def test_only_first_results_that_all_fail_for_one_reason_give_a_model_up(results, is_given_up):
    canary = Canary("s", spec_of())

    assert [canary.add(loss) for loss in results].count(True) == is_given_up
    assert (canary.given_up is not None) == is_given_up


@pytest.mark.parametrize(
    ("about", "is_given_up"),
    [
        (["a"] * 200, False),
        (["a"] * 200 + ["b"] * 4, False),
        (["a"] * 200 + ["b"] * 5, True),
        (["a", "b"] * 10, True),
        # Comparisons: the first candidate is in most of them, and the others fail without it, too.
        (["ab", "ac"] * 50, False),
        (["ab", "ac"] * 50 + ["bc"] * 5, True),
    ],
)
def test_one_candidate_does_not_give_a_judge_up_for_the_others(about, is_given_up):
    canary = Canary("s", spec_of())

    results = [canary.add(LOSS, frozenset(candidates)) for candidates in about]

    assert results == [False] * (len(about) - 1) + [is_given_up]
    assert f"its first {len(about)} results" in (canary.given_up or "") or not is_given_up


def ask_about(
    folder: Path, about: list[frozenset[str]], broken: Callable[[str], bool]
) -> tuple[list[ParsedReply[int]], int]:
    """What a judge says of answers of candidates, in this order, and how many requests it got."""
    requests = entries.requests_of(
        (f"{number} of {''.join(sorted(names))}?" for number, names in enumerate(about)), "judge"
    )

    def answer(asked: Asked) -> None:
        is_rubbish = broken(asked.json["messages"][0]["content"].split(" of ")[1])
        asked.says("OK") if is_rubbish else asked.says()

    async def ask(calls: ModelCalls, place: int) -> ParsedReply[int]:
        return await judge(calls, requests[place])

    with answering(answer) as api:
        replies, _ = make_gateway(folder, api.url).map(
            "s", range(len(about)), ask, candidates=about.__getitem__
        )
        return replies, len(api.received)


A, B = frozenset("a"), frozenset("b")


@pytest.mark.parametrize(
    "about",
    [[A] * 81 + [B] * 30, [frozenset("ab")] * 40 + [frozenset("ac")] * 41 + [B] * 30],
    ids=["answers", "comparisons"],
)
def test_a_candidate_that_confuses_the_judge_leaves_the_others_their_judgments(tmp_path, about):
    replies, _ = ask_about(tmp_path, about, lambda names: "a" in names)

    assert [reply.value for reply in replies] == [None] * 81 + [1] * 30
    # Requests about the candidate are not sent until the others have answers.
    assert {reply.loss and reply.loss[0] for reply in replies} <= {"no_json", "given_up", None}


def test_a_judge_that_answers_rubbish_is_not_asked_about_one_candidate_any_more(tmp_path):
    # The others are too few to tell whether the judge or the candidate is to blame.
    replies, n_sent = ask_about(tmp_path, [A] * 200 + [B] * 3, lambda names: True)

    assert n_sent <= (FIRST_RESULTS + FROM_OTHERS + 3) * (1 + MAX_REPAIRS)
    assert {reply.loss[0] for reply in replies[:200] if reply.loss} == {"no_json", "given_up"}
    assert {reply.loss and reply.loss[0] for reply in replies[200:]} == {"no_json"}


@pytest.mark.parametrize(
    ("about", "most"),
    [
        # Each item is judged in 22 turns, of one candidate after the other.
        (([A] * 22 + [B] * 22) * 10, 22 + 2 * 5),
        ([A, B] * 200, 20 + 5),
        # All are about one candidate, which has no others to harm.
        ([A] * 200, 20),
        ([frozenset(), A] * 100, 20),
        ([frozenset("ab"), frozenset("ac")] * 100, 20 + 5),
    ],
)
def test_a_judge_that_answers_rubbish_of_all_candidates_is_stopped_early(tmp_path, about, most):
    n_sent = Counter[str]()

    def is_broken(names: str) -> bool:
        n_sent["all"] += 1
        return True

    with pytest.raises(ModelGivenUp):
        ask_about(tmp_path, about, is_broken)

    assert n_sent["all"] <= most * (1 + MAX_REPAIRS)


def test_a_candidate_that_is_broken_itself_is_given_up_next_to_others(tmp_path):
    with answering(refusing(400, to=is_to_judge)) as api:
        gateway = make_gateway(tmp_path, api.url)
        outcomes, _ = gateway.map(
            "s",
            in_turn(81),
            ModelCalls.complete,
            apart=lambda each: each.model,
            candidates=lambda each: frozenset([each.model]),
        )

    assert kinds_of("other", outcomes) == {"answered": 81}
    assert kinds_of("judge", outcomes) == {"bad_request": 20, "given_up": 61}


def test_a_model_that_refuses_answers(tmp_path, api):
    api.answers(content=None, refusal="I would rather not.")

    outcomes, usage = make_gateway(tmp_path, api.url).ask("s", questions(30))

    assert usage.failures == {"refused": 30} and len(outcomes) == 30


@pytest.mark.parametrize("can_be_shorter", [True, False])
def test_a_request_that_is_too_long_says_nothing_about_shorter_ones(tmp_path, api, can_be_shorter):
    """A shorter one of the same item, or those of another candidate that a judge reads."""
    api.says("North.")
    gateway = make_gateway(tmp_path, api.url)
    change_entries(gateway, context_tokens=100)

    async def ask(calls: ModelCalls, short: ChatRequest) -> Outcome:
        text = "x" * 1000 + short.messages[0].parts[0].text
        long = replace(short, messages=(Message.from_text("user", text),))
        await calls.complete(long, can_be_shorter=can_be_shorter)
        return await calls.complete(short)

    outcomes, usage = gateway.map("s", questions(50), ask)
    assert kinds(outcomes) == ["answered"] * 50
    assert usage.failures == {"too_long": 50} and len(api.received) == 50


def test_an_error_of_the_caller_leaves_its_place_to_the_next(tmp_path, api):
    async def stumble(calls: ModelCalls, request: ChatRequest) -> str:
        with pytest.raises(ZeroDivisionError):
            async with calls.trial(request):
                raise ZeroDivisionError
        return (await calls.outcome_of(request)).key

    keys, _ = make_gateway(tmp_path, api.url).map("s", questions(50), stumble)

    assert len(set(keys)) == 50


def is_to_judge(asked: Asked) -> bool:
    return asked.json["model"] == "judge"


def kinds_of(model: str, outcomes: list[Outcome]) -> Counter[str]:
    return Counter(kinds(outcomes[("judge", "other").index(model) :: 2]))


def ask_in_turn(gateway: AskingGateway, n: int = 81) -> tuple[list[Outcome], Usage]:
    return gateway.map("s", in_turn(n), ModelCalls.complete, apart=lambda each: each.model)


def test_a_refused_key_ends_the_requests_of_its_model_only(tmp_path):
    with answering(refusing(401, to=is_to_judge)) as api:
        outcomes, usage = ask_in_turn(make_gateway(tmp_path, api.url))

    assert kinds_of("other", outcomes) == {"answered": 81}
    ended = kinds_of("judge", outcomes)
    assert ended.total() == 81 and ended.keys() == {"auth", "given_up"}
    assert sum(map(is_to_judge, api.received)) == ended["auth"] <= 20
    assert usage.failures == ended
    given_up = next(each for each in outcomes if getattr(each, "kind", "") == "given_up")
    assert "judge" in given_up.detail and "it says: No" in given_up.detail


def test_a_model_that_is_given_up_is_asked_with_no_other_prompt():
    canaries, model = Canaries("s", by_prompt=True), spec_of()
    first = canaries.canary(model, "one@1")
    canaries.give_up(model, "It is gone.")
    assert first.given_up == canaries.canary(model, "two@1").given_up == "It is gone."
    assert canaries.canary(spec_of(name="another"), "two@1").given_up is None


def test_a_model_that_fails_is_given_up_but_what_it_answered_earlier_is_there(tmp_path):
    with serving(Api()) as url:
        make_gateway(tmp_path, url).ask("s", questions(81)[60:])
    with answering(refusing(400, to=is_to_judge)) as api:
        outcomes, _ = ask_in_turn(make_gateway(tmp_path, api.url))

    assert kinds_of("other", outcomes) == {"answered": 81}
    assert kinds_of("judge", outcomes) == {"bad_request": 20, "given_up": 40, "answered": 21}
    assert sum(map(is_to_judge, api.received)) == 20


def test_a_model_that_never_answers_in_time_does_not_hold_up_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(gateway, "WORKERS", 2)
    others_are_answered = threading.Event()

    def answer(asked: Asked) -> None:
        if is_to_judge(asked):
            assert others_are_answered.wait(25)
        asked.says()
        if sum(not is_to_judge(each) for each in asked.server.received) == 40:
            others_are_answered.set()

    with answering(answer) as api:
        # More than all workers of one model, so that they would all wait for the one that sleeps.
        asks = change_entries(
            make_gateway(tmp_path, api.url, concurrency=4), attempts=1, timeouts={"whole": 20}
        )
        assert asks._workers() < 40
        outcomes, _ = ask_in_turn(asks, 40)

    assert kinds_of("judge", outcomes) == kinds_of("other", outcomes) == {"answered": 40}
