"""`label-studio push` and `pull`: a round in a team's own Label Studio, from a shell.

What belongs here: arguments, and which project is whose. The token stands in the environment, since
a command line may be read by anyone on the machine.
"""

import argparse
import os
from collections.abc import Callable

from methods.review import KINDS, ROUNDS, QueueItem
from resources.home import images_path, review_path
from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from review.commands.files import read_queue, report
from review.label_studio.annotations import records_of
from review.label_studio.client import LabelStudio, LabelStudioError
from review.label_studio.config import labelling_config
from review.label_studio.tasks import task_of
from review.rounds import awaiting, take_in

TOKEN = "LABEL_STUDIO_TOKEN"

Command = Callable[[argparse.Namespace, LabelStudio, list[QueueItem]], int]


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `label-studio push` and `label-studio pull`."""
    parser = commands.add_parser("label-studio", help=f"review in Label Studio (token in {TOKEN})")
    ways = parser.add_subparsers(required=True)
    for name, command, what in (
        ("push", _push, "put what awaits a person into this person's project"),
        ("pull", _pull, "store what was decided there"),
    ):
        way = ways.add_parser(name, help=what)
        way.add_argument("--url", required=True, help="the server, such as http://127.0.0.1:8080")
        way.add_argument("--kind", choices=list(KINDS), required=True)
        way.add_argument("--round", type=int, choices=ROUNDS, required=True)
        way.add_argument("--reviewer", required=True, help="the name the decisions stand under")
        way.set_defaults(command=command)


def _push(arguments: argparse.Namespace) -> int:
    return _with_server(arguments, _push_to)


def _pull(arguments: argparse.Namespace) -> int:
    return _with_server(arguments, _pull_from)


def _with_server(arguments: argparse.Namespace, command: Command) -> int:
    token = os.environ.get(TOKEN)
    if not token:
        raise LabelStudioError(f"{TOKEN} is not set: give it your access token of {arguments.url}.")
    items = [item for item in read_queue() if item["kind"] == arguments.kind]
    with LabelStudio(arguments.url, token) as server:
        return command(arguments, server, items)


def _push_to(arguments: argparse.Namespace, server: LabelStudio, items: list[QueueItem]) -> int:
    kind, round, reviewer = arguments.kind, arguments.round, arguments.reviewer
    given = awaiting(items, ReviewStore(review_path()), round, reviewer)
    name = project_name(kind, round, reviewer)
    project = server.project(name)
    there: set[tuple[str, str]] = set()
    if project is None:
        title = f"{kind.replace('_', ' ')}, round {round}: {reviewer}"
        project = server.new_project(name, title, labelling_config(kind))
    else:
        data = [task["data"] for task in server.tasks(project)]
        there = {(each.get("item_id"), each.get("content_hash")) for each in data}
    images = ImageStore(images_path())
    new = [item for item in given if (item["item_id"], item["content_hash"]) not in there]
    server.add_tasks(project, [task_of(item, round, images) for item in new])
    print(f"{len(new)} tasks added to project {project}, {len(given) - len(new)} there already")
    return 0


def _pull_from(arguments: argparse.Namespace, server: LabelStudio, items: list[QueueItem]) -> int:
    project = server.project(project_name(arguments.kind, arguments.round, arguments.reviewer))
    if project is None:
        raise LabelStudioError(f"{arguments.url} has no project of this round: push it first.")
    return report(
        take_in(
            items,
            ReviewStore(review_path()),
            records_of(server.tasks(project)),
            arguments.reviewer,
            arguments.round,
        )
    )


def project_name(kind: str, round: int, reviewer: str) -> str:
    """What a project is known by: a person may see in it only what is theirs to decide."""
    return f"vlm-loom: {kind}, round {round}, by {reviewer}"
