"""Prints the results of evaluation: leaderboards, missing results, reports. Also writes score files.

`vlm-loom build` and `vlm-loom run evaluate` end with this output.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import median_high
from typing import Any

from assets.common.isolation import incomplete_steps
from dagster_project.release_texts import partial_notes
from methods.errors import printable
from methods.evaluation.candidates import is_model
from methods.evaluation.constant_scores import CONSTANT, constant_scores_sentence
from methods.evaluation.judging import PANEL, RULE
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, mark_indicative
from methods.evaluation.statistics.power import MOST_CLUSTERS, clusters_needed, error_range, factor
from methods.naming import listed
from resources.files import home
from resources.llm.ledger import Ledger
from resources.llm.usage import unread_sentence
from resources.warehouse import Warehouse
from resources.warehouse.configured import warehouse_of_home

MISSING_SHOWN = 20
"""Limit of the printed list of missing results: a failing judge adds one for each model and release."""


def leaderboard_rows(release: str = "") -> list[dict[str, Any]]:
    """Read the rows of leaderboards: one for each model, release, judge and version of the judge.

    Args:
        release: The id, its beginning or the name of a release; empty for all current releases.

    Raises:
        ReleaseError: There is no such release.
    """
    from resources.publishing.releases import release_meant

    warehouse = warehouse_of_home()
    if release:
        shown = [release_meant(warehouse, release)]
    else:
        shown = warehouse.select("release.current", "release_id")["release_id"].to_pylist()
    rows = warehouse.read("evaluate/overall", {"release_ids": shown}).to_pylist()
    return [{**row, "settings": dict(row["settings"] or ())} for row in rows]


def show_results(judges: Sequence[str], release: str = "") -> int:
    """Print a table for each release, judge and version of its judging.

    Below the tables it prints the models that have no results, the steps that failed, the replies that
    could not be parsed, and the judges that give nearly all answers the same score.

    Args:
        judges: The judges whose tables are printed.
        release: As in `leaderboard_rows`.

    Returns:
        The number of missing results: a model has none on a release if too many of its turns failed.
    """
    warehouse = warehouse_of_home()
    shown = {RULE, PANEL, *judges}
    rows = [row for row in leaderboard_rows(release) if row["judge"] in shown]
    of_table = itemgetter("release", "metric", "judge", "judge_version")
    tables = [(key, list(models)) for key, models in groupby(rows, key=of_table)]
    n_versions = Counter(key[:3] for key, _ in tables)
    for (release_id, metric, judge, version), models in tables:
        named = judge if n_versions[release_id, metric, judge] == 1 else f"{judge} {version}"
        if models[0]["constant_score"] is not None:
            named = f"{named} ({CONSTANT})"
        providers = ", ".join(sorted({row["provider"] for row in models}))
        print(f"\nLeaderboard ({release_id}, {metric}, judge {named}, provider {providers})\n")
        _show_models(models)
    missing = warehouse.read("evaluate/missing_current").to_pylist()
    if not rows:
        named = f"the release {release}" if release else "the current releases"
        print(f"\nThere are no scores of {named}: run vlm-loom run evaluate.")
    lacking = [_missing_sentence(row) for row in missing[:MISSING_SHOWN]]
    if len(missing) > MISSING_SHOWN:
        lacking.append(
            f"{len(missing) - MISSING_SHOWN} more results were not taken: "
            "vlm-loom sql 'FROM evaluate.missing' lists them."
        )
    lacking += [
        f"{step} failed: {reason}"
        for step, reasons in incomplete_steps(warehouse).items()
        for reason in reasons
    ]
    with closing(Ledger(home.ledger_path())) as ledger:
        unread = ledger.count_unread()
    lacking += [
        f"{stage}: {unread_sentence(stage, n)}"
        for stage, n in unread.items()
        if stage.startswith("evaluate.")
    ]
    of_release = {row["release"] for row in rows}
    lacking += [
        constant_scores_sentence(row)
        for row in warehouse.select("evaluate.constant_judges").to_pylist()
        if row["judge"] in shown and row["release_id"] in of_release
    ]
    if lacking:
        print("\n" + printable("\n".join(lacking)))
    return len(missing)


def _missing_sentence(row: Mapping[str, Any]) -> str:
    judge = "" if row["asked"] == row["model"] else f" with {row['asked']}"
    return (
        f"{row['model']} on {row['release_id']}{judge}: the results of {row['stage']} were not taken, "
        f"as {row['n_lost']} of {row['n_turns']} turns were lost ({row['why']})."
    )


def export_results(release: str, kind: str, to: Path | None) -> str:
    """Write the scores of a release, or the answers on it, as files.

    Args:
        release: The id or name of the release, or the beginning of its id.
        kind: The format.
        to: The folder; by default one below the reports.

    Returns:
        The message to print, with the files.

    Raises:
        UserError: There are no scores, or the folder cannot be written.
    """
    from resources.publishing.releases import cards_of, release_meant
    from resources.publishing.result_files import OPEN_VLM, SUBMISSION, require_kind, write_open_vlm
    from resources.publishing.submission_files import write_submissions

    require_kind(kind)
    warehouse = warehouse_of_home()
    release_id = release_meant(warehouse, release)
    (card,) = cards_of(warehouse, [release_id])
    folder = to or home.reports_path() / "results" / release_id
    notes: list[str] = []
    if kind == SUBMISSION:
        files, notes = write_submissions(warehouse, card, folder)
    elif kind == OPEN_VLM:
        files, notes = write_open_vlm(warehouse, card, _scored_at(), folder)
    else:
        files = _write_scores(warehouse, card, kind, folder)
    names = listed([str(file.relative_to(folder)) for file in files])
    notes = [*notes, *partial_notes(warehouse, release_id)]
    return "\n".join([f"Results on {release_id} are in {folder}: {names}.", *notes])


def _write_scores(
    warehouse: Warehouse, card: Mapping[str, Any], kind: str, folder: Path
) -> list[Path]:
    from assets.release.card import project_version
    from methods.benchmarks import BENCHMARKS
    from methods.release_card import card_of
    from methods.results.results_table import MetricKey
    from resources.publishing.result_files import read_calls, read_results, write_results

    results = read_results(warehouse, card["release_id"])
    with closing(Ledger(home.ledger_path())) as ledger:
        calls = read_calls(warehouse, ledger, card["release_id"])
    benchmark = BENCHMARKS.get(card["benchmark"] or "")
    averages = {
        MetricKey(metric.name, metric.aggregation): metric.in_words
        for metric in (benchmark.metrics if benchmark else ())
    }
    return write_results(results, kind, folder, card_of(card), project_version(), calls, averages)


def _scored_at() -> str | None:
    """The time when scores were last computed, as ISO 8601; None if no run has computed any."""
    import dagster as dg

    from dagster_project.instance import instance_to_read

    with instance_to_read() as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey(["evaluate", "leaderboard"]))
    return datetime.fromtimestamp(event.timestamp, UTC).isoformat() if event else None


def power_of(release: str, difference: float, n_comparisons: int) -> str:
    """Compute the clusters needed to find a difference with a power of 80 %, by the ranking metric.

    Args:
        release: The release that serves as the pilot.
        difference: The true difference of two models, in points.
        n_comparisons: The number of comparisons that Holm's procedure adjusts together.

    Returns:
        For each judge, a sentence with the number, and with the difference that this release can show.

    Raises:
        UserError: The difference is larger than the scale allows, or no pair of models varies.
    """
    from methods.benchmarks import BENCHMARKS
    from resources.publishing.releases import release_meant
    from resources.publishing.result_files import ResultError, read_results

    if not 0 < difference < math.inf:
        raise ResultError("--difference is a number above 0: the points that two models are apart.")
    warehouse = warehouse_of_home()
    release_id = release_meant(warehouse, release)
    results = read_results(warehouse, release_id)
    benchmark = BENCHMARKS.get(results.scores["benchmark"][0].as_py())
    leading = benchmark.metrics[0] if benchmark else None
    if leading and difference > leading.span:
        low, high = leading.ends
        raise ResultError(
            f"Two models are at most {leading.span:g} apart in {leading.name}, which is from {low:g} "
            f"to {high:g}: give a --difference up to that."
        )
    # Pairs without variance, and rows of an earlier version, do not show how much differences vary.
    varied = [
        (of_judge, pairs)
        for of_judge in results.by_judge()
        if (
            pairs := [
                row
                for row in of_judge.pairs(of_judge.leading).values()
                if row["detectable"] and row["method"] and is_model(row["second"])
            ]
        )
    ]
    if not varied:
        raise ResultError(
            f"{release_id} has no two models whose scores differ on at least two dialogues, items or "
            "groups of items, so it is unknown how much differences vary: evaluate other models "
            "on it, or take a larger release of the same kind."
        )
    span = leading.span if leading else math.inf
    alpha = 0.05 / n_comparisons
    test = (
        "p < 0.05, two models by themselves"
        if n_comparisons == 1
        else f"p < 0.05 after Holm's adjustment for {n_comparisons:,} comparisons"
    )
    return "\n".join(
        f"{'/'.join(of_judge.leading)}, judge {of_judge.judge}: a true difference of {difference:g} is "
        f"found in 80 of 100 cases ({test}) on "
        f"{_power_sentence(release_id, pairs, difference, alpha, span)}"
        for of_judge, pairs in varied
    )


def _power_sentence(
    release_id: str,
    pairs: Sequence[Mapping[str, Any]],
    difference: float,
    alpha: float,
    span: float,
) -> str:
    """State the number of clusters that the median pair of models needs, and what the release shows."""

    def needed(error: float, n_clusters: int) -> float:
        # A number above the limit of the count is treated as infinite.
        return clusters_needed(error, n_clusters, difference, alpha=alpha) or math.inf

    def shown(effect: float) -> str:
        return f"{effect:.2f}" if effect <= span else "more than there can be"

    pilots = [(row["detectable"] / factor(row["n_clusters"]), row["n_clusters"]) for row in pairs]
    by_number = sorted((needed(*pilot), *pilot) for pilot in pilots)
    middle, error, n_clusters = by_number[len(by_number) // 2]
    fewest, most = by_number[0][0], by_number[-1][0]
    few, many = (needed(end, n_clusters) for end in error_range(error, n_clusters))
    effects = sorted(factor(n, alpha=alpha) * error for error, n in pilots)
    return (
        f"{_number(middle)} independent dialogues, items or groups "
        f"({_number(fewest)} to {_number(most)} by pair of models). The variance is an "
        f"estimate from {n_clusters:,}: the 95% interval of the number is {_number(few)} to "
        f"{_number(many)}. {release_id} has {max(n for _, n in pilots):,} and shows "
        f"{shown(median_high(effects))} ({shown(effects[0])} to {shown(effects[-1])})."
    )


def _number(needed: float) -> str:
    return f"{needed:,}" if math.isfinite(needed) else f"more than {MOST_CLUSTERS:,}"


def show_costs(run: str, since: str) -> None:
    """Print calls, tokens and dollars of an evaluation by stage and model, or one line if no call was
    paid for. Answers of batches that earlier runs submitted count if they came during the run.

    Args:
        run: The id of a run whose calls are in `ledger.calls`.
        since: The start of the run, in the ledger's format.
    """
    where = {"run": run, "since": since}
    costs = warehouse_of_home().read("ledger/costs_of_run", where).to_pylist()
    if not costs:
        print("\nNo answer of a model was paid for in this run.")
        return
    width = max(24, *(len(row["model"]) for row in costs))
    line = f"{{:<24}} {{:<{width}}} {{:>9}} {{:>13}} {{:>13}} {{:>11}}"
    print()
    print(line.format("stage", "model", "calls", "prompt tok.", "answer tok.", "$"))
    rows = [[*row.values()] for row in costs]
    totals = map(sum, zip(*(row[2:] for row in rows), strict=True))
    for stage, model, *numbers in [*rows, ["all", "", *totals]]:
        *counts, dollars = numbers
        print(line.format(stage, model, *(f"{n:,}" for n in counts), f"{dollars:.4f}"))


def show_reports() -> None:
    """Print the path of each report."""
    for report in warehouse_of_home().read("evaluate/report_paths").to_pylist():
        print(f"Report:   {home.home() / report['path']}")
    show_site()


def show_site() -> None:
    """Print the path of the static site's first page, or how to create the site."""
    page = home.reports_path() / "index.html"
    if page.exists():
        print(f"Site:     {page}")
    else:
        print("Nothing is scored here yet, so there are no reports: run vlm-loom run evaluate.")


