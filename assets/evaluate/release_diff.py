"""Comparison of two releases as an HTML page: items, settings, and scores on common items."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from assets.common.settings import current_settings
from assets.evaluate.observed import JudgeObservations, ScoringSettings, slices_of
from assets.evaluate.reports import index_lines, write_index
from methods.benchmarks import Benchmarks
from methods.evaluation.common_items import common_scores
from methods.evaluation.metrics.observations import models_in
from methods.release import exported_rows
from methods.release_card import benchmark_of, card_of, edition_of, exported_card
from methods.release_diff import ReleaseContents, ReleaseDifference, difference
from methods.release_diff_text import CommonScores, RepeatedResults, difference_in_words
from resources.files.home import relative_to_home
from resources.images.store import ImageStore
from resources.llm.registry import Profile
from resources.publishing.releases import ReleaseError, cards_of, release_meant, rows_of_release
from resources.reports.benchmark_report import write_report
from resources.reports.diff_page import page_of, render_diff
from resources.warehouse import Warehouse

Turn = tuple[str, str, str, str, str, int]
"""(model, judge, judge version, item id, trial, turn)."""


class ReleaseComparison(NamedTuple):
    """Two releases, their differences, and the scores on common items."""

    first: ReleaseContents
    second: ReleaseContents
    difference: ReleaseDifference
    common: list[CommonScores]

    @property
    def in_words(self) -> str:
        """The comparison in a few lines."""
        ids = (self.first.card["release_id"], self.second.card["release_id"])
        return difference_in_words(*ids, self.difference, len(self.common))


def resolve_releases(warehouse: Warehouse, a: str, b: str) -> tuple[str, str]:
    """Find the two releases to compare.

    Args:
        warehouse: The tables.
        a: The id or name of a release.
        b: The id or name of the other release; empty to compare `a` with its parent.

    Returns:
        The ids of the first and the second release.

    Raises:
        ReleaseError: There is no such release or no parent, or both are the same release.
    """
    if not a:
        raise ReleaseError("No release given. Pass the ids or names of the releases to compare.")
    first = release_meant(warehouse, a)
    if b:
        second = release_meant(warehouse, b)
        if second == first:
            raise ReleaseError(
                f"{a} and {b} are the same release, {first}. Pass two different releases."
            )
        return first, second
    (card,) = cards_of(warehouse, [first])
    if not card["parent"]:
        raise ReleaseError(
            f"{first} has no parent to compare it with. Pass the other release, too."
        )
    return str(card["parent"]), first


def compare_releases(
    warehouse: Warehouse, benchmarks: Benchmarks, first_id: str, second_id: str
) -> ReleaseComparison:
    """Compare two releases.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks, for scores on common items.
        first_id: The first release.
        second_id: The second release.

    Returns:
        The differences and the scores on common items.

    Raises:
        ReleaseError: A release cannot be read.
    """
    first, second = (
        _contents(warehouse, row) for row in cards_of(warehouse, [first_id, second_id])
    )
    differing = difference(first, second)
    return ReleaseComparison(
        first, second, differing, _on_common(warehouse, benchmarks, first, second, differing.common)
    )


def write_page(
    warehouse: Warehouse,
    image_store: ImageStore,
    profile: Profile,
    benchmarks: Benchmarks,
    comparison: ReleaseComparison,
) -> str:
    """Write the HTML page of a comparison, and update the index.

    If a release holds out its references, the page has those of neither release.

    Args:
        warehouse: The tables.
        image_store: The images.
        profile: The profile of models.yaml.
        benchmarks: The benchmarks.
        comparison: The comparison.

    Returns:
        The page's path inside the workspace.
    """
    path = page_of(comparison.first.card["release_id"], comparison.second.card["release_id"])
    generated = datetime.now(UTC).isoformat(timespec="seconds")
    first, second = _exported(comparison)
    page = render_diff(
        first,
        second,
        difference(first, second)._replace(common=comparison.difference.common),
        comparison.common,
        image_store,
        generated,
    )
    write_report(path, page)
    write_index(index_lines(warehouse, benchmarks, profile))
    return relative_to_home(path)


def _exported(comparison: ReleaseComparison) -> list[ReleaseContents]:
    """Return both releases without secret seeds, and without references if one holds them out."""
    sides = (comparison.first, comparison.second)
    exported = []
    for side in sides:
        rows = side.rows
        for edition in [edition_of(each.card) for each in sides]:
            rows = exported_rows(rows, edition)
        exported.append(side._replace(card=exported_card(side.card), rows=rows))
    return exported


def _contents(warehouse: Warehouse, row: Mapping[str, Any]) -> ReleaseContents:
    release_id = row["release_id"]
    return ReleaseContents(
        card_of(row),
        rows_of_release(warehouse, release_id),
        warehouse.read("evaluate/overall_of", {"release_id": release_id}).to_pylist(),
    )


def _on_common(
    warehouse: Warehouse,
    benchmarks: Benchmarks,
    first: ReleaseContents,
    second: ReleaseContents,
    items: Mapping[str, str],
) -> list[CommonScores]:
    """Score the models on common items that the same version of a judge has judged on both releases."""
    names = {benchmark_of(contents.card) for contents in (first, second)}
    name = names.pop()
    if names or name is None or name not in benchmarks or not items:
        return []
    benchmark = benchmarks[name]
    settings = current_settings("evaluate.scores").settings
    assert isinstance(settings, ScoringSettings)
    ids = [contents.card["release_id"] for contents in (first, second)]
    before, after = (
        {
            (slice_.judge, slice_.version): slice_
            for slice_ in slices_of(warehouse, benchmark, release_id, settings.panel)
        }
        for release_id in ids
    )
    calls = [_calls(warehouse, release_id) for release_id in ids]
    on_common = []
    for key in [key for key in before if key in after]:
        old, new = before[key], after[key]
        for model in sorted({*models_in(old.observed)} & {*models_in(new.observed)}):
            repeated = _repeated(model, new, calls[0], calls[1], items)
            scores = common_scores(
                benchmark.metrics,
                old.observed[old.observed["model"] == model],
                new.observed[new.observed["model"] == model],
                items,
                same_calls=repeated.is_all,
            )
            if scores:
                on_common.append(CommonScores(model, *key, scores, repeated))
    # By judge, models with the highest score on the second release first.
    on_common.sort(key=lambda one: (one.judge, one.judge_version, -one.scores[0].after, one.model))
    return on_common


def _calls(warehouse: Warehouse, release_id: str) -> dict[Turn, tuple[str | None, list[str]]]:
    """Read the call of the answer, and the judge's calls, for each observed turn."""
    rows = warehouse.read("evaluate/call_keys_of", {"release_id": release_id}).to_pylist()
    return {
        (
            row["model"],
            row["judge"],
            row["judge_version"],
            row["item_id"],
            row["trial"],
            row["turn"],
        ): (row["answer"], row["judge_calls"] or [])
        for row in rows
    }


def _repeated(
    model: str,
    judged: JudgeObservations,
    before: Mapping[Turn, tuple[str | None, list[str]]],
    after: Mapping[Turn, tuple[str | None, list[str]]],
    items: Mapping[str, str],
) -> RepeatedResults:
    """Count the turns whose answers, or judgments, come from the same calls on both releases.

    For a panel, the calls of all its judges must be the same.
    """
    judges = {(member.judge, member.version) for member in judged.members or [judged]}
    turns: dict[tuple[str, str, int], list[tuple[bool, bool]]] = {}
    for (who, judge, version, item_id, trial, turn), (answer, calls) in before.items():
        if who != model or (judge, version) not in judges or item_id not in items:
            continue
        later = after.get((who, judge, version, items[item_id], trial, turn))
        if later is not None:
            same = answer is not None and answer == later[0]
            turns.setdefault((item_id, trial, turn), []).append((same, same and calls == later[1]))
    return RepeatedResults(
        len(turns),
        sum(all(same for same, _ in flags) for flags in turns.values()),
        sum(all(same for _, same in flags) for flags in turns.values()),
    )
