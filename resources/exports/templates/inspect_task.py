"""The task of this folder for inspect_ai: inspect eval task.py --model PROVIDER/MODEL."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import exact, pattern
from inspect_ai.solver import generate

HERE = Path(__file__).parent


def _sample(record):
    content = [
        ContentText(text=part["text"])
        if "text" in part
        else ContentImage(image=str(HERE / part["image"]))
        for part in record["content"]
    ]
    return Sample(
        id=record["id"],
        input=[ChatMessageUser(content=content)],
        target=record["target"],
        metadata={"labels": record["labels"], "letters": record["letters"]},
    )


@task
def release():
    """Every item of the release, asked once; what it answers is compared with the target."""
    dataset = json_dataset(str(HERE / "data.jsonl"), _sample)
    lettered = all(sample.metadata["letters"] for sample in dataset)
    scorer = pattern(r"^\W*([A-H])(?![A-Za-z])", ignore_case=False) if lettered else exact()
    return Task(dataset=dataset, solver=generate(), scorer=scorer)
