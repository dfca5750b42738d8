"""Export releases as training records with image folders, and as WebDataset shards."""

import io
import json
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import methods.exports.training as training
from methods.exports.dataset_card import DatasetCardInput, page_text
from methods.exports.rows import ExportedItem, messages, table_row
from methods.exports.stacking import (
    Count,
    TokenBudget,
    estimate_tokens,
    join_dialogues,
    stacking_summary,
    stacks,
)
from methods.json_text import json_line
from resources.exports.folder import ATTRIBUTION, MANIFEST, README
from resources.exports.source import ExportError, ExportSource

IMAGES = "images"
OPENAI_FILE = "data.jsonl"
STACKED = ("llava", "sharegpt", "swift")
"""Formats whose records may hold several dialogues and mark images by a token in the text."""
NO_ANSWER = "no answer"


def write_records(
    source: ExportSource, folder: Path, record: str, file: str, note: str = ""
) -> None:
    """Write training records into a file. Images are written to `images/`.

    Items without any answer are left out and counted.

    Args:
        source: The release.
        folder: The folder.
        record: The function of `training` that makes a record.
        file: The name of the file: `.json` for a list, else one record per line.
        note: A sentence for `README.md`.
    """
    make: training.MakeRecord = getattr(training, record)
    stacking = DialogueStacker(source.budget if record in STACKED else None)
    with (folder / file).open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(
            _text(_records(source, make, image_copier(source, folder), stacking), file)
        )
    files = {file: "the dialogues", f"{IMAGES}/": "their pictures"}
    notes = [note, *([training.ESCAPED] if record in STACKED else []), stacking.summary]
    write_page(source, folder, files, [each for each in notes if each])


def write_openai(source: ExportSource, folder: Path) -> None:
    """Write OpenAI's chat messages with embedded images. `README.md` names
    records that fine-tuning rejects.

    Args:
        source: The release.
        folder: The folder.
    """
    not_taken: Counter[str] = Counter()
    stacking = DialogueStacker(source.budget)

    def counted() -> Iterator[training.Record]:
        for record in _records(source, training.openai, source.url, stacking):
            not_taken.update(training.openai_rejection(record))
            yield record

    with (folder / OPENAI_FILE).open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(_text(counted(), OPENAI_FILE))
    limits = training.openai_limits(stacking.n_records, not_taken)
    notes = [limits, *filter(None, [stacking.summary])]
    write_page(source, folder, {OPENAI_FILE: "the dialogues, pictures inside"}, notes)


def write_llama_factory(source: ExportSource, folder: Path) -> None:
    """Write ms-swift's records and LLaMA-Factory's dataset description.

    Args:
        source: The release.
        folder: The folder.
    """
    info = training.dataset_info(source.card["name"].replace("-", "_"))
    (folder / "dataset_info.json").write_text(json.dumps(info, indent=2) + "\n")
    note = "For LLaMA-Factory this folder is dataset_dir, and media_dir too."
    write_records(source, folder, "swift", training.LLAMA_FACTORY_FILE, note)


def write_webdataset(source: ExportSource, folder: Path, shard_bytes: int) -> None:
    """Write tar shards: for each item a .json with its texts and image authors, and its images.

    Image 2 of item 7 is `000000007.2.jpg`; the files of an item are consecutive.

    Args:
        source: The release.
        folder: The folder.
        shard_bytes: The size of a shard.
    """
    shards: list[Path] = []
    items = enumerate(source.items())
    waiting = next(items, None)
    while waiting is not None:
        shards.append(folder / f"{len(shards)}.tar")
        with tarfile.open(shards[-1], "w", format=tarfile.USTAR_FORMAT) as tar:
            while waiting is not None and tar.offset < shard_bytes:
                number, item = waiting
                for name, data in _members(item, source):
                    member = tarfile.TarInfo(f"{number:09d}.{name}")
                    member.size, member.mode = len(data), 0o644
                    tar.addfile(member, io.BytesIO(data))
                waiting = next(items, None)
    for place, path in enumerate(shards):
        path.rename(folder / f"{source.split}-{place:06d}.tar")
    last = max(len(shards) - 1, 0)
    named = f"{source.split}-{{000000..{last:06d}}}.tar"
    write_page(source, folder, {named: "the items, pictures inside"})


