"""`label-studio push` and `pull`: review in a team's own Label Studio.

What belongs here: arguments, and the name of each person's project. The token is in the environment,
since other users of the machine can see arguments.
"""

import argparse
import os
from collections.abc import Callable

from methods.review import KINDS, ROUNDS, QueueItem
from resources.home import images_path, review_path
from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from review.commands.files import read_queue, report
from review.import_export import import_records, items_to_export
from review.label_studio.annotations import records_of
from review.label_studio.client import LabelStudio, LabelStudioError
from review.label_studio.config import labelling_config
from review.label_studio.tasks import task_of

TOKEN = "LABEL_STUDIO_TOKEN"

Command = Callable[[argparse.Namespace, LabelStudio, list[QueueItem]], int]


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `label-studio push` and `label-studio pull`."""
    parser = commands.add_parser("label-studio", help=f"review in Label Studio (token in {TOKEN})")
    actions = parser.add_subparsers(required=True, metavar="command")
    for name, command, what in (
        ("push", _push, "add the items that a person may decide to their project"),
        ("pull", _pull, "store the decisions made there"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument(
            "--url", required=True, help="address of the server, such as http://127.0.0.1:8080"
        )
        action.add_argument("--kind", choices=list(KINDS), required=True)
        action.add_argument("--round", type=int, choices=ROUNDS, required=True)
        action.add_argument("--reviewer", required=True, help="the name on the decisions")
        action.set_defaults(command=command)


def _push(arguments: argparse.Namespace) -> int:
    return _with_server(arguments, _push_to)


def _pull(arguments: argparse.Namespace) -> int:
    return _with_server(arguments, _pull_from)


def _with_server(arguments: argparse.Namespace, command: Command) -> int:
    token = os.environ.get(TOKEN)
    if not token:
        raise LabelStudioError(
            f"{TOKEN} is not set: set it to your access token of {arguments.url}."
        )
    items = [item for item in read_queue() if item["kind"] == arguments.kind]
    with LabelStudio(arguments.url, token) as server:
        return command(arguments, server, items)


def _push_to(arguments: argparse.Namespace, server: LabelStudio, items: list[QueueItem]) -> int:
    kind, round, reviewer = arguments.kind, arguments.round, arguments.reviewer
    open_items = items_to_export(items, ReviewStore(review_path()), round, reviewer)
    name = project_name(kind, round, reviewer)
    project = server.project(name)
    present: set[tuple[str, str]] = set()
    if project is None:
        title = f"{kind.replace('_', ' ')}, round {round}: {reviewer}"
        project = server.new_project(name, title, labelling_config(kind))
    else:
        data = [task["data"] for task in server.tasks(project)]
        present = {(each.get("item_id"), each.get("content_hash")) for each in data}
    images = ImageStore(images_path())
    new = [item for item in open_items if (item["item_id"], item["content_hash"]) not in present]
    server.add_tasks(project, [task_of(item, round, images) for item in new])
    print(
        f"{len(new)} tasks added to project {project}, {len(open_items) - len(new)} were there already"
    )
    return 0


def _pull_from(arguments: argparse.Namespace, server: LabelStudio, items: list[QueueItem]) -> int:
    project = server.project(project_name(arguments.kind, arguments.round, arguments.reviewer))
    if project is None:
        raise LabelStudioError(
            f"{arguments.url} has no project of this kind, round and reviewer: push it first."
        )
    return report(
        import_records(
            items,
            ReviewStore(review_path()),
            records_of(server.tasks(project)),
            arguments.reviewer,
            arguments.round,
        )
    )


def project_name(kind: str, round: int, reviewer: str) -> str:
    """The name by which a person's project is found; it holds only items that they may decide."""
    return f"vlm-loom: {kind}, round {round}, by {reviewer}"
