"""Inner products of every two task vectors in a folder, from which all distances follow."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from extras.task_map.methods.clustering import MIN_TASKS, Floats
from extras.task_map.resources.adapters import Adapter, is_adapter, products_of_adapters
from extras.task_map.resources.tensor_files import TaskVectorError, TensorFiles, shape_text

NUMBERS = 2**23
"""Limit of the numbers, of all tasks and the base, in memory: 64 MiB in double precision, and as much
again while they are read."""


def products_of_weights(
    tasks: Mapping[str, TensorFiles], base: TensorFiles, *, most_numbers: int = NUMBERS
) -> Floats:
    """Compute the inner products of every two task vectors (tasks x tasks), in the order of `tasks`.

    Integer buffers must equal those of the base. At most `most_numbers` values are read at once. Raises
    TaskVectorError if weights do not match the base.
    """
    for task, weights in tasks.items():
        _require_comparable(task, weights, base)
    total = np.zeros((len(tasks), len(tasks)))
    for name in base:
        if not base.is_weight(name):
            _require_unchanged(name, tasks, base)
            continue
        for start, stop in _parts(base.shape(name), most_numbers // (len(tasks) + 1)):
            before = base.rows(name, start, stop).ravel()
            changes = np.empty((len(tasks), len(before)))
            for place, weights in enumerate(tasks.values()):
                np.subtract(weights.rows(name, start, stop).ravel(), before, out=changes[place])
            total += changes @ changes.T
    return total


def _parts(shape: tuple[int, ...], most_numbers: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with at most this many numbers, but at least one row."""
    n_rows = shape[0] if shape else 1
    step = max(1, most_numbers // max(1, int(np.prod(shape[1:]))))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)


def _require_comparable(task: str, tensors: TensorFiles, base: TensorFiles) -> None:
    differing = sorted(set(tensors) ^ set(base))
    if differing:
        name = differing[0]
        lacks, has = (tensors, base) if name in base else (base, tensors)
        raise TaskVectorError(
            f"{lacks.folder} has no tensor {name}, which {has.folder} has: {task} is of another base, "
            "or was saved in another form."
        )
    for name in base:
        if tensors.shape(name) != base.shape(name):
            shapes = [shape_text(files.shape(name)) for files in (tensors, base)]
            raise TaskVectorError(
                f"{name} of {task} is {shapes[0]}, that of the base {shapes[1]}: {task} is of another "
                "base."
            )
        if tensors.is_weight(name) != base.is_weight(name):
            raise TaskVectorError(
                f"{name} is weights in one of {tensors.folder} and {base.folder}, and counts in the "
                f"other: {task} is of another base."
            )


def _require_unchanged(name: str, tasks: Mapping[str, TensorFiles], base: TensorFiles) -> None:
    before = base.whole(name)
    for task, weights in tasks.items():
        if not np.array_equal(weights.whole(name), before):
            raise TaskVectorError(
                f"{name}, which is not a weight, differs between {task} and the base: {task} is of "
                "another base."
            )


class VectorProducts(NamedTuple):
    """Tasks in order of name, and the products of their vectors; `kind` names the type of the files."""

    tasks: tuple[str, ...]
    products: Floats
    kind: str


def read_products(folder: Path, base: Path | None = None) -> VectorProducts:
    """Compute the products of the task vectors in a folder.

    Args:
        folder: The folder, with a folder for each task.
        base: The weights before the fine-tuning; None for adapters.

    Raises:
        TaskVectorError: The files cannot be read or compared.
    """
    if not folder.is_dir():
        raise TaskVectorError(f"{folder} is not a folder: give one with a folder for each task.")
    folders = sorted(
        path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")
    )
    if len(folders) < MIN_TASKS:
        raise TaskVectorError(
            f"{folder} has {len(folders)} folders of tasks: a task map needs {MIN_TASKS} or more."
        )
    for path in folders:
        if not path.name.isprintable():
            raise TaskVectorError(
                f"The name of the folder {path} has a character that cannot be shown: rename it."
            )
    tasks = tuple(path.name for path in folders)
    adapters = [is_adapter(path) for path in folders]
    if any(adapters) and not all(adapters):
        adapter, other = folders[adapters.index(True)], folders[adapters.index(False)]
        raise TaskVectorError(
            f"{adapter} is an adapter and {other} is not: give only adapters or only whole weights."
        )
    with ExitStack() as stack:
        opened = [stack.enter_context(TensorFiles(path)) for path in folders]
        if all(adapters):
            if base is not None:
                raise TaskVectorError(
                    f"{folder} has adapters, which are changes themselves: leave out --base {base}."
                )
            of_tasks = [Adapter(*pair) for pair in zip(tasks, opened, strict=True)]
            kind = f"LoRA adapters of {of_tasks[0].base or 'an unnamed base'}"
            return VectorProducts(tasks, products_of_adapters(of_tasks), kind)
        if base is None:
            raise TaskVectorError(
                f"{folder} has whole weights: give those before the fine-tuning, too (--base)."
            )
        if not base.is_dir():
            raise TaskVectorError(f"{base} is not a folder: give the base's weights (--base).")
        before = stack.enter_context(TensorFiles(base))
        weights = dict(zip(tasks, opened, strict=True))
        kind = f"whole weights less those of {base.resolve().name}"
        return VectorProducts(tasks, products_of_weights(weights, before), kind)