def write_page(
    source: ExportSource, folder: Path, files: dict[str, str], notes: Sequence[str] = ()
) -> None:
    """Write `README.md` of a folder.

    Args:
        source: The release.
        folder: The folder.
        files: What is in each file, by name.
        notes: Further sentences.
    """
    page = DatasetCardInput(
        [source.card],
        source.licence,
        source.totals.left_out,
        source.agreement(),
        {
            **files,
            ATTRIBUTION: "the attribution of each image",
            MANIFEST: "size and SHA-256 of each file",
        },
        stated=source.stated_by_all,
        notes=notes,
    )
    (folder / README).write_text(page_text(page), encoding="utf-8")


def image_copier(source: ExportSource, folder: Path) -> Callable[[str], str]:
    """Return a function that copies an image into the folder once. It takes the image's id, and returns
    the path of the copy, relative to the folder."""

    @cache
    def copied(image_id: str) -> str:
        path = source.path(image_id)
        target = folder / IMAGES / path.name
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, target)
        return f"{IMAGES}/{path.name}"

    return copied


class DialogueStacker:
    """Stacks dialogues into records within a token budget; without one, each is one record."""

    def __init__(self, budget: TokenBudget | None) -> None:
        self._budget = budget
        self._count = _counter(budget.tokenizer) if budget else estimate_tokens
        self._sizes: list[int] = []
        self._n_longer = 0

    @property
    def n_records(self) -> int:
        """The number of records so far."""
        return len(self._sizes)

    @property
    def summary(self) -> str:
        """The sentence about stacking for the page; empty if nothing is stacked."""
        return stacking_summary(self._budget, self._sizes, self._n_longer) if self._budget else ""

    def items(self, batch: Sequence[ExportedItem]) -> Iterator[ExportedItem]:
        """Yield one item for each record. Items without answers are not stacked."""
        if self._budget is None:
            yield from batch
            return
        yield from (item for item in batch if not messages(item))
        for stack in stacks([item for item in batch if messages(item)], self._count, self._budget):
            self._n_longer += not stack.whole
            yield join_dialogues(stack.items)

    def count(self, item: ExportedItem) -> None:
        """Count a record, and the dialogues in it."""
        self._sizes.append(max(len(item.stacked), 1))


def _counter(tokenizer: str) -> Count:
    """Make a function that counts tokens by a `tokenizer.json`, or by rule. Raises ExportError."""
    if not tokenizer:
        return estimate_tokens
    from tokenizers import Tokenizer

    path = Path(tokenizer)
    try:
        loaded = Tokenizer.from_file(str(path / "tokenizer.json" if path.is_dir() else path))
    except Exception as error:
        raise ExportError(
            f"{tokenizer} is not a tokenizer ({error}): let stack_tokenizer under release.exports in "
            "settings.yaml be the path of a tokenizer.json."
        ) from None
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


def _records(
    source: ExportSource,
    make: training.MakeRecord,
    describe: Callable[[str], str],
    stacking: DialogueStacker,
) -> Iterator[training.Record]:
    for batch in source.batches():
        for item in stacking.items(batch):
            record = make(item, [describe(picture.image_id) for picture in item.pictures])
            if record is None:
                source.leave_out(item, NO_ANSWER)
            else:
                stacking.count(item)
                yield record


def _text(records: Iterator[training.Record], file: str) -> Iterator[str]:
    """Yield the text of a file of records: JSON Lines for `.jsonl`, else an indented JSON list."""
    if file.endswith(".jsonl"):
        yield from map(json_line, records)
        return
    before = "[\n "
    for record in records:
        yield before + json.dumps(record, indent=1, ensure_ascii=False).replace("\n", "\n ")
        before = ",\n "
    yield "[]" if before == "[\n " else "\n]"


def _members(item: ExportedItem, source: ExportSource) -> Iterator[tuple[str, bytes]]:
    yield "json", json.dumps(table_row(item), ensure_ascii=False).encode()
    for place, picture in enumerate(item.pictures, start=1):
        ending = source.path(picture.image_id).suffix
        yield f"{place}{ending}", source.read(picture.image_id)
