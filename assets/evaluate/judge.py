"""A judge's replies about one item: driving the benchmark's `judge` generator."""

import sys
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from methods.evaluation.asking import Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item
from methods.evaluation.judging import (
    JudgeRequest,
    Judgment,
    JudgmentKey,
    own_judgment,
    requests_of,
)
from resources.llm.model_calls import ModelCalls, all_of
from resources.llm.parsed_reply import ParsedReply, complete_and_parse
from resources.llm.request import ChatRequest
from resources.settings.prompts import prompt

JudgeImages = Literal["shown", "all", "none"]
"""Which images of a dialogue the judge is sent: those shown so far, all of them as MMDU's released
scorer does, or none as VLMEvalKit does."""


class JudgeRun(NamedTuple):
    """One judge and the answers of one model to one item; `replicate` counts repetitions from 0."""

    judge: str
    replicate: int
    item: Item
    transcript: Transcript
    images: JudgeImages
    params: Mapping[str, float | int | str]


Judged = tuple[JudgeRequest, ParsedReply[Judgment]]


class JudgeReply(NamedTuple):
    """A stored reply of a judge to the answer `answer_call_key`, without the texts of the request."""

    place: JudgmentKey
    call_key: str
    prompt_version: str
    answer_call_key: str | None
    judgment: Judgment | None
    loss: tuple[str, str] | None

    @classmethod
    def from_reply(
        cls, run: JudgeRun, request: JudgeRequest, reply: ParsedReply[Judgment]
    ) -> "JudgeReply":
        """Make the stored form of a parsed reply.

        Args:
            run: The judge, the item and the transcript.
            request: The request.
            reply: The parsed reply.

        Returns:
            The stored reply.
        """
        answer = run.transcript.answer(request.place.trial, request.place.turn)
        answer_key, version = answer.call_key, sys.intern(reply.prompt_version)
        return cls(request.place, reply.key, version, answer_key, reply.value, reply.loss)


async def judge_item(calls: ModelCalls, benchmark: Benchmark, run: JudgeRun) -> list[Judged]:
    """Send every request of a benchmark about an item to the judge.

    Args:
        calls: The model calls of the stage.
        benchmark: The benchmark, which makes the requests.
        run: The judge, the item and the transcript.

    Returns:
        Each request with the parsed reply, or with why there is none.
    """
    judging = benchmark.judge(run.item, run.transcript)
    judged: list[Judged] = []
    try:
        requests = next(judging)
        while True:
            replies = await ask_judge(calls, run, requests)
            judged += zip(requests, replies, strict=True)
            requests = judging.send([reply.value for reply in replies])
    except StopIteration:
        return judged


async def judge_place(
    calls: ModelCalls,
    benchmark: Benchmark,
    run: JudgeRun,
    place: JudgmentKey,
    judgments: Mapping[JudgmentKey, Judgment],
) -> Judged | None:
    """Send one request of a benchmark about an item to the judge.

    Args:
        calls: The model calls of the stage.
        benchmark: The benchmark, which makes the requests.
        run: The judge, the item and the transcript.
        place: What is judged: the request's trial, turn and part.
        judgments: The judgments of all other requests about the item, which are not sent.

    Returns:
        The request with the parsed reply; None if the benchmark makes no such request.
    """
    for request in requests_of(benchmark.judge(run.item, run.transcript), judgments):
        if request.place == place:
            (reply,) = await ask_judge(calls, run, [request])
            return request, reply
    return None


async def ask_judge(
    calls: ModelCalls, run: JudgeRun, requests: Sequence[JudgeRequest]
) -> list[ParsedReply[Judgment]]:
    """Send requests to the judge.

    Args:
        calls: The model calls of the stage.
        run: The judge, the item and the transcript.
        requests: The requests.

    Returns:
        The parsed replies, in the order of the requests.
    """
    structured = bool(calls.context.registry.model(run.judge).structured_output)

    async def ask(request: JudgeRequest) -> ParsedReply[Judgment]:
        sent = _request(request, run, structured)
        return await complete_and_parse(
            calls, sent, lambda reply: own_judgment(request.read(reply), sent.messages)
        )

    return await all_of(ask(request) for request in requests)


def _request(judge_request: JudgeRequest, run: JudgeRun, structured: bool) -> ChatRequest:
    """The request; the prompt is told whether the reply is held to a schema: it asks for one form."""
    template = prompt(judge_request.prompt)
    images = {"shown": judge_request.images, "all": run.item.image_ids, "none": ()}[run.images]
    return ChatRequest(
        model=run.judge,
        messages=template.render(
            images=images,
            structured=structured and judge_request.schema is not None,
            **judge_request.data,
        ),
        prompt_version=with_images(template.version, run.images),
        params=run.params,
        schema=judge_request.schema,
        task=template.task,
        replicate=run.replicate,
    )


def judge_version(benchmark: Benchmark, images: JudgeImages) -> str:
    """Make the version of a judging. Judgments of one version are observed together.

    Args:
        benchmark: The benchmark, with its prompts and the version of its judge.
        images: Which images the judge is shown.

    Returns:
        The version.

    Raises:
        PromptError: A prompt cannot be read.
    """
    prompts = (prompt(name).version for name in benchmark.judge_prompts)
    return with_images(" ".join([*prompts, benchmark.judge_version]), images)


def with_images(version: str, images: JudgeImages) -> str:
    """Add the choice of images to the version of a judging.

    Args:
        version: The version of the prompts and the judge.
        images: Which images the judge is shown; the default `shown` is not named.

    Returns:
        The version.
    """
    return version if images == "shown" else f"{version} images={images}"
