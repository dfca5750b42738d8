"""`vlm-loom result task-map` and `difficulty`: tasks by weights, and how hard they are to learn."""

from pathlib import Path

import click

from methods.delimited import Quoting
from methods.errors import printable
from resources.command_line import FILE, QUOTING, Command, WorkspaceCommand


@click.command(
    "task-map",
    cls=Command,
    example="vlm-loom result task-map vectors --base base --out map.html",
    workspace="optional",
)
@click.argument("vectors", type=FILE)
@click.option(
    "--base", type=FILE, help="The weights before the fine-tuning; leave it out for adapters."
)
@click.option("--out", type=FILE, help="The file to write (default: task-map.html in the reports).")
def task_map(vectors: Path, base: Path | None, out: Path | None) -> None:
    """A map of tasks from fine-tuned weights, a folder of safetensors for each task: page and CSV."""
    from extras.task_map.terminal import map_of_weights

    print(printable(map_of_weights(vectors, base, out)))


@click.command(
    "difficulty",
    cls=WorkspaceCommand,
    params=[QUOTING],
    example="vlm-loom result difficulty accuracies.csv mmiu-imported",
)
@click.argument("accuracies", type=FILE)
@click.argument("release")
def difficulty(accuracies: Path, release: str, quoting: Quoting) -> None:
    """Accuracies after fine-tuning (CSV: task, accuracy) beside the scores of models, by task."""
    from extras.task_map.terminal import difficulty_of

    print(printable(difficulty_of(accuracies, release, quoting)))


COMMANDS = {"result": [task_map, difficulty]}
