"""Release: what is approved, frozen under ids that are hashes of the content.

What belongs here: freezing the releases that the modules `built_*.py` make of what is approved. Their
cards are made by `card.py`; which of them are in force is `in_force.py`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import dagster as dg
import pyarrow as pa

from assets.choice.items import ItemsSettings, items
from assets.choice.mmiu_items import mmiu_items
from assets.choice.translations import translations
from assets.cluster import require_whole_sets
from assets.common.automation import SHARDS, when_changed
from assets.common.previews import preview
from assets.common.settings import used
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.dialogue import answers, questions, turn_references
from assets.ingest import entries
from assets.quality import checks
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
from assets.release.in_force import (
    ReleaseSettings,
    in_force,
    require_pinnable,
    version_of_releases,
    write_in_force,
)
from assets.release.overlap import counted, require_no_overlap, shared_in_force
from assets.review import approved
from assets.rewrite import contexts, seed_rewrites
from methods.markdown import code, table
from methods.release import RELEASE_TABLES, ReviewPolicy
from methods.release_card import card_markdown, card_of
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse, Write

Row = dict[str, Any]

NAMES = frozenset(
    {
        *(*DIALOGUE_NAMES.values(), *CHOICE_NAMES),
        *(QUESTIONS_NAME, WORDINGS_NAME, THREE_TURNS_NAME),
    }
)
"""Names of the releases that are built."""
TABLES = ("releases", *RELEASE_TABLES)
NOTHING_APPROVED = (
    "Nothing is approved, so nothing is frozen and the releases in force stay as they are: decide on "
    "items in review, or let review.approved require less."
)
"""Tables that hold every release there ever was."""
ONLY_IMPORTED = "Nothing is built here: the imported releases stay as they are, and are exported."

WHEN_APPROVED = when_changed(dg.AssetSelection.assets(approved.key), SHARDS)
"""Follow approvals: what they were generated from was decided on with them."""


class Frozen(NamedTuple):
    """What a run froze: rows by table, and by name the release in force and why it is not a new one."""

    tables: dict[str, pa.Table]
    current: dict[str, str]
    kept: dict[str, str]
    counts: dict[str, int]


@table_asset(
    "release.releases",
    settings=ReleaseSettings,
    side_tables=[*(f"release.{name}" for name in TABLES[1:]), "release.current"],
    deps=[
        *(approved, questions, answers, items, translations, mmiu_items),
        *(seed_rewrites, contexts, turn_references, entries, checks),
    ],
    automation_condition=WHEN_APPROVED,
)
def releases(
    context: dg.AssetExecutionContext,
    settings: ReleaseSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    ledger: dg.ResourceParam[Ledger],
) -> dg.MaterializeResult:
    """Freeze what is approved: of dialogues a benchmark and an instruction set, of multiple-choice
    items a dev and a test split, in English and in other languages, of questions on several images one
    more benchmark, of open questions in several wordings another one, of conversations of three turns
    one more. Pairs that the checks drop are left out of the instruction set, and counted.

    Items name their reviewers; turns and references the call and the prompt that made them; images
    their page and attribution. A release comes into force unless another one of its name is pinned, or
    a benchmark and an instruction set would share something: then nothing is frozen.
    """
    if not _is_built(warehouse):
        shown = report(rows_to_arrow("release.releases", []), {"note": ONLY_IMPORTED})
        return dg.MaterializeResult(
            metadata=shown.metadata, data_version=version_of_releases(warehouse)
        )
    frozen = _freeze(context, settings, warehouse, ledger, image_store)
    details: dict[str, Any] = {name: frozen.tables[name].num_rows for name in TABLES[1:]}
    details |= frozen.counts
    lines = table(
        ("name", "release in force", ""),
        [(code(name), code(of), frozen.kept.get(name, "")) for name, of in frozen.current.items()],
    )
    details["in force"] = dg.MetadataValue.md("\n".join(lines))
    if frozen.kept:
        details["warning"] = " ".join(frozen.kept.values())
    for card in map(card_of, frozen.tables["releases"].to_pylist()):
        details[f"card of {card['name']}"] = dg.MetadataValue.md(card_markdown(card))
    for name in TABLES[1:]:
        details[f"preview of {name}"] = dg.MetadataValue.md(
            preview(frozen.tables[name], image_store)
        )
    shown = report(frozen.tables["releases"], details)
    return dg.MaterializeResult(
        metadata=shown.metadata, data_version=version_of_releases(warehouse)
    )


def _is_built(warehouse: Warehouse) -> bool:
    """Whether a release is to be frozen: a home with imported releases alone has none."""
    origins = {row["origin"] for row in warehouse.read("release/all").to_pylist()}
    return origins != {"imported"} or warehouse.count("review.approved") > 0


def _freeze(
    context: dg.AssetExecutionContext,
    settings: ReleaseSettings,
    warehouse: Warehouse,
    ledger: Ledger,
    image_store: ImageStore,
) -> Frozen:
    """Write every release.

    Raises dg.Failure or ReleaseError, and changes nothing, if nothing is approved, or if a benchmark
    and an instruction set would share something.
    """
    require_whole_sets(warehouse)
    require_pinnable(warehouse, settings.pinned)
    reviewed = _reviewed(warehouse)
    seed = used(context.instance, "choice.items", ItemsSettings).seed
    lines = (
        built_dialogues(warehouse, reviewed),
        built_choices(warehouse, reviewed, seed),
        built_questions(warehouse, reviewed),
        built_wordings(warehouse, reviewed),
        built_three_turns(warehouse, reviewed),
    )
    built = [each for line in lines for each in line.made]
    absent = {name: why for line in lines for name, why in line.absent.items()}
    if not built:
        raise dg.Failure(NOTHING_APPROVED, allow_retries=False)
    before = in_force(warehouse)
    common = circumstances(context.instance, warehouse)
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    made: dict[str, str] = {}
    for name, edition, release, providers, quality in built:
        made[name] = release.release_id
        for of, new in release.rows.items():
            rows[of] += new
        made_with = {
            **common,
            **prompts_and_writers(release, warehouse, ledger),
            "quality": quality,
        }
        card = new_card(
            release, name, edition, reviewed, ", ".join(providers), before.get(name), made_with
        )
        rows["releases"].append(card)
    rows["releases"] = first_cards(warehouse, rows["releases"])
    tables = {name: rows_to_arrow(f"release.{name}", rows[name]) for name in TABLES}
    current = {**made, **settings.pinned}
    earlier = warehouse.read("release/all").to_pylist()
    imported = {row["release_id"] for row in earlier if row["origin"] == "imported"}
    kinds = {row["release_id"]: row["kind"] for row in earlier}
    kinds |= {row["release_id"]: row["kind"] for row in rows["releases"]}
    frozen_now = {each.release.release_id: each.release.rows for each in built}
    to_be = {release_id: kinds[release_id] for release_id in {**before, **current}.values()}
    shared = shared_in_force(warehouse, image_store, to_be, imported, frozen_now)
    require_no_overlap(shared)
    where = {"release_id": list(made.values())}
    warehouse.replace_all(
        [
            *(Write(f"release.{name}", of, where) for name, of in tables.items()),
            write_in_force(current),
        ]
    )
    kept = _why_kept(settings, before, made, absent)
    for why in kept.values():
        context.log.warning(why)
    counts = {name: n for line in lines for name, n in line.counts.items()}
    counts |= {
        f"shared by benchmarks and instruction sets, {name}": n
        for name, n in counted(shared).items()
    }
    return Frozen(tables, {**before, **current}, kept, counts)


def _why_kept(
    settings: ReleaseSettings,
    before: Mapping[str, str],
    made: Mapping[str, str],
    absent: Mapping[str, str],
) -> dict[str, str]:
    """By name, why the release in force is not the one that was frozen now."""
    kept = {}
    for name, why in absent.items():
        stays = f"{before[name]} stays in force" if name in before else f"there is no {name}"
        kept[name] = f"{why}: {stays}."
    for name, pinned in settings.pinned.items():
        if name not in made:
            kept[name] = f"{pinned} is pinned."
        elif made[name] != pinned:
            kept[name] = f"{pinned} is pinned: {made[name]} is frozen, but not in force."
    return kept


def _reviewed(warehouse: Warehouse) -> ReviewPolicy:
    """The policy of the last run of review/approved, which made every row of it.

    Raises dg.Failure if nothing is approved.
    """
    policies = warehouse.read("release/review_policy").to_pylist()
    if not policies:
        raise dg.Failure(NOTHING_APPROVED, allow_retries=False)
    (row,) = policies
    return ReviewPolicy(row["policy"], row["policy_share"])
