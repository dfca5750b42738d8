"""The task of this folder for inspect_ai: inspect eval task.py --model PROVIDER/MODEL."""

import base64
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
from inspect_ai.scorer import exact, pattern
from inspect_ai.solver import solver

HERE = Path(__file__).parent
SAID = "vlm_loom"
ANSWERED = ("stop", "unknown")
"""Other reasons for the end of an answer mean that it was cut off or filtered."""


def _inside(path):
    """A picture as a data URL: inspect_ai opens files for what a sample begins with alone."""
    kind, _ = mimetypes.guess_type(path)
    return f"data:{kind or 'image/webp'};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _message(record, shown=str):
    if record["role"] == "assistant":
        # Parts of an assistant's message would be sent with line ends between them.
        return ChatMessageAssistant(content="".join(part["text"] for part in record["content"]))
    content = [
        ContentImage(image=shown(HERE / part["image"]))
        if part["image"] is not None
        else ContentText(text=part["text"])
        for part in record["content"]
    ]
    return ChatMessageUser(content=content)


def _sample(record):
    # What comes after the first answer is put to the model turn by turn.
    turns = [message["turn"] for message in record["messages"]]
    first = next(place for place, turn in enumerate(turns) if turn is not None)
    return Sample(
        id=record["id"],
        input=[_message(message) for message in record["messages"][:first]],
        target=record["target"],
        metadata={
            "labels": record["labels"],
            "lettered": record["lettered"],
            "rest": record["messages"][first:],
            SAID: {"item_id": record["item_id"], "trial": record["trial"], "said": []},
        },
    )


@solver
def turn_by_turn():
    """Each turn after the model's own answers; a turn without an answer is the last one."""

    async def solve(state, generate):
        said = []
        for record in state.metadata["rest"]:
            if record["turn"] is None:
                state.messages.append(_message(record, _inside))
                continue
            state = await generate(state)
            answered = state.output.stop_reason in ANSWERED
            text = state.output.completion if answered else ""
            said.append({"turn": record["turn"], "text": text, "why": state.output.stop_reason})
            if not text.strip():
                break
        state.metadata[SAID] = {**state.metadata[SAID], "said": said}
        return state

    return solve


@task
def release():
    """Every conversation of the release; letters, and answers to one question, have a score here."""
    dataset = json_dataset(str(HERE / "data.jsonl"), _sample)
    scorer = None
    if all(sample.metadata["lettered"] for sample in dataset):
        scorer = pattern(r"^\W*([A-J])(?![A-Za-z])", ignore_case=False)
    elif all(len(sample.metadata["rest"]) == 1 for sample in dataset):
        scorer = exact()
    config = GenerateConfig(temperature=0.0, max_tokens=2048)
    return Task(dataset=dataset, solver=turn_by_turn(), scorer=scorer, config=config)
