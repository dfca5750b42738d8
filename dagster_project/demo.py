"""The main job from a terminal: build, evaluate every model of the profile, show the leaderboard.

What belongs here: launching the jobs in order and printing where the results are. The UI can launch the
same jobs and shows these runs.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import uuid4

import dagster as dg

from dagster_project.dead_runs import end_dead_runs
from dagster_project.definitions import build_defs
from dagster_project.held_file import hold
from dagster_project.instance import databases_kept_open, open_instance, prepare_dagster_home
from dagster_project.jobs import run_job
from dagster_project.progress import say_failed
from dagster_project.resources import corpus_folder, image_fetcher, make_gateway
from dagster_project.shard_failures import only_shards_failed
from methods.errors import UserError
from methods.evaluation.judging import PANEL, RULE
from resources import home
from resources.stores import bring_home_up_to_date, usable_home
from resources.warehouse import Warehouse

UNFINISHED = ["make demo"]
"""What stands for earlier demos that did not finish: the next one goes on with what is left of their
budget, and one that follows a finished demo has a budget of its own."""


def main() -> int:
    """Run the main job; 0 when everything succeeded, 1 when a run failed or a shard was not ingested,
    2 for a wrong setting."""
    try:
        bring_home_up_to_date()
        with usable_home():
            held = hold(
                prepare_dagster_home() / "demo.lock",
                f"process {os.getpid()}",
                f"Another make demo is at work on {home.home()} ({{holder}}): wait until it has ended.",
            )
            gateway = make_gateway(f"demo-{uuid4().hex[:8]}", ancestors=UNFINISHED)
        corpus_folder().shards()
        image_fetcher()
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    started = time.monotonic()
    definitions = build_defs(resource_overrides={"llm": gateway})
    try:
        with held, open_instance() as instance:
            end_dead_runs(instance)
            with databases_kept_open():
                failed, lost_shards = _run(definitions, instance)
        if not failed:
            gateway.budget.finish(UNFINISHED)
    finally:
        gateway.close()
    if failed:
        say_failed(failed)
        return 1
    judges = gateway.profile.judges
    _show(Warehouse(home.warehouse_path()), judges, time.monotonic() - started)
    if lost_shards:
        print(f"\n{lost_shards}", file=sys.stderr)
        return 1
    return 0


def _run(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> tuple[str | None, str | None]:
    """Run the jobs in order: the name of the first that failed, and what to say of lost shards.

    A build that only lacks some shards is gone on from.
    """
    lost_shards = None
    for name in ("build", "evaluate", "ledger"):
        print(f"== {name}", flush=True)
        result = run_job(definitions.resolve_job_def(name), instance)
        if not result.success:
            said = only_shards_failed(result)
            if said is None:
                return name, None
            lost_shards = said
    return None, lost_shards


def _show_models(rows: Sequence[Mapping[str, Any]]) -> None:
    """The models of one table, best first."""
    width = max(20, *(len(row["model"]) for row in rows))
    print(
        f"{'model':<{width}} {'rank':>7} {'score':>6}  {'95 % interval':<15} {'judged only':>11} "
        f"{'judged':>8} {'refused':>8} {'no answer':>10} {'failed':>7}"
    )
    for row in rows:
        value, low, high = (row[name] for name in ("value", "ci_low", "ci_high"))
        score = "-" if value is None else f"{value:.1f}"
        interval = "" if low is None else f"{low:.1f} - {high:.1f}"
        judged_only = "-" if row["judged_only"] is None else f"{row['judged_only']:.1f}"
        rank = (
            "-" if row["rank"] is None else f"{row['rank']} ({row['rank_low']}-{row['rank_high']})"
        )
        print(
            f"{row['model']:<{width}} {rank:>7} {score:>6}  {interval:<15} {judged_only:>11} "
            f"{row['n_judged']:>8} {row['n_refused']:>8} {row['n_no_answer']:>10} {row['n_failed']:>7}"
        )


def _show(warehouse: Warehouse, judges: Sequence[str], seconds: float) -> None:
    """A table for each release in force, judge and version of its judging; and where to look."""
    shown = {RULE, PANEL, *judges}
    rows = [row for row in warehouse.read("evaluate/overall").to_pylist() if row["judge"] in shown]
    of_table = itemgetter("release", "metric", "judge", "judge_version")
    tables = [(of, list(models)) for of, models in groupby(rows, key=of_table)]
    n_versions = Counter(of[:3] for of, _ in tables)
    for (release, metric, judge, version), models in tables:
        named = judge if n_versions[release, metric, judge] == 1 else f"{judge} {version}"
        providers = ", ".join(sorted({row["provider"] for row in models}))
        print(f"\nLeaderboard ({release}, {metric}, judge {named}, provider {providers})\n")
        _show_models(models)
    for row in warehouse.read("evaluate/missing_in_force").to_pylist():
        print(
            f"{row['model']}: the results of {row['stage']} were not taken, as {row['n_lost']} of "
            f"{row['n_turns']} turns were lost ({row['why']})."
        )
    print(f"\nDone in {seconds:.0f} s.")
    for report in warehouse.read("evaluate/report_paths").to_pylist():
        print(f"Report:   {home.home() / report['path']}")
    print(f"Releases: {home.releases_path()}")
    folder = home.home()
    of_home = "" if folder == home.REPO_ROOT / "data" else f" LOOM_HOME={folder}"
    print(f"UI:       make ui{of_home}, then http://127.0.0.1:3000")


if __name__ == "__main__":
    sys.exit(main())