def _show_models(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the models of one table, best first."""
    width = max(20, *(len(row["label"]) for row in rows))
    ranks = [_rank(row) for row in rows]
    rank_width = max(7, *map(len, ranks))
    print(
        f"{'model':<{width}} {'rank':>{rank_width}} {'score':>6}  {'interval':<15} {'clusters':>8} "
        f"{'judged only':>11} {'judged':>8} {'refused':>8} {'no answer':>10} {'failed':>7}"
    )
    for row, rank in zip(rows, ranks, strict=True):
        value, low, high = (row[name] for name in ("value", "ci_low", "ci_high"))
        score = "-" if value is None else f"{value:z.1f}"
        interval = mark_indicative(
            "" if low is None else f"{low:z.1f} - {high:z.1f}", row["n_clusters"]
        )
        clusters = "" if row["n_clusters"] is None else row["n_clusters"]
        judged_only = "-" if row["judged_only"] is None else f"{row['judged_only']:z.1f}"
        print(
            f"{row['label']:<{width}} {rank:>{rank_width}} {score:>6}  {interval:<15} {clusters:>8} "
            f"{judged_only:>11} "
            f"{row['n_judged']:>8} {row['n_refused']:>8} {row['n_no_answer']:>10} {row['n_failed']:>7}"
        )
    print("\nIntervals are of 95 %, over independent dialogues, items or groups (clusters).")
    lost = {row["label"]: row for row in rows if row["n_without_picture"]}
    if lost:
        n = max(row["n_without_picture"] for row in lost.values())
        scores = [f"{model} {row['all_items']:z.1f}" for model, row in lost.items()]
        print(
            f"No score counts {n} of the items, whose pictures the release does not have. With what "
            f"was not asked for want of them as lost: {listed(scores)}."
        )
    if any(row["n_clusters"] is not None and row["n_clusters"] < LEAST_CLUSTERS for row in rows):
        print(f"~: fewer than {LEAST_CLUSTERS} clusters, the interval is only indicative.")
    for row in rows:
        if row["mark"]:
            print(f"*: {row['label']}: {row['mark']}")
    if reasons := sorted({row["why"] for row in rows if row["why"]}):
        print(f"-: none. {' '.join(reasons)}")


def _rank(row: Mapping[str, Any]) -> str:
    shown = "-" if row["rank"] is None else f"{row['rank']} ({row['rank_low']}-{row['rank_high']})"
    return f"{shown}{'*' if row['mark'] else ''}"
