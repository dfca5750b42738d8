"""The task of this folder for inspect_ai: inspect eval task.py --model PROVIDER/MODEL."""

import base64
import functools
import importlib.util
import logging
import mimetypes
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
)
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, SampleScore, Score, metric, scorer
from inspect_ai.solver import solver

HERE = Path(__file__).parent
SAID = "vlm_loom"
ANSWERED = ("stop", "unknown")
"""Stop reasons of complete answers. Other stop reasons mean that the answer was cut off or filtered."""
VALUES = {True: CORRECT, False: INCORRECT, None: NOANSWER}
"""The value of a pass by whether its letter is right; None if no rule extracts a letter."""


@functools.cache
def _letter_scores():
    """Load letter_scores.py from this folder. It only exists if the task scores letters."""
    spec = importlib.util.spec_from_file_location("letter_scores", HERE / "letter_scores.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _inside(path):
    """Return an image as a data URL: inspect_ai only opens image files of a sample's input."""
    kind, _ = mimetypes.guess_type(path)
    return f"data:{kind or 'image/webp'};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _message(record, shown=str):
    if record["role"] == "assistant":
        # inspect_ai would put line ends between the parts of an assistant's message.
        return ChatMessageAssistant(content="".join(part["text"] for part in record["content"]))
    content = [
        ContentImage(image=shown(HERE / part["image"]))
        if part["image"] is not None
        else ContentText(text=part["text"])
        for part in record["content"]
    ]
    return ChatMessageUser(content=content)


def _sample(record):
    # The messages from the first answer on are sent turn by turn.
    turns = [message["turn"] for message in record["messages"]]
    first = next(place for place, turn in enumerate(turns) if turn is not None)
    return Sample(
        id=record["id"],
        input=[_message(message) for message in record["messages"][:first]],
        target=record["target"],
        metadata={
            "labels": record["labels"],
            "choices": record["choices"],
            "counted": record["counted"],
            "rest": record["messages"][first:],
            SAID: {"item_id": record["item_id"], "trial": record["trial"], "said": []},
        },
    )


@solver
def turn_by_turn():
    """Ask turn after turn over the model's own answers. A missing answer ends the dialogue."""

    async def solve(state, generate):
        rounds = []
        for record in state.metadata["rest"]:
            if record["turn"] is None:
                state.messages.append(_message(record, _inside))
                continue
            state = await generate(state)
            answered = state.output.stop_reason in ANSWERED
            text = state.output.completion if answered else ""
            rounds.append({"turn": record["turn"], "text": text, "why": state.output.stop_reason})
            if not text.strip():
                break
        state.metadata[SAID] = {**state.metadata[SAID], "said": rounds}
        return state

    return solve


@metric
def vlm_loom():
    """The score of the release as on its leaderboard: the passes of an item count once together."""

    # Without this type, inspect_ai takes the function for a metric with its older interface.
    def compute(scores: list[SampleScore]):
        passes = [each.score.metadata for each in scores if each.score.metadata]
        return _letter_scores().summary(passes)

    return compute


@scorer(metrics=[vlm_loom()])
def letters():
    """Score whether the extracted letter of an answer is right, by the rules of vlm-loom."""

    async def score(state, target):
        counted = state.metadata["counted"]
        if counted is None:
            return Score(value=NOANSWER, explanation="The right answer is not known.")
        record = state.metadata[SAID]
        text = record["said"][-1]["text"] if record["said"] else ""
        letter, rule = _letter_scores().read_letter(text, state.metadata["choices"])
        right = None if letter is None else letter == target.text
        return Score(
            value=VALUES[right],
            answer=letter,
            explanation=f"Read by the rule {rule!r}." if rule else "No rule reads a letter.",
            metadata={**counted, "item": record["item_id"], "right": right},
        )

    return score


@task
def release():
    """All conversations of the release. Letters are scored if the benchmark ranks models by them."""
    dataset = json_dataset(str(HERE / "data.jsonl"), _sample)
    is_scored = any(sample.metadata["counted"] for sample in dataset)
    if not is_scored:
        logging.getLogger(__name__).warning("No score is printed: see README.md of the task.")
    config = GenerateConfig(temperature=0.0, max_tokens=2048)
    return Task(
        dataset=dataset,
        solver=turn_by_turn(),
        scorer=letters() if is_scored else None,
        config=config,
    )
