"""`vlm-loom review label-studio`: push items that a person may decide to a server, and pull decisions.

The token is read from the environment, never from an argument: other users of the machine can see
arguments, and shells store them.
"""

import os
from collections.abc import Mapping
from typing import Any

import click

from methods.errors import UserError
from methods.review import KINDS, QueueItem
from resources.command_line import ChoiceWithSuggestion, WorkspaceCommandGroup
from review.commands import (
    known_reviewer,
    read_queue,
    report_import,
    review_store,
    reviewer_option,
    round_option,
)

TOKEN = "LABEL_STUDIO_TOKEN"

_url = click.option(
    "--url", required=True, help="The address of the server, such as http://127.0.0.1:8080."
)
_kind = click.option("--kind", type=ChoiceWithSuggestion(list(KINDS)), required=True)
_PUSH = "vlm-loom review label-studio push --url http://127.0.0.1:8080 --kind dialogue --round 1"


@click.group("label-studio", cls=WorkspaceCommandGroup)
def label_studio() -> None:
    """Review in Label Studio; its token is in LABEL_STUDIO_TOKEN."""


@label_studio.command(example=f"{_PUSH} --reviewer ann")
@_url
@_kind
@round_option
@reviewer_option
def push(url: str, kind: str, round_: int, reviewer: str) -> None:
    """Add the items that a person may decide to their project."""
    from extras.label_studio.client import LabelStudio
    from extras.label_studio.config import labelling_config
    from extras.label_studio.tasks import task_of
    from resources.images.store import open_images
    from review.import_export import items_to_export

    reviewer = known_reviewer(reviewer, round_)
    server = LabelStudio(url, _token(url))
    open_items = items_to_export(_items_of(kind), review_store(), round_, reviewer)
    name = project_name(kind, round_, reviewer)
    project = server.project(name)
    present: set[tuple[str, str]] = set()
    if project is None:
        title = f"{kind.replace('_', ' ')}, round {round_}: {reviewer}"
        project = server.new_project(name, title, labelling_config(kind))
    else:
        present = {_key(task.get("data")) for task in server.tasks(project)}
    images = open_images()
    new = [item for item in open_items if _key(item) not in present]
    server.add_tasks(project, [task_of(item, round_, images) for item in new])
    print(
        f"{len(new)} tasks added to project {project}, {len(open_items) - len(new)} were there already"
    )


@label_studio.command(example=f"{_PUSH.replace('push', 'pull')} --reviewer ann")
@_url
@_kind
@round_option
@reviewer_option
def pull(url: str, kind: str, round_: int, reviewer: str) -> int:
    """Store the decisions that were made there."""
    from extras.label_studio.annotations import records_of
    from extras.label_studio.client import LabelStudio, LabelStudioError, shown_address
    from review.import_export import import_records

    reviewer = known_reviewer(reviewer, round_)
    server = LabelStudio(url, _token(url))
    project = server.project(project_name(kind, round_, reviewer))
    if project is None:
        raise LabelStudioError(
            f"{shown_address(url)} has no project of this kind, round and reviewer: push it first."
        )
    records = records_of(server.tasks(project))
    return report_import(import_records(_items_of(kind), review_store(), records, reviewer, round_))


def project_name(kind: str, round_: int, reviewer: str) -> str:
    """The name by which a person's project is found; it holds only items that they may decide."""
    return f"vlm-loom: {kind}, round {round_}, by {reviewer}"


def _key(item: Any) -> tuple[str, str]:
    """The item id and content hash of an item, or of a task's data, which others may have changed."""
    data = item if isinstance(item, Mapping) else {}
    return str(data.get("item_id")), str(data.get("content_hash"))


def _token(url: str) -> str:
    from extras.label_studio.client import shown_address

    token = os.environ.get(TOKEN)
    if not token:
        raise UserError(f"{TOKEN} is not set: set it to your access token of {shown_address(url)}.")
    if not (token.isascii() and token.isprintable()) or token != token.strip():
        raise UserError(
            f"{TOKEN} has characters that no token has, a line break perhaps: set it again."
        )
    return token


def _items_of(kind: str) -> list[QueueItem]:
    return [item for item in read_queue() if item["kind"] == kind]


COMMANDS = {"review": [label_studio]}
