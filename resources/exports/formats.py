"""Export formats of a release: the purpose of each, and the function that writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from methods.naming import nearest
from resources.exports.source import CannotHoldError, ExportError, ExportSource


@dataclass(frozen=True)
class ExportFormat:
    """An export format.

    `writer` is `module:function` in `resources.exports`; `arguments` are its further arguments.
    """

    name: str
    purpose: str
    writer: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    in_shards: bool = False
    """Whether images are inside of files (shards) of about `shard_mb` megabytes."""
    with_answers: bool = False
    """Whether the format needs answers, as for training."""
    several: bool = False
    """Whether a folder may have more than one release."""
    stacks: bool = False
    """Whether several dialogues may be stacked in one record."""
    shard_mb: int = 0

    def write(self, source: ExportSource, folder: Path) -> None:
        """Write the release.

        Args:
            source: The release.
            folder: The folder.

        Raises:
            ExportError: The format cannot express the release.
        """
        if self.with_answers and not source.with_answers:
            raise CannotHoldError(
                f"{source.release_id} has its answers held out, and {self.name} is of no use "
                "without: export it as huggingface."
            )
        if source.beside and not self.several:
            raise ExportError(f"{self.name} writes one release per folder: leave out --with.")
        module, function = self.writer.split(":")
        arguments = {
            **self.arguments,
            **({"shard_bytes": self.shard_mb * 1_000_000} if self.in_shards else {}),
        }
        getattr(import_module(f"resources.exports.{module}"), function)(source, folder, **arguments)


def _records(name: str, purpose: str, record: str, file: str, **options: Any) -> ExportFormat:
    """Make a format of training records."""
    options = {"record": record, "file": file, **options}
    return ExportFormat(
        name, purpose, "records:write_records", options, with_answers=True, stacks=True
    )


FORMS: Mapping[str, ExportFormat] = {
    form.name: form
    for form in (
        ExportFormat(
            "huggingface",
            "a dataset of the Hugging Face hub: Parquet with the pictures inside",
            "huggingface:write",
            in_shards=True,
            several=True,
        ),
        _records("llava", "training LLaVA, and Qwen-VL by its own scripts", "llava", "data.json"),
        _records("sharegpt", "training by tools that read ShareGPT", "sharegpt", "data.json"),
        _records(
            "ms-swift",
            "training by ms-swift",
            "swift",
            "data.jsonl",
            note="ms-swift looks for pictures from where it is run: run it in this folder, or set "
            "ROOT_IMAGE_DIR to it.",
        ),
        ExportFormat(
            "llama-factory",
            "training by LLaMA-Factory",
            "records:write_llama_factory",
            with_answers=True,
            stacks=True,
        ),
        ExportFormat(
            "openai",
            "fine-tuning by OpenAI's API: chat with the pictures inside",
            "records:write_openai",
            with_answers=True,
            stacks=True,
        ),
        ExportFormat(
            "mmdu",
            "tools for MMDU: its authors' JSON",
            "records:write_records",
            {"record": "mmdu", "file": "dialogues.json"},
        ),
        ExportFormat(
            "webdataset",
            "training on many machines: tar shards with the pictures inside",
            "records:write_webdataset",
            in_shards=True,
        ),
        ExportFormat(
            "vlmevalkit",
            "evaluation by VLMEvalKit: its TSV with the pictures inside",
            "evaluation:write_vlmevalkit",
        ),
        ExportFormat(
            "lmms-eval",
            "evaluation by lmms-eval: a task folder; dialogues by chat models of several rounds",
            "evaluation:write_lmms_eval",
        ),
        ExportFormat(
            "inspect-ai",
            "evaluation by inspect_ai: a task, for questions, passes and dialogues",
            "evaluation:write_inspect",
        ),
    )
}
"""Every export format by its name."""


def require_form(name: str) -> None:
    """Raise ExportError unless there is an export format with this name."""
    if not name:
        raise ExportError(f"No format given. Pass --as with one of {', '.join(FORMS)}.")
    if name not in FORMS:
        raise ExportError(f"There is no format {name!r}; {nearest(name, FORMS)}.")


def form_named(name: str, shard_mb: int) -> ExportFormat:
    """Find an export format.

    Args:
        name: The name of the format.
        shard_mb: The size of a shard in million bytes.

    Raises:
        ExportError: There is no such format.
    """
    require_form(name)
    return replace(FORMS[name], shard_mb=shard_mb)
