"""Whole fine-tuned weights, whose task vectors are their differences from the base.

Tensors are read some rows at a time, of all tasks at once: no more than `NUMBERS` numbers are held,
whatever the size of the model. What belongs here: which weights can be compared, and that reading.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from methods.evaluation.task_map.clustering import Floats
from methods.evaluation.task_map.vectors import full_products
from resources.task_vectors.tensor_files import TaskVectorError, TensorFiles

NUMBERS = 2**23
"""Numbers of all tasks and the base that are held at once: 64 MiB in double precision, and as much
again while they are read."""


def products_of_weights(
    tasks: Mapping[str, TensorFiles], base: TensorFiles, *, most_numbers: int = NUMBERS
) -> Floats:
    """The products of every two task vectors, in the order of `tasks`. Raises TaskVectorError.

    Buffers that are no weights (counts) must be those of the base.
    """
    for task, of in tasks.items():
        _require_comparable(task, of, base)
    total = np.zeros((len(tasks), len(tasks)))
    for name in base:
        if not base.is_weight(name):
            _require_unchanged(name, tasks, base)
            continue
        for start, stop in _parts(base.shape(name), most_numbers // (len(tasks) + 1)):
            before = base.rows(name, start, stop).ravel()
            changes = np.empty((len(tasks), len(before)))
            for place, of in enumerate(tasks.values()):
                np.subtract(of.rows(name, start, stop).ravel(), before, out=changes[place])
            total += full_products(changes)
    return total


def _parts(shape: tuple[int, ...], most_numbers: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows with at most so many numbers, and at least one row."""
    n_rows = shape[0] if shape else 1
    step = max(1, most_numbers // max(1, int(np.prod(shape[1:]))))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)


def _require_comparable(task: str, of: TensorFiles, base: TensorFiles) -> None:
    differing = sorted(set(of) ^ set(base))
    if differing:
        name = differing[0]
        lacks, has = (of, base) if name in base else (base, of)
        raise TaskVectorError(
            f"{lacks.folder} has no tensor {name}, which {has.folder} has: {task} is of another base, "
            "or was saved in another form."
        )
    for name in base:
        if of.shape(name) != base.shape(name):
            shapes = [" x ".join(map(str, each.shape(name))) for each in (of, base)]
            raise TaskVectorError(
                f"{name} of {task} is {shapes[0]}, that of the base {shapes[1]}: {task} is of another "
                "base."
            )
        if of.is_weight(name) != base.is_weight(name):
            raise TaskVectorError(
                f"{name} is weights in one of {of.folder} and {base.folder}, and counts in the other: "
                f"{task} is of another base."
            )


def _require_unchanged(name: str, tasks: Mapping[str, TensorFiles], base: TensorFiles) -> None:
    before = base.whole(name)
    for task, of in tasks.items():
        if not np.array_equal(of.whole(name), before):
            raise TaskVectorError(
                f"{name}, which is no weight, differs between {task} and the base: {task} is of "
                "another base."
            )
