"""What evaluation came to: leaderboards, what is missing and why, where the reports are; scores as
files.

What belongs here: printing it, and having it written. `vlm-loom demo` and `vlm-loom run evaluate` end
with it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from assets.common.apart import not_made
from methods.evaluation.judging import PANEL, RULE
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, marked
from methods.naming import listed
from resources import home
from resources.llm.ledger import Ledger
from resources.llm.usage import unread_sentence
from resources.warehouse import Warehouse


def leaderboard_rows() -> list[dict[str, Any]]:
    """The rows of all leaderboards, one for each model, release in force, judge and its version."""
    return Warehouse(home.warehouse_path()).read("evaluate/overall").to_pylist()


def show_results(judges: Sequence[str]) -> None:
    """A table for each release in force, judge of `judges` and version of its judging; below them the
    models that have no results, the steps that have failed, and the replies that could not be read."""
    warehouse = Warehouse(home.warehouse_path())
    shown = {RULE, PANEL, *judges}
    rows = [row for row in leaderboard_rows() if row["judge"] in shown]
    of_table = itemgetter("release", "metric", "judge", "judge_version")
    tables = [(key, list(models)) for key, models in groupby(rows, key=of_table)]
    n_versions = Counter(key[:3] for key, _ in tables)
    for (release, metric, judge, version), models in tables:
        named = judge if n_versions[release, metric, judge] == 1 else f"{judge} {version}"
        providers = ", ".join(sorted({row["provider"] for row in models}))
        print(f"\nLeaderboard ({release}, {metric}, judge {named}, provider {providers})\n")
        _show_models(models)
    lacking = [
        f"{row['model']} on {row['release_id']}: the results of {row['stage']} were not taken, as "
        f"{row['n_lost']} of {row['n_turns']} turns were lost ({row['why']})."
        for row in warehouse.read("evaluate/missing_in_force").to_pylist()
    ]
    lacking += [
        f"{step} failed: {reason}"
        for step, reasons in not_made(warehouse).items()
        for reason in reasons
    ]
    with closing(Ledger(home.ledger_path())) as ledger:
        unread = ledger.count_unread()
    lacking += [
        f"{stage}: {unread_sentence(stage, n)}"
        for stage, n in unread.items()
        if stage.startswith("evaluate.")
    ]
    if lacking:
        print("\n" + "\n".join(lacking))


def export_results(release: str, kind: str, to: Path | None) -> str:
    """Write the scores of a release as files; what was written. Raises UserError.

    The settings that they were made with are those of the last run that made them.
    """
    from assets.common.settings import used
    from assets.evaluate.comparisons import ComparisonsSettings
    from assets.release.card import project_version
    from dagster_project.instance import open_instance
    from resources.releases import cards_of, release_meant
    from resources.reports.result_files import read_results, require_kind, write_results

    require_kind(kind)
    warehouse = Warehouse(home.warehouse_path())
    release_id = release_meant(warehouse, release)
    (card,) = cards_of(warehouse, [release_id])
    results = read_results(warehouse, release_id)
    import_module("dagster_project.definitions")
    with open_instance() as instance:
        settings = used(instance, "evaluate.comparisons", ComparisonsSettings).model_dump()
    folder = to or home.reports_path() / "results" / release_id
    files = write_results(results, kind, folder, card, {**settings, "version": project_version()})
    return f"Results on {release_id} are in {folder}: {listed([file.name for file in files])}."


def show_reports() -> None:
    """The path of each report."""
    for report in Warehouse(home.warehouse_path()).read("evaluate/report_paths").to_pylist():
        print(f"Report:   {home.home() / report['path']}")


def _show_models(rows: Sequence[Mapping[str, Any]]) -> None:
    """The models of one table, best first."""
    width = max(20, *(len(row["model"]) for row in rows))
    print(
        f"{'model':<{width}} {'rank':>7} {'score':>6}  {'interval':<15} {'clusters':>8} "
        f"{'judged only':>11} {'judged':>8} {'refused':>8} {'no answer':>10} {'failed':>7}"
    )
    for row in rows:
        value, low, high = (row[name] for name in ("value", "ci_low", "ci_high"))
        score = "-" if value is None else f"{value:.1f}"
        interval = marked("" if low is None else f"{low:.1f} - {high:.1f}", row["n_clusters"])
        clusters = "" if row["n_clusters"] is None else row["n_clusters"]
        judged_only = "-" if row["judged_only"] is None else f"{row['judged_only']:.1f}"
        rank = (
            "-" if row["rank"] is None else f"{row['rank']} ({row['rank_low']}-{row['rank_high']})"
        )
        print(
            f"{row['model']:<{width}} {rank:>7} {score:>6}  {interval:<15} {clusters:>8} "
            f"{judged_only:>11} "
            f"{row['n_judged']:>8} {row['n_refused']:>8} {row['n_no_answer']:>10} {row['n_failed']:>7}"
        )
    print("\nIntervals are of 95 %, over independent dialogues, items or groups (clusters).")
    if any(row["n_clusters"] is not None and row["n_clusters"] < LEAST_CLUSTERS for row in rows):
        print(f"~: fewer than {LEAST_CLUSTERS} clusters, the interval is only indicative.")
