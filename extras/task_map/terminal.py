"""Task maps from fine-tuned weights, and the learning difficulty of tasks, for a terminal."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from extras.task_map.methods.clustering import task_map
from extras.task_map.methods.difficulty import Difficulty, learning_difficulty
from extras.task_map.methods.vectors import cosine_distances
from extras.task_map.resources.accuracy_file import read_accuracies
from extras.task_map.resources.page import render_task_map, task_map_csv
from extras.task_map.resources.products import read_products
from methods.delimited import Quoting
from methods.errors import UserError, printable
from resources.files import home
from resources.files.atomic import write_atomically
from resources.publishing.releases import release_meant
from resources.warehouse.configured import warehouse_of_home

PAGE = "task-map.html"
Row = Mapping[str, Any]


class NoTaskScores(UserError):
    """A release has no scores by task."""


def map_of_weights(vectors: Path, base: Path | None, out: Path | None) -> str:
    """Write the map of task vectors as an HTML page and a CSV table.

    Args:
        vectors: The folder with a folder for each task.
        base: The weights before the fine-tuning; None for adapters.
        out: The HTML page to write; by default in the reports.

    Returns:
        The message to print: which tasks are in which cluster.

    Raises:
        UserError: The vectors or the name of the page cannot be used.
    """
    page = out or home.reports_path() / PAGE
    if page.suffix != ".html":
        raise UserError(f"{page} is not a name of a page: end it with .html.")
    products = read_products(vectors, base)
    weights_map = task_map(products.tasks, cosine_distances(products.products, products.tasks))
    generated = datetime.now(UTC).isoformat(timespec="seconds")
    kind, folder = printable(products.kind), printable(str(vectors))
    html = render_task_map(weights_map, kind, folder, generated)
    table = page.with_suffix(".csv")
    write_atomically(page, html.encode())
    write_atomically(table, task_map_csv(weights_map).encode())
    lines = [
        f"{len(weights_map.tasks)} tasks in {max(weights_map.clusters)} clusters, by {products.kind}:"
    ]
    for cluster in range(1, max(weights_map.clusters) + 1):
        pairs = zip(weights_map.tasks, weights_map.clusters, strict=True)
        lines.append(
            f"  {cluster}  {', '.join(task for task, number in pairs if number == cluster)}"
        )
    return "\n".join([*lines, f"Page: {page}", f"Table: {table}"])


def difficulty_of(accuracies: Path, release: str, quoting: Quoting) -> str:
    """Compare the tasks of a release by mean score with accuracies after fine-tuning.

    Args:
        accuracies: The CSV of accuracies.
        release: The id or name of the release, or the beginning of its id.
        quoting: How the quotes of the file are read.

    Returns:
        The message to print.

    Raises:
        UserError: The file cannot be read, or there are too few common tasks.
    """
    fine_tuned = read_accuracies(accuracies, quoting)
    warehouse = warehouse_of_home()
    release_id = release_meant(warehouse, release)
    order = "judge, judge_version, place, task"
    rows = warehouse.select("evaluate.task_map", order=order, release_id=release_id).to_pylist()
    if not rows:
        raise NoTaskScores(
            f"{release_id} has no scores by task: run the job evaluate, with the label of its tasks in "
            "the setting evaluate.task_map.label."
        )
    parts = []
    for (judge, version), of_judge in groupby(
        rows, key=lambda row: (row["judge"], row["judge_version"])
    ):
        scored = list(of_judge)
        difficulty = learning_difficulty(
            fine_tuned, {row["task"]: row["mean_score"] for row in scored}
        )
        metric, n_models = scored[0]["metric"], scored[0]["n_models"]
        head = f"{release_id}, judge {judge} ({version}), {metric}, {n_models} models"
        parts.append(
            "\n".join([head, "", *_ranking(scored, fine_tuned), "", *_summary_lines(difficulty)])
        )
    return "\n\n".join(parts)


def _ranking(rows: Sequence[Row], fine_tuned: Mapping[str, float]) -> list[str]:
    """List every task of the release, the hardest first, with its score and fine-tuned accuracy."""
    width = max(len("task"), *(len(row["task"]) for row in rows))
    lines = [f"place  {'task'.ljust(width)}  mean score  fine-tuned"]
    for row in rows:
        after = fine_tuned.get(row["task"])
        shown = "–" if after is None else f"{after:g}"
        lines.append(
            f"{row['place']:>5}  {row['task'].ljust(width)}  {row['mean_score']:>10.2f}  {shown:>10}"
        )
    return lines


def _summary_lines(difficulty: Difficulty) -> list[str]:
    if difficulty.rho.value is None:
        lines = [f"Spearman's rho over {difficulty.n} tasks: none. {difficulty.reason}"]
    else:
        lines = [
            f"Spearman's rho over {difficulty.n} tasks: {difficulty.rho.value:.2f}, 95 % interval "
            f"{difficulty.rho.ci_low:.2f} to {difficulty.rho.ci_high:.2f}, p = {difficulty.p:.4f}"
        ]
    lines.append(f"Below the median of both: {', '.join(difficulty.hard) or 'none'}")
    for tasks, where in (
        (difficulty.only_fine_tuned, "only in the file"),
        (difficulty.only_asked, "only in the release"),
    ):
        if tasks:
            lines.append(f"Left out, {where}: {', '.join(tasks)}")
    return lines
