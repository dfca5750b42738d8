"""The products of every two task vectors of a folder, which all distances follow from.

What belongs here: which folders are tasks, and of which kind they are.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from methods.evaluation.task_map.clustering import MIN_TASKS, Floats
from resources.task_vectors.adapters import Adapter, is_adapter, products_of_adapters
from resources.task_vectors.full_weights import products_of_weights
from resources.task_vectors.tensor_files import TaskVectorError, TensorFiles


class Products(NamedTuple):
    """Tasks in order of name, and the products of their vectors; `kind` says what was read."""

    tasks: tuple[str, ...]
    products: Floats
    kind: str


def read_products(folder: Path, base: Path | None = None) -> Products:
    """The products of the task vectors in `folder`, which has a folder for each task, named by it.

    All are adapters, or all are whole weights and `base` those before the fine-tuning. Raises
    TaskVectorError.
    """
    if not folder.is_dir():
        raise TaskVectorError(f"{folder} is no folder: give one with a folder for each task.")
    folders = sorted(
        each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")
    )
    if len(folders) < MIN_TASKS:
        raise TaskVectorError(
            f"{folder} has {len(folders)} folders of tasks: a task map needs {MIN_TASKS} or more."
        )
    tasks = tuple(each.name for each in folders)
    adapters = [is_adapter(each) for each in folders]
    if any(adapters) and not all(adapters):
        adapter, other = folders[adapters.index(True)], folders[adapters.index(False)]
        raise TaskVectorError(
            f"{adapter} is an adapter and {other} is not: give adapters alone or whole weights alone."
        )
    with ExitStack() as stack:
        opened = [stack.enter_context(TensorFiles(each)) for each in folders]
        if all(adapters):
            if base is not None:
                raise TaskVectorError(
                    f"{folder} has adapters, which are changes themselves: leave --base {base} away."
                )
            of_tasks = [Adapter(*each) for each in zip(tasks, opened, strict=True)]
            kind = f"LoRA adapters of {of_tasks[0].base or 'an unnamed base'}"
            return Products(tasks, products_of_adapters(of_tasks), kind)
        if base is None:
            raise TaskVectorError(
                f"{folder} has whole weights: give those before the fine-tuning, too (--base)."
            )
        if not base.is_dir():
            raise TaskVectorError(f"{base} is no folder: give the base's weights (--base).")
        before = stack.enter_context(TensorFiles(base))
        weights = dict(zip(tasks, opened, strict=True))
        kind = f"whole weights less those of {base.resolve().name}"
        return Products(tasks, products_of_weights(weights, before), kind)
