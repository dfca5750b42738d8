"""Releases: approved items, frozen as immutable versions whose ids are hashes of the content."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import dagster as dg
import pyarrow as pa

from assets.choice.items import ItemsSettings, items
from assets.choice.mmiu_items import mmiu_items
from assets.choice.translations import translations
from assets.cluster import require_whole_sets
from assets.common.automation import SHARDS, when_changed
from assets.common.previews import preview
from assets.common.settings import read_used_settings
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.dialogue import answers, questions, turn_references
from assets.ingest import entries
from assets.quality import checks
from assets.quality.checks import ChecksSettings
from assets.release.built import Licences
from assets.release.built_choices import ALL_NAMES as CHOICE_NAMES
from assets.release.built_choices import built_choices
from assets.release.built_dialogues import NAMES as DIALOGUE_NAMES
from assets.release.built_dialogues import built_dialogues
from assets.release.built_questions import NAME as QUESTIONS_NAME
from assets.release.built_questions import built_questions
from assets.release.built_three_turns import NAME as THREE_TURNS_NAME
from assets.release.built_three_turns import built_three_turns
from assets.release.built_wordings import NAME as WORDINGS_NAME
from assets.release.built_wordings import built_wordings
from assets.release.card import circumstances, first_cards, new_card, prompts_and_writers
from assets.release.contamination import TABLE as OVERLAPS
from assets.release.contamination import left_out, without_overlap
from assets.release.current_releases import ReleaseSettings, version_of_releases, write_current
from assets.review import approved
from assets.rewrite import contexts, seed_rewrites
from methods.licences.terms import UNKNOWN
from methods.markdown import code, table
from methods.release import RELEASE_TABLES, ReviewPolicy
from methods.release_card import card_markdown, card_of
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.publishing.releases import ReleaseError, cards_of, current_releases
from resources.warehouse import TableWrite, Warehouse

Row = dict[str, Any]

NAMES = frozenset(
    {
        *(*DIALOGUE_NAMES.values(), *CHOICE_NAMES),
        *(QUESTIONS_NAME, WORDINGS_NAME, THREE_TURNS_NAME),
    }
)
"""Names of the releases that this project builds; other releases are imported."""
TABLES = ("releases", *RELEASE_TABLES)
"""Tables with the rows of all releases, also of earlier ones."""
NOTHING_APPROVED = (
    "Nothing is approved, so nothing is frozen and the current releases stay as they are: decide on "
    "items in review, or let review.approved require less."
)
ONLY_IMPORTED = "Nothing is built here: the imported releases stay as they are, and are exported."

WHEN_APPROVED = when_changed(dg.AssetSelection.assets(approved.key), SHARDS)
"""Runs after new approvals alone: other inputs matter only once their items are approved."""


class FrozenReleases(NamedTuple):
    """The releases that a run froze. `tables` are rows by table; `current` is the id of the current
    release by name; `kept` has the reason for each name whose current release was not frozen in this
    run.
    """

    tables: dict[str, pa.Table]
    current: dict[str, str]
    kept: dict[str, str]
    counts: dict[str, int]
    warnings: list[str]


@table_asset(
    "release.releases",
    version="2",
    side_tables=[*(f"release.{name}" for name in TABLES[1:]), "release.current", OVERLAPS],
    deps=[
        *(approved, questions, answers, items, translations, mmiu_items),
        *(seed_rewrites, contexts, turn_references, entries, checks),
    ],
    automation_condition=WHEN_APPROVED,
)
def releases(
    context: dg.AssetExecutionContext,
    config: ReleaseSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    ledger: dg.ResourceParam[Ledger],
) -> dg.MaterializeResult:
    """Releases, frozen from approved items: a benchmark and an instruction set of dialogues; dev and
    test splits of multiple-choice items, by language; benchmarks of multi-image questions, of open
    questions in several wordings, and of three-turn conversations.

    The instruction set leaves out pairs that the quality checks drop or that a benchmark contains.
    Items with an image of an excluded licence (`licences_left_out`) are left out, too. The metadata
    count both.

    Each item names its reviewers, each turn and reference its model call and prompt, each image its
    page and attribution. A new release becomes current unless another release of its name is pinned.
    """
    rows, details = rows_to_arrow("release.releases", []), {"note": ONLY_IMPORTED}
    if _is_built(warehouse):
        frozen = _freeze(context, config, warehouse, ledger, image_store)
        rows, details = frozen.tables["releases"], _details(frozen, warehouse, image_store)
    # Earlier releases stay in the table.
    shown = report(rows, details, n_rows=warehouse.count("release.releases"))
    return dg.MaterializeResult(
        metadata=shown.metadata, data_version=version_of_releases(warehouse)
    )


def _details(
    frozen: FrozenReleases, warehouse: Warehouse, image_store: ImageStore
) -> dict[str, Any]:
    """Return what the UI shows of the frozen releases."""
    details: dict[str, Any] = {name: frozen.tables[name].num_rows for name in TABLES[1:]}
    details |= frozen.counts
    lines = table(
        ("name", "current release", ""),
        [
            (code(name), code(release_id), frozen.kept.get(name, ""))
            for name, release_id in frozen.current.items()
        ],
    )
    details["current"] = dg.MetadataValue.md("\n".join(lines))
    snapshots = warehouse.snapshots_of_releases()
    details |= {
        f"snapshot of {name}": snapshots[release_id]
        for name, release_id in frozen.current.items()
        if release_id in snapshots
    }
    if frozen.warnings:
        details["warning"] = " ".join(frozen.warnings)
    for card in map(card_of, frozen.tables["releases"].to_pylist()):
        details[f"card of {card['name']}"] = dg.MetadataValue.md(card_markdown(card))
    for name in (*TABLES[1:], "overlaps"):
        details[f"preview of {name}"] = dg.MetadataValue.md(
            preview(frozen.tables[name], image_store)
        )
    return details


def _is_built(warehouse: Warehouse) -> bool:
    """Tell whether there is something to freeze: not if the workspace only has imported releases."""
    origins = {row["origin"] for row in warehouse.read("release/all").to_pylist()}
    return origins != {"imported"} or warehouse.count("review.queue") > 0


def _freeze(
    context: dg.AssetExecutionContext,
    settings: ReleaseSettings,
    warehouse: Warehouse,
    ledger: Ledger,
    image_store: ImageStore,
) -> FrozenReleases:
    """Freeze all releases.

    If licences exclude every item of a release, its earlier version is no longer current unless it is
    pinned, because it may contain the excluded images. Raises dg.Failure if nothing is approved, or if
    licences exclude all items of all releases. Raises ReleaseError, and changes nothing, if a benchmark
    and an instruction set overlap and neither is built now.
    """
    require_whole_sets(warehouse)
    _require_pinnable(warehouse, settings.pinned)
    _require_built(settings.licences_left_out)
    reviewed = _reviewed(warehouse)
    seed = read_used_settings(context.instance, "choice.items", ItemsSettings).seed
    limits = read_used_settings(context.instance, "quality.checks", ChecksSettings).limits
    licences = Licences(settings.licences_left_out)
    lines = (
        built_dialogues(warehouse, reviewed, licences, limits),
        built_choices(warehouse, reviewed, licences, seed),
        built_questions(warehouse, reviewed, licences),
        built_wordings(warehouse, reviewed, licences),
        built_three_turns(warehouse, reviewed, licences),
    )
    built = [release for line in lines for release in line.releases]
    absent = {name: why for line in lines for name, why in line.absent.items()}
    before = current_releases(warehouse)
    unlicensed = {
        name: f"{licences.none_left(name)}: {before[name]} is no longer current."
        for name in licences.empty()
        if name in before and name not in settings.pinned
    }
    if not built:
        if unlicensed:
            warehouse.replace_all([write_current({}, unlicensed)])
        sentence = " ".join([*unlicensed.values(), *licences.sentences()]) or NOTHING_APPROVED
        raise dg.Failure(sentence, allow_retries=False)
    staying = {name: release_id for name, release_id in before.items() if name not in unlicensed}
    cleared = without_overlap(warehouse, image_store, built, staying, settings.pinned, reviewed)
    retired = {**unlicensed, **cleared.retired}
    common = circumstances(context.instance, warehouse)
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    new_ids: dict[str, str] = {}
    for name, edition, release, providers, quality in cleared.built:
        new_ids[name] = release.release_id
        for table_name, new in release.rows.items():
            rows[table_name] += new
        licence_of = {row["image_id"]: row["licence"] for row in release.rows["images"]}
        images = Counter(licence or UNKNOWN for licence in licence_of.values())
        made_with = {
            **common,
            **prompts_and_writers(release, warehouse, ledger),
            "quality": quality,
            "licences": {"images": dict(images), "left_out": dict(licences.left_out.get(name, {}))},
        }
        card = new_card(
            release, name, edition, reviewed, ", ".join(providers), before.get(name), made_with
        )
        rows["releases"].append(card)
    rows["releases"] = first_cards(warehouse, rows["releases"])
    tables = {name: rows_to_arrow(f"release.{name}", rows[name]) for name in TABLES}
    where = {"release_id": list(new_ids.values())}
    changed = {*new_ids, *settings.pinned}
    current = {name: release_id for name, release_id in cleared.current.items() if name in changed}
    overlaps = rows_to_arrow(OVERLAPS, cleared.rows)
    warehouse.replace_all(
        [
            *(TableWrite(f"release.{name}", arrow, where) for name, arrow in tables.items()),
            TableWrite(OVERLAPS, overlaps, {}),
            write_current(current, retired),
        ]
    )
    reasons = {**_why_kept(settings, before, new_ids, absent), **retired}
    warnings = [*reasons.values(), *licences.sentences()]
    warnings += [warning for line in lines for warning in line.warnings]
    for why in warnings:
        context.log.warning(why)
    counts = {name: n for line in lines for name, n in line.counts.items()}
    counts |= left_out(cleared.rows)
    counts |= {
        f"{name}, left out for a licence: {term}": n
        for name, of_terms in licences.left_out.items()
        for term, n in of_terms.items()
    }
    return FrozenReleases(
        {**tables, "overlaps": overlaps}, cleared.current, reasons, counts, warnings
    )


def _why_kept(
    settings: ReleaseSettings,
    before: Mapping[str, str],
    new_ids: Mapping[str, str],
    absent: Mapping[str, str],
) -> dict[str, str]:
    """Say by name why the current release is not one that was frozen in this run."""
    reasons = {}
    for name, why in absent.items():
        stays = f"{before[name]} stays current" if name in before else f"there is no {name}"
        reasons[name] = f"{why}: {stays}."
    for name, pinned in settings.pinned.items():
        if name not in new_ids:
            reasons[name] = f"{pinned} is pinned."
        elif new_ids[name] != pinned:
            reasons[name] = f"{pinned} is pinned: {new_ids[name]} is frozen, but not current."
    return reasons


def _require_pinnable(warehouse: Warehouse, pinned: Mapping[str, str]) -> None:
    """Raise ReleaseError if a pinned release does not exist or has another name."""
    for name, card in zip(pinned, cards_of(warehouse, list(pinned.values())), strict=True):
        if card["name"] != name:
            raise ReleaseError(
                f"{card['release_id']} is a release of {card['name']} and cannot be pinned for {name}."
            )


def _require_built(names: Collection[str]) -> None:
    """Raise ReleaseError if a name is not that of a release that this project builds."""
    if unknown := sorted(set(names) - NAMES):
        raise ReleaseError(
            f"licences_left_out of release.releases names {unknown[0]!r}, which is not a release that "
            f"is built. Use one of {', '.join(sorted(NAMES))}."
        )


def _reviewed(warehouse: Warehouse) -> ReviewPolicy:
    """Return the review policy of `review/approved`: its last run wrote all rows, so there is one.

    Raises dg.Failure if nothing is approved.
    """
    policies = warehouse.select(
        "review.approved", "policy", "policy_share", distinct=True
    ).to_pylist()
    if not policies:
        raise dg.Failure(NOTHING_APPROVED, allow_retries=False)
    (row,) = policies
    return ReviewPolicy(row["policy"], row["policy_share"])
