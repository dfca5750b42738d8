"""LLM judging of one item: sends the requests of the benchmark's `judge` generator to a judge."""

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
"""The images of a dialogue that the judge sees: those shown up to the turn, all (as in MMDU's released
scorer), or none (as in VLMEvalKit).
"""


class JudgeRun(NamedTuple):
    """One judge and the answers of one model to one item; replicates are counted from 0."""

    judge: str
    replicate: int
    item: Item
    transcript: Transcript
    images: JudgeImages
    params: Mapping[str, float | int | str]


Judged = tuple[JudgeRequest, ParsedReply[Judgment]]


async def judge_item(calls: ModelCalls, benchmark: Benchmark, run: JudgeRun) -> list[Judged]:
    """Send every request of a benchmark about an item to the judge.

    Args:
        calls: The model calls of the stage.
        benchmark: The benchmark, which makes the requests.
        run: The judge, the item and the transcript.

    Returns:
        Each request with its parsed reply, which has the reason if there is no judgment.
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
    """Send a single request of a benchmark about an item to the judge.

    Args:
        calls: The model calls of the stage.
        benchmark: The benchmark, which makes the requests.
        run: The judge, the item and the transcript.
        place: The trial, turn and part of the request.
        judgments: Known judgments of the item's other requests, which are used in place of calls.

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
    """Make the chat request. `structured` tells the prompt whether a JSON schema is enforced."""
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
    """Return the version of judging. Only judgments of the same version are scored together.

    Args:
        benchmark: The benchmark, with its prompts and the version of its judge.
        images: The images that the judge sees.

    Returns:
        The version.

    Raises:
        PromptError: A prompt cannot be read.
    """
    prompts = (prompt(name).version for name in benchmark.judge_prompts)
    return with_images(" ".join([*prompts, benchmark.judge_version]), images)


def with_images(version: str, images: JudgeImages) -> str:
    """Add the setting of the judge's images to a version of judging.

    Args:
        version: The version of the prompts and the judge.
        images: The images that the judge sees; the default `shown` is not added.

    Returns:
        The version.
    """
    return version if images == "shown" else f"{version} images={images}"
