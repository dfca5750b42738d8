"""Texts of `release list` and `release show`: one line per release, and a dataset card with scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from methods.evaluation.item_sample import partial_evaluation_note
from methods.markdown import code, table
from methods.release_card import TAU, card_markdown, card_of, reviewed_by, settings_of
from methods.release_diff_text import score
from resources.publishing.releases import cards_of, release_meant
from resources.warehouse import Warehouse


def rows_of(warehouse: Warehouse) -> list[dict[str, Any]]:
    """Return a row for each release, by name, the newest first; `is_current` marks the current ones."""
    cards = warehouse.read("release/all").to_pylist()
    cards.sort(key=lambda card: card["created_at"], reverse=True)
    cards.sort(key=lambda card: card["name"])
    return cards


def release_lines(warehouse: Warehouse) -> str:
    """Return a text with one line for each release."""
    cards = rows_of(warehouse)
    if not cards:
        return "There is no release yet.\n"
    heads = ("", "release", "items", "turns", "tau", "review", "made", "parent")
    return _columns([heads, *(_line(card) for card in cards)])


def release_page(warehouse: Warehouse, release_id: str) -> str:
    """Write the card of a release as Markdown, with its overall scores.

    Args:
        warehouse: The tables.
        release_id: The id or name of the release, or the beginning of its id.

    Raises:
        ReleaseError: There is no such release.
    """
    (row,) = cards_of(warehouse, [release_meant(warehouse, release_id)])
    state = "It is current." if row.pop("is_current") else "It is not current."
    snapshot = warehouse.snapshots_of_releases().get(row["release_id"])
    if snapshot is not None:
        state += f" The tables as it was frozen: vlm-loom sql --as-of {snapshot}."
    lines = [card_markdown(card_of(row)), state]
    scores = _scores(warehouse, row["release_id"])
    if scores:
        rows = [
            (
                code(scored["model"]),
                code(scored["judge"]),
                code(scored["judge_version"]),
                f"{score(scored)}{'*' if scored['mark'] else ''}",
            )
            for scored in scores
        ]
        lines += ["", "## Overall scores", ""]
        lines += table(("model", "judge", "judge's prompt", "score"), rows)
        marks = {f"*: {scored['model']}: {scored['mark']}" for scored in scores if scored["mark"]}
        lines += ["", *sorted(marks), *partial_notes(warehouse, row["release_id"])]
    return "\n".join(lines) + "\n"


def partial_notes(warehouse: Warehouse, release_id: str) -> list[str]:
    """Describe the models that were asked about only a part of a release's items.

    Args:
        warehouse: The tables.
        release_id: The release.
    """
    return [
        f"{row['model']} is partial: {partial_evaluation_note(row['n_asked'], row['n_items'])}"
        for row in warehouse.read("evaluate/asked_items").to_pylist()
        if row["release_id"] == release_id
    ]


def _scores(warehouse: Warehouse, release_id: str) -> list[dict[str, Any]]:
    return warehouse.read("evaluate/overall_of", {"release_id": release_id}).to_pylist()


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    card = card_of(row)
    tau = settings_of(card).get(TAU)
    return (
        "*" if row["is_current"] else "",
        card["release_id"],
        str(card["n_items"]),
        str(card["n_turns"]),
        "?" if tau is None else f"{tau:g}",
        reviewed_by(card),
        card["created_at"],
        card.get("parent", ""),
    )


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"
