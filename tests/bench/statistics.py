"""What intervals and comparisons of a leaderboard cost, against scipy's bootstrap of the same sums.

Run by `make bench NAME=statistics`: 15 models, 7 metrics, 110 dialogues of 15 turns (MMDU's size)
and then
3,000, 10,000 resamples, 2 of 100 values missing. Each figure is taken in a process of its own on one
core. scipy.stats.bootstrap gets the sums by dialogue of one metric, a call for every model and every
pair; it tests nothing. Prints a table, and as the last line all figures as one JSON object.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from resources.home import REPO_ROOT
from tests.bench.measuring import peak_mib

N_MODELS, N_METRICS, N_TURNS, N_RESAMPLES = 15, 7, 15, 10_000
FEW, MANY = 110, 3_000
OURS, SCIPY = "ours", "scipy.stats.bootstrap"
RUNS = ((OURS, FEW), (SCIPY, FEW), (OURS, MANY))
ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

Bounds = list[tuple[float, float]]


def release(n_dialogues: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores, metrics x models x turns, and the dialogue of each turn."""
    generator = np.random.default_rng(0)
    shape = (N_METRICS, N_MODELS, n_dialogues, N_TURNS)
    hard = generator.normal(0, 10, (1, 1, n_dialogues, 1))
    points = 60 + hard + generator.normal(0, 8, shape[2:]) + generator.normal(0, 5, shape)
    points += np.arange(N_MODELS)[:, None, None]
    scores = np.clip(np.round(points / 10), 1, 10).reshape(N_METRICS, N_MODELS, -1) * 10
    scores[generator.random(scores.shape) < 0.02] = np.nan
    return scores, np.repeat(np.arange(n_dialogues), N_TURNS)


# --- Ways ----------------------------------------------------------------------------------------
# Each gives the seconds of its steps, the metrics it has done, and the first metric's bounds: of the
# models, then of the pairs.


def ours(n_dialogues: int) -> tuple[dict, int, Bounds]:
    """As the project does it: intervals of models; differences, intervals and tests of pairs."""
    from methods.evaluation.statistics.comparisons import compare_pairs
    from methods.evaluation.statistics.resampling import cluster_bootstrap

    scores, clusters = release(n_dialogues)
    started = time.perf_counter()
    means = [cluster_bootstrap(each, clusters, "micro", seed=0) for each in scores]
    between = time.perf_counter()
    pairs = [compare_pairs(each, clusters, "micro", seed=0) for each in scores]
    seconds = {"models_s": between - started, "pairs_s": time.perf_counter() - between}
    return seconds, N_METRICS, [(each.ci_low, each.ci_high) for each in [*means[0], *pairs[0]]]


def scipys(n_dialogues: int) -> tuple[dict, int, Bounds]:
    """What a user would take instead, for one metric."""
    from scipy.stats import bootstrap

    from methods.evaluation.statistics.resampling import cluster_totals, paired_totals

    def mean(sums: np.ndarray, sizes: np.ndarray, axis: int) -> np.ndarray:
        return sums.sum(axis=axis) / sizes.sum(axis=axis)

    scores, clusters = release(n_dialogues)
    seconds, bounds = {}, []
    started = time.perf_counter()
    for name, totals in (
        ("models_s", cluster_totals(scores[0], clusters)),
        ("pairs_s", paired_totals(scores[0], clusters)[1]),
    ):
        for sums, sizes in zip(totals.sums, totals.sizes, strict=True):
            found = bootstrap(
                (sums, sizes),
                mean,
                paired=True,
                method="percentile",
                n_resamples=N_RESAMPLES,
                rng=0,
            )
            bounds.append(tuple(map(float, found.confidence_interval)))
        seconds[name] = time.perf_counter() - started
        started = time.perf_counter()
    return seconds, 1, bounds


WAYS: dict[str, Callable[[int], tuple[dict, int, Bounds]]] = {OURS: ours, SCIPY: scipys}


# --- Measuring -----------------------------------------------------------------------------------


def measure(way: str, n_dialogues: int) -> None:
    """One way, here and now: prints its figures as JSON. A first call, with imports, is not counted."""
    WAYS[way](4)
    before = peak_mib()
    processor = time.process_time()
    seconds, n_metrics, bounds = WAYS[way](n_dialogues)
    processor = time.process_time() - processor
    row = {name: round(value, 2) for name, value in seconds.items()}
    row |= {
        "metrics": n_metrics,
        "all_s": round(sum(seconds.values()), 2),
        "cpu_s": round(processor, 2),
    }
    row |= {"s_per_metric": round(sum(seconds.values()) / n_metrics, 3)}
    print(json.dumps({**row, "peak_mib": peak_mib(), "imports_mib": before, "bounds": bounds}))


def measured(way: str, n_dialogues: int) -> dict:
    """The figures of one way, from a process of its own on one core."""
    command = [sys.executable, "-m", "tests.bench.statistics", "measure", way, str(n_dialogues)]
    print(f"{way}, {n_dialogues:,} dialogues ...", file=sys.stderr)
    done = subprocess.run(
        command,
        cwd=REPO_ROOT,
        env={**os.environ, **ONE_CORE},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def bench(rounds: int) -> dict:
    """Every figure there is: the fastest round of each way, as they take turns."""
    taken = [[measured(*run) for run in RUNS] for _ in range(rounds)]
    best = [min(rows, key=lambda row: row["all_s"]) for rows in zip(*taken, strict=True)]
    bounds = [np.array(row.pop("bounds")) for row in best]
    return {
        "models": N_MODELS,
        "metrics": N_METRICS,
        "turns": [n_dialogues * N_TURNS for n_dialogues in (FEW, MANY)],
        "resamples": N_RESAMPLES,
        "threads": 1,
        "runs": [
            {"way": way, "dialogues": n, **row} for (way, n), row in zip(RUNS, best, strict=True)
        ],
        "times_faster": round(best[1]["s_per_metric"] / best[0]["s_per_metric"], 1),
        "widest_bounds_apart": round(float(np.abs(bounds[0] - bounds[1]).max()), 3),
    }


def show(figures: dict) -> None:
    """The figures for people."""
    print(
        f"{N_MODELS} models, {N_MODELS * (N_MODELS - 1) // 2} pairs, dialogues of {N_TURNS} turns, "
        f"{N_RESAMPLES:,} resamples, one core\n"
    )
    names = (
        "metrics",
        "models_s",
        "pairs_s",
        "all_s",
        "cpu_s",
        "s_per_metric",
        "imports_mib",
        "peak_mib",
    )
    print(f"{'way':<22}{'dialogues':>10}" + "".join(f"{name:>14}" for name in names))
    for row in figures["runs"]:
        print(
            f"{row['way']:<22}{row['dialogues']:>10,}"
            + "".join(f"{row[name]:>14}" for name in names)
        )
    print(
        f"\n{figures['times_faster']} x as fast as scipy for a metric, tests of all pairs included; "
        f"their bounds are {figures['widest_bounds_apart']} points of 100 apart at most.\n"
    )


def main() -> None:
    """Everything; or one way in a process of its own, as the arguments say."""
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    figures = bench(parser.parse_args().rounds)
    show(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
