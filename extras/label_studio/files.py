"""Files for Label Studio, for a server that cannot be reached from here: tasks out, annotations in."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from extras.label_studio.annotations import records_of
from extras.label_studio.config import labelling_config
from extras.label_studio.tasks import task_of
from methods.errors import UserError
from methods.json_text import from_json
from methods.review import QueueItem
from resources.files.atomic import write_new
from resources.files.bounded import read_file
from resources.images.store import ImageStore
from review.import_export import Record


def write_items(
    items: Iterable[QueueItem], kind: str | None, round: int, out: Path, images: ImageStore
) -> str:
    """Write tasks to a file, and their labelling config next to it as `.xml`.

    Args:
        items: The items.
        kind: The kind of items.
        round: The round.
        out: The file.
        images: The image store.

    Returns:
        A message with the paths.

    Raises:
        UserError: No kind is given.
        FileExistsError: The file exists.
        ImageNotStored: An image is missing.
    """
    if kind is None:
        raise UserError(
            "A Label Studio project has one labelling config: name the kind with --kind."
        )
    tasks = [task_of(item, round, images) for item in items]
    config = out.with_suffix(".xml")
    write_new(out, json.dumps(tasks, ensure_ascii=False).encode())
    config.write_text(labelling_config(kind), encoding="utf-8")
    return f"The labelling config of the project is {config}."


def read_records(path: Path) -> Iterator[Record]:
    """Read the records of an export in Label Studio's format JSON. Raises UserError."""
    try:
        tasks = from_json(read_file(path).decode("utf-8-sig"), most=None)
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}): export it as 'JSON'.") from None
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict) and task.keys() >= {"id", "data", "annotations"} for task in tasks
    ):
        raise UserError(f"{path} has no tasks with annotations: export it as 'JSON'.")
    return records_of(tasks)
