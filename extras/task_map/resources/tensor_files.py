"""Reads the tensors of a folder of safetensors files in parts.

Pickled weights are refused, because reading a pickle executes code.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from extras.task_map.methods.clustering import Floats
from methods.errors import UserError
from methods.json_text import MOST_CHARACTERS, from_json
from resources.files.bounded import open_file, read_file

PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
COUNTS = frozenset({"I64", "I32", "BOOL"})
"""Types of buffers such as positions, which are not weights."""
INDEX = "*.safetensors.index.json"
LARGEST = 1e40
"""Limit of the size of a number, above those of bfloat16 and float32, so that no product overflows."""


class TaskVectorError(UserError):
    """Weights cannot be read as a task vector; the message names file or tensor."""


class TensorFiles:
    """The tensors of the safetensors files in a folder, by name; a context manager.

    Opening reads the names only; numbers are read on request. Raises TaskVectorError.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = ExitStack()
        self._files: dict[str, Any] = {}

    def __enter__(self) -> "TensorFiles":
        with ExitStack() as stack:
            for path in self._paths():
                self._open(path, stack)
            self._require_whole()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._files.clear()
        self._stack.close()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._files))

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return tuple(self._files[name].get_slice(name).get_shape())

    def is_weight(self, name: str) -> bool:
        """Whether a tensor has real numbers, not whole ones. Raises for quantised weights."""
        kind = self._files[name].get_slice(name).get_dtype()
        if kind not in FLOATS | COUNTS:
            raise TaskVectorError(
                f"{name} in {self.folder} is {kind}, which is not a form of plain weights: save them "
                "as bfloat16, float16 or float32."
            )
        return kind in FLOATS

    def rows(self, name: str, start: int, stop: int) -> Floats:
        """Read some rows of a tensor (along its first dimension), each flattened.

        Args:
            name: The tensor.
            start: The first row.
            stop: The row after the last one.
        """
        if not self.shape(name):
            return self.whole(name)
        return self._numbers(name, self._files[name].get_slice(name)[start:stop])

    def whole(self, name: str) -> Floats:
        """Read a whole tensor, in its shape."""
        return self._numbers(name, self._files[name].get_tensor(name))

    def _numbers(self, name: str, tensor: Any) -> Floats:
        import torch

        # In double precision, differences of weights are exact and sums of products accurate.
        numbers: Floats = tensor.to(torch.float64).numpy()
        if not (numbers.max() < LARGEST and numbers.min() > -LARGEST):
            raise TaskVectorError(
                f"{name} in {self.folder} has numbers that are not finite (NaN or infinity) or beyond "
                f"{LARGEST:g}: the training diverged, or the file is damaged."
            )
        return numbers

    def _paths(self) -> list[Path]:
        paths = sorted(self.folder.glob("*.safetensors"))
        if paths:
            return paths
        pickled = sorted(path for path in self.folder.iterdir() if path.suffix in PICKLED)
        if pickled:
            raise TaskVectorError(
                f"{pickled[0]} is a pickle, which can run any code when it is read: save the weights "
                "as safetensors."
            )
        raise TaskVectorError(f"{self.folder} has no *.safetensors: save the weights there.")

    def _open(self, path: Path, stack: ExitStack) -> None:
        from safetensors import SafetensorError, safe_open

        try:
            # The library would wait for the writer of a pipe.
            open_file(path).close()
            file = stack.enter_context(safe_open(path, framework="pt"))
        except (SafetensorError, OSError) as error:
            raise TaskVectorError(
                f"{path} cannot be read as safetensors, or is cut off ({error}): save or copy it again."
            ) from None
        for name in file.keys():  # noqa: SIM118 - the file is no dict
            if name in self._files:
                raise TaskVectorError(
                    f"{self.folder} has {name} in two files: leave one set of weights in it."
                )
            self._files[name] = file
            if 0 in self.shape(name):
                raise TaskVectorError(
                    f"{path} has {name} of shape {shape_text(self.shape(name))}, which is empty: save "
                    "the weights again without it."
                )

    def _require_whole(self) -> None:
        """Check that every tensor in an index of shards is there."""
        for index in sorted(self.folder.glob(INDEX)):
            named = read_object(index).get("weight_map")
            if not isinstance(named, dict):
                raise TaskVectorError(f"{index} is not an index of shards: copy it again.")
            lacking = sorted(named.keys() - self._files.keys())
            if lacking:
                raise TaskVectorError(
                    f"{self.folder} lacks {lacking[0]}, which {index.name} has in "
                    f"{named[lacking[0]]}: copy that file, too."
                )


def shape_text(shape: tuple[int, ...]) -> str:
    """Write a shape for a message, such as "5 x 4"; "()" for a single number."""
    return " x ".join(map(str, shape)) or "()"


def read_object(path: Path) -> dict[str, Any]:
    """Read the object in a JSON file next to the tensors. Raises TaskVectorError."""
    try:
        value = from_json(read_file(path, MOST_CHARACTERS))
    except (OSError, ValueError) as error:
        raise TaskVectorError(f"{path} cannot be read as JSON ({error}): copy it again.") from None
    if not isinstance(value, dict):
        raise TaskVectorError(f"{path} is not a JSON object: copy it again.")
    return value
