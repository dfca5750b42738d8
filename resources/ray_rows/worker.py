"""A worker of a job by row: sets its work up once, then does one block after the other."""

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from methods.errors import UserError
from resources.ray_rows.folder import OnRows, RowFolder


class BlockWorker:
    """The class of the actors.

    `make` names a function as `module:function`; called with `arguments`, it gives what is done with
    the rows of a block. That is when a model is loaded: with the worker's first block.
    """

    def __init__(self, folder: str, make: str, arguments: Mapping[str, Any]):
        self._folder = RowFolder(Path(folder))
        self._make, self._arguments = make, arguments
        self._on_rows: OnRows | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Do the blocks that the column `block` names.

        Returns for each the rows done, the worker, and the sentence of a UserError or "": other errors
        end the job.
        """
        import ray

        worker = f"{ray.get_runtime_context().get_node_id()}/{os.getpid()}"
        done: dict[str, list[Any]] = {"rows": [], "worker": [], "error": []}
        for block in batch["block"]:
            n_rows, message = 0, ""
            try:
                if self._on_rows is None:
                    module, _, name = self._make.partition(":")
                    self._on_rows = getattr(importlib.import_module(module), name)(
                        **self._arguments
                    )
                n_rows = self._folder.run(str(block), self._on_rows)
            except UserError as error:
                message = str(error)
            for column, value in zip(done.values(), (n_rows, worker, message), strict=True):
                column.append(value)
        return done
