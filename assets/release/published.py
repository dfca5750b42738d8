"""Import of a benchmark's published files as a release."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assets.common.tables import rows_to_arrow
from assets.release.card import first_cards, new_card, project_version
from assets.release.current_releases import pins, write_current
from assets.release.releases import NAMES, TABLES
from methods.benchmarks import REFUSED, importable_benchmarks, published_forms
from methods.choice.languages import SOURCE_LANGUAGE
from methods.delimited import Quoting
from methods.evaluation.items import Item, Turn
from methods.imported_release import NOBODY, imported_name, imported_release, require_name
from methods.mmdu.composing import without_places
from methods.naming import nearest
from methods.quality.outcome import UNCHECKED, DialogueContent, QuestionAnswerPair
from methods.quality.rule_findings import RuleFinding, apply_rules, counts_of, in_words
from methods.quality.rules import RuleLimits
from methods.release import Edition, Release
from methods.release_card import BROKEN_IMAGES, HELD_OUT_SETTING, RELEASES, edition_of
from resources.files.bounded import file_hash
from resources.images.store import ImageStore
from resources.importing.published_files import PublishedFileError, read_items, require_askable
from resources.publishing.releases import ReleaseError, current_releases
from resources.warehouse import TableWrite, Warehouse

LEFT_OUT, FOUND_BY_RULES = "left_out", "found_by_rules"
"""Keys on the dataset card of an import: what it left out, and what the quality rules find in it."""

REFERENCE = ("item_id", "turn", "kind", "reference")
"""Columns of `release.references` that are compared."""


class ReleaseImportRequest(NamedTuple):
    """A benchmark file to import, and options.

    Attributes:
        benchmark: The name of the benchmark.
        file: The file.
        pictures: The folder with the images that the file names; None: the file's folder.
        name: The name of the release; None: made from benchmark, split and language.
        split: The split, such as `dev`.
        language: The language, such as `en`.
        held_out: Whether the answers stay in this workspace: they are used for scores, but are not in
            any exported file.
        quoting: How the quotes of a CSV or TSV are read.
        skip_broken: Whether to leave out items with an image that cannot be used.
    """

    benchmark: str
    file: Path
    pictures: Path | None = None
    name: str | None = None
    split: str | None = None
    language: str | None = None
    held_out: bool = False
    quoting: Quoting = "checked"
    skip_broken: bool = False

    @property
    def edition(self) -> Edition:
        """Benchmark, split and language of the release, marked as imported."""
        named = (self.benchmark, self.split or None, self.language or None)
        return Edition(*named, "imported", self.held_out)


def import_published(warehouse: Warehouse, store: ImageStore, wanted: ReleaseImportRequest) -> str:
    """Import the published file of a benchmark as a release.

    It becomes the current release of its name unless another one is pinned. Importing it again changes
    nothing.

    Args:
        warehouse: The tables.
        store: The images.
        wanted: The file with the options of the import.

    Returns:
        The id of the release.

    Raises:
        UserError: The file cannot be imported; no table is changed.
    """
    if not wanted.benchmark:
        raise PublishedFileError(
            f"No benchmark given for {wanted.file}. Pass --benchmark; there are "
            f"{', '.join(importable_benchmarks())}."
        )
    forms = published_forms(wanted.benchmark)
    if forms is None:
        if wanted.benchmark in REFUSED:
            raise PublishedFileError(REFUSED[wanted.benchmark])
        raise PublishedFileError(
            f"There is no benchmark {wanted.benchmark!r} whose published files can be read "
            f"(--benchmark); {nearest(wanted.benchmark, importable_benchmarks())}."
        )
    name = wanted.name or imported_name(wanted.edition)
    require_name(name)
    _require_free(warehouse, name, wanted.edition)
    left_out: list[str] = []
    broken = Counter[str]() if wanted.skip_broken else None
    items = read_items(
        forms, wanted.file, wanted.pictures, store, left_out.append, wanted.quoting, broken
    )
    require_askable(wanted.file, wanted.benchmark, items)
    source: dict[str, Any] = {"file": wanted.file.name, "sha256": _sha256(wanted.file)}
    if left_out:
        source[LEFT_OUT] = "; ".join(left_out)
    if broken:
        source[BROKEN_IMAGES] = dict(sorted(broken.items()))
    return write_imported(warehouse, name, wanted.edition, items, source)


def write_imported(
    warehouse: Warehouse,
    name: str,
    edition: Edition,
    items: Sequence[Item],
    source: Mapping[str, Any],
) -> str:
    """Write imported items as a release.

    Args:
        warehouse: The tables.
        name: The name of the release.
        edition: Benchmark, split and language.
        items: The items, whose images are stored.
        source: What the card says about their source.

    Returns:
        The id of the release.

    Raises:
        ReleaseError: The release is here with other held-out references; no table is changed.
    """
    release = imported_release(name, edition, items)
    _require_same_references(warehouse, release)
    before = current_releases(warehouse).get(name)
    rule_findings = _found_in(items, edition)
    settings = {**source, **({HELD_OUT_SETTING: True} if edition.held_out else {})}
    if rule_findings and not edition.held_out:
        settings[FOUND_BY_RULES] = in_words(rule_findings)
    n_pairs = sum(map(len, map(_conversation, items)))
    made_with = {
        "settings": {RELEASES: settings},
        "quality": {UNCHECKED: n_pairs, **counts_of(rule_findings)} if n_pairs else None,
        "project_version": project_version(),
    }
    card = new_card(release, name, edition, NOBODY, "", before, made_with)
    rows = {**release.rows, "releases": first_cards(warehouse, [card])}
    where = {"release_id": release.release_id}
    writes = [
        TableWrite(f"release.{table}", rows_to_arrow(f"release.{table}", rows[table]), where)
        for table in TABLES
    ]
    current = {name: pins().get(name, release.release_id)}
    warehouse.replace_all([*writes, write_current(current)])
    return release.release_id


def _require_same_references(warehouse: Warehouse, release: Release) -> None:
    """Raise ReleaseError if the release has other references here. Its id does not depend on held-out
    references, and scores of the release would change. References may be added if it has none.
    """
    rows = warehouse.select("release.references", *REFERENCE, release_id=release.release_id)
    stored, imported = (
        {tuple(row[name] for name in REFERENCE) for row in references}
        for references in (rows.to_pylist(), release.rows["references"])
    )
    if stored and stored != imported:
        raise ReleaseError(
            f"{release.release_id} is in this workspace already with other held-out answers, and "
            "nothing was changed: the answers of a release stay as they are. Import the corrected file "
            "under another name (--name), and retire this one (vlm-loom release retire NAME)."
        )


def _conversation(item: Item) -> Sequence[Turn]:
    """Return the turns of a conversation; empty for an item of one question, as its answer may be a
    letter.
    """
    return item.turns if len(item.turns) > 1 else ()


def _found_in(items: Sequence[Item], edition: Edition) -> list[RuleFinding]:
    """Apply the quality rules to imported conversations, whose answers may be based on the file's
    captions.
    """
    rule_findings = []
    for item in items:
        language = edition.language or item.language
        limits = RuleLimits(language=language or SOURCE_LANGUAGE)
        pairs = [
            QuestionAnswerPair(
                item.item_id,
                str(turn.turn),
                turn.turn,
                without_places(turn.question),
                turn.reference or turn.given or "",
            )
            for turn in _conversation(item)
        ]
        captions = [
            text for turn in item.turns if (text := turn.references.get("caption")) is not None
        ]
        content = DialogueContent(item.item_id, pairs, [], len(item.image_ids))
        rule_findings += apply_rules(content, limits, [pair.turn for pair in pairs], captions)
    return rule_findings


def _require_free(warehouse: Warehouse, name: str, edition: Edition) -> None:
    """Raise ReleaseError if `name` is the name of releases of another edition, or a release id."""
    releases = warehouse.read("release/all").to_pylist()
    if any(row["release_id"] == name for row in releases):
        raise ReleaseError(
            f"{name} is the id of an existing release. Choose another name (--name)."
        )
    others = [
        row
        for row in releases
        if row["name"] == name and edition_of(row).columns != edition.columns
    ]
    if name in NAMES or others:
        raise ReleaseError(
            f"{name} is already the name of other releases. Choose another name (--name)."
        )


def _sha256(file: Path) -> str:
    """Return the SHA-256 of a file, or for a folder a hash of the hashes of its files."""
    if file.is_dir():
        files = sorted(path for path in file.iterdir() if path.is_file())
        return hashlib.sha256("".join(map(_sha256, files)).encode()).hexdigest()
    return file_hash(file)
