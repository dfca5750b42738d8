"""The main job from a terminal: build, evaluate every model of the profile, show the leaderboard.

What belongs here: launching the jobs in order and printing where the results are. The UI can launch the
same jobs and shows these runs.
"""

import sys
import time

import dagster as dg

from assets.common.partitions import models
from dagster_project.definitions import build_defs
from dagster_project.instance import open_instance, prepare_dagster_home
from dagster_project.interrupts import handlers_kept
from dagster_project.jobs import OF_A_MODEL
from dagster_project.progress import SHOW_PROGRESS
from dagster_project.resources import corpus_folder, image_fetcher, make_gateway
from methods.errors import UserError
from resources import home
from resources.stores import bring_home_up_to_date, usable_home
from resources.warehouse import Warehouse


def main() -> int:
    """Run the main job; 0 when everything succeeded, 1 when a run failed, 2 for a wrong setting."""
    try:
        bring_home_up_to_date()
        with usable_home():
            prepare_dagster_home()
            gateway = make_gateway("demo")
        corpus_folder().shards()
        image_fetcher()
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    started = time.monotonic()
    definitions = build_defs(resource_overrides={"llm": gateway})
    try:
        with open_instance() as instance:
            failed = _run(definitions, instance, gateway.profile.evaluate)
    finally:
        gateway.close()
    if failed:
        print(
            f"The run of {failed} failed; the log above and the UI (make ui) say why.",
            file=sys.stderr,
        )
        return 1
    _show(Warehouse(home.warehouse_path()), time.monotonic() - started)
    return 0


def _run(
    definitions: dg.Definitions, instance: dg.DagsterInstance, evaluate: list[str]
) -> str | None:
    """Run all jobs in order; the name of the first that failed, if one did."""
    instance.add_dynamic_partitions(str(models.name), evaluate)
    job = definitions.resolve_job_def("evaluate")
    of_all = sorted(set(job.asset_layer.executable_asset_keys) - set(OF_A_MODEL), key=str)
    runs: list[tuple[str, str | None, list[dg.AssetKey] | None]] = [
        ("build", None, None),
        *(("evaluate", model, OF_A_MODEL) for model in evaluate),
        ("evaluate", None, of_all),
        ("ledger", None, None),
    ]
    for name, partition, assets in runs:
        print(f"== {name}{f' {partition}' if partition else ''}", flush=True)
        with handlers_kept():
            result = definitions.resolve_job_def(name).execute_in_process(
                instance=instance,
                partition_key=partition,
                asset_selection=assets,
                run_config=SHOW_PROGRESS,
                raise_on_error=False,
            )
        if not result.success:
            return f"{name} {partition or ''}".strip()
    return None


def _show(warehouse: Warehouse, seconds: float) -> None:
    rows = warehouse.read("evaluate/overall").to_pylist()
    release, judge, provider = (rows[0][name] for name in ("release", "judge", "provider"))
    print(f"\nLeaderboard ({release}, judge {judge}, provider {provider})\n")
    print(
        f"{'model':<20} {'overall':>8}  {'95 % interval':<15} {'by dialogue':>11} "
        f"{'judged':>8} {'refused':>8} {'failed':>7}"
    )
    for row in rows:
        value, low, high = (row[name] for name in ("value", "ci_low", "ci_high"))
        overall = "-" if value is None else f"{value:.1f}"
        interval = "" if value is None else f"{low:.1f} - {high:.1f}"
        by_dialogue = "-" if value is None else f"{row['macro']:.1f}"
        print(
            f"{row['model']:<20} {overall:>8}  {interval:<15} {by_dialogue:>11} "
            f"{row['n_judged']:>8} {row['n_refused']:>8} {row['n_failed']:>7}"
        )
    print(f"\nDone in {seconds:.0f} s.")
    for report in warehouse.read("evaluate/report_paths").to_pylist():
        print(f"Report:   {report['path']}")
    print(f"Releases: {home.releases_path()}")
    folder = home.home()
    of_home = "" if folder == home.REPO_ROOT / "data" else f" LOOM_HOME={folder}"
    print(f"UI:       make ui{of_home}, then http://127.0.0.1:3000")


if __name__ == "__main__":
    sys.exit(main())
