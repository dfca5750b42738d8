"""How often intervals hold, and what they and comparisons of a leaderboard cost.

Run by `make bench NAME=statistics`. Cost: 15 models, 7 metrics, 110 dialogues of 15 turns (MMDU's)
and then 3,000, 2 of 100 values missing, against scipy's bootstrap of the same sums with 10,000
resamples, a call for every model and every pair of one metric; it tests nothing. Each figure is of
a process of its own on one core. Coverage: on the grid of shapes x clusters x sizes (a unit a cluster;
1 to 15 units a cluster, a fifth of them missing) the share of intervals that hold the mean, by
percentiles of 1,000 resamples, by Student's t and by the method in use. Differences: how often those of
two models whose true difference is 0, and of others, have p below 0.05, by sign flips and by the method
in use. Prints tables, and as the last line all figures as one JSON object.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from resources.files.home import REPO_ROOT
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
    from methods.evaluation.statistics.intervals import score_estimates
    from methods.evaluation.statistics.resampling import cluster_totals

    low, high = np.full(N_MODELS, 10.0), np.full(N_MODELS, 100.0)

    scores, clusters = release(n_dialogues)
    started = time.perf_counter()
    means = [score_estimates(cluster_totals(each, clusters), low, high) for each in scores]
    between = time.perf_counter()
    pairs = [compare_pairs(each, clusters, "micro", 90.0) for each in scores]
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


# --- Coverage ------------------------------------------------------------------------------------

N_CLUSTERS, N_SIMULATIONS, N_DRAWN = (5, 10, 30, 110), 500, 1_000
SIZES = ("1", "1-15, 20 % missing")
OF_OURS, FLIPS = "unseen cluster", "sign flips"
INTERVALS = ("percentiles", "Student's t", OF_OURS)
Drawn = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def _rare(share: float) -> Drawn:
    """A share of dialogues fails, the others differ a little."""
    return lambda g, n: np.where(g.random(n) < share, 10.0, 80 + 3 * g.standard_normal(n))


def _end(end: float, sign: float) -> Drawn:
    return lambda g, n: np.where(
        g.random(n) < 0.7, end, end + sign * 5 * np.exp(g.standard_normal(n)).clip(0, 18)
    )


SHAPES: dict[str, Drawn] = {
    "near normal": lambda g, n: (60 + 8 * g.standard_normal(n)).clip(10, 100),
    "exponential": lambda g, n: (20 + 10 * g.exponential(size=n)).clip(10, 100),
    "log-normal": lambda g, n: (15 + 8 * np.exp(g.standard_normal(n))).clip(10, 100),
    "most at the floor": _end(10.0, 1.0),
    "most at the ceiling": _end(100.0, -1.0),
    "right or wrong, 12 %": lambda g, n: np.where(g.random(n) < 0.12, 10.0, 100.0),
    "12 % fail, others vary": _rare(0.12),
    "5 % fail, others vary": _rare(0.05),
    # Of groups of ratings from 1 to 10: 1 in 10 has another rating; times 20 for the scale.
    "deviation of steady models": lambda g, n: (
        10 + 20 * np.where(g.random(n) < 0.1, g.choice([0.373, 0.5, 0.75, 1.0], size=n), 0.0)
    ),
}


def simulated(shape: Drawn, n_clusters: int, sizes: str, generator: np.random.Generator):
    """Totals of simulated models, a row each. Most units have their cluster's value."""
    from methods.evaluation.statistics.resampling import ClusterTotals

    of_cluster = shape(generator, (N_SIMULATIONS, n_clusters))
    if sizes == SIZES[0]:
        return ClusterTotals(of_cluster, np.ones_like(of_cluster))
    units = (N_SIMULATIONS, n_clusters, 15)
    values = np.where(generator.random(units) < 0.7, of_cluster[..., None], shape(generator, units))
    there = np.arange(15) < generator.integers(1, 16, units[:2])[..., None]
    there &= generator.random(units) >= 0.2
    # A cluster keeps one of its units, so that the number of clusters is what it says.
    there[..., 0] = True
    return ClusterTotals((values * there).sum(axis=2), there.sum(axis=2).astype(float))


def coverage() -> list[dict]:
    """Of each cell of the grid how often the intervals hold, and their widths."""
    from scipy.special import stdtrit

    from methods.evaluation.statistics.intervals import score_estimates
    from methods.evaluation.statistics.power import standard_errors
    from methods.evaluation.statistics.resampling import resampled_sums

    generator = np.random.default_rng(0)
    ends = np.full(N_SIMULATIONS, 10.0), np.full(N_SIMULATIONS, 100.0)
    cells = []
    for name, shape in SHAPES.items():
        truth = float(shape(generator, (4_000_000,)).mean())
        for n_clusters in N_CLUSTERS:
            for sizes in SIZES:
                totals = simulated(shape, n_clusters, sizes, generator)
                drawn = [
                    resampled_sums(each, seed=0, n_resamples=N_DRAWN)
                    for each in (totals.sums, totals.sizes)
                ]
                percentiles = np.percentile(drawn[0] / drawn[1], [2.5, 97.5], axis=1)
                reach = stdtrit(n_clusters - 1, 0.975) * standard_errors(totals)
                students = np.array([totals.means - reach, totals.means + reach])
                found = score_estimates(totals, *ends)
                after = np.array([(each.ci_low, each.ci_high) for each in found]).T
                cell = {"shape": name, "clusters": n_clusters, "sizes": sizes}
                for way, (low, high) in zip(INTERVALS, (percentiles, students, after), strict=True):
                    held = (low <= truth + 1e-6) & (truth - 1e-6 <= high)
                    cell[way] = round(float(held.mean()), 3)
                    cell[f"{way} width"] = round(float(np.median(high - low)), 2)
                cells.append(cell)
    return cells


def show_coverage(cells: list[dict]) -> None:
    """The grid for people."""
    print(f"Share of 95 % intervals that hold the truth, {N_SIMULATIONS:,} simulations a cell\n")
    names = [name for way in INTERVALS for name in (way, f"{way} width")]
    print(
        f"{'shape':<28}{'clusters':>9}  {'units a cluster':<20}"
        + "".join(f"{name:>20}" for name in names)
    )
    for cell in cells:
        print(
            f"{cell['shape']:<28}{cell['clusters']:>9}  {cell['sizes']:<20}"
            + "".join(f"{cell[name]:>20}" for name in names)
        )
    least = min(cell[OF_OURS] for cell in cells if cell["clusters"] >= 10)
    print(f"\nFrom 10 clusters on {least} at least.\n")


# --- Differences ---------------------------------------------------------------------------------

N_APART, N_COMPARED, N_FLIPS = 3_000, (10, 15, 30, 110), 999


def _unlike(share: float, deviation: float = 0.0) -> Drawn:
    """One model fails in a share of dialogues, the other has its mean everywhere."""
    return lambda g, n: 90 * (share - (g.random(n) < share)) + deviation * g.standard_normal(n)


EQUAL: dict[str, Drawn] = {
    "near normal": lambda g, n: 8 * g.standard_normal(n),
    "exponential": lambda g, n: 10 * (g.exponential(size=n) - 1),
    "log-normal": lambda g, n: (8 * (np.exp(g.standard_normal(n)) - np.exp(0.5))).clip(-90, 90),
    "right or wrong, both 12 %": lambda g, n: (
        90.0 * ((g.random(n) < 0.12).astype(int) - (g.random(n) < 0.12))
    ),
    "one fails in 12 %": _unlike(0.12),
    "one fails in 12 %, both vary": _unlike(0.12, 3),
    "one fails in 5 %, both vary": _unlike(0.05, 3),
}
APART: dict[str, Drawn] = {
    "near normal, 2.8 errors apart": lambda g, n: 8 * (g.standard_normal(n) + 2.8 / np.sqrt(n[-1])),
    "right or wrong, 42 % and 12 %": lambda g, n: (
        90.0 * ((g.random(n) < 0.42).astype(int) - (g.random(n) < 0.12))
    ),
}


def differences() -> list[dict]:
    """How often two models are said to differ, by both tests."""
    from methods.evaluation.statistics.intervals import p_values
    from methods.evaluation.statistics.resampling import ClusterTotals

    generator = np.random.default_rng(0)
    cells = []
    for name, shape in (EQUAL | APART).items():
        for n_clusters in N_COMPARED:
            of_cluster = shape(generator, (N_APART, n_clusters))
            flips = generator.choice([-1.0, 1.0], (n_clusters, N_FLIPS))
            as_far = np.abs(of_cluster @ flips) >= np.abs(of_cluster.sum(axis=1))[:, None] - 1e-9
            p_flips = (1 + as_far.sum(axis=1)) / (1 + N_FLIPS)
            totals = ClusterTotals(of_cluster, np.ones_like(of_cluster))
            p_ours = p_values(totals, np.full(N_APART, 90.0))
            cell = {"differences": name, "clusters": n_clusters, "equal": name in EQUAL}
            for way, p in ((FLIPS, p_flips), (OF_OURS, p_ours)):
                cell[way] = round(float((p < 0.05).mean()), 3)
            cells.append(cell)
    return cells


def show_differences(cells: list[dict]) -> None:
    """Both tests for people."""
    print(f"Share of p below 0.05, {N_APART:,} pairs of models a cell\n")
    print(f"{'differences':<34}{'truth':<8}{'clusters':>9}{FLIPS:>18}{OF_OURS:>18}")
    for cell in cells:
        truth = "equal" if cell["equal"] else "apart"
        print(
            f"{cell['differences']:<34}{truth:<8}{cell['clusters']:>9}"
            f"{cell[FLIPS]:>18}{cell[OF_OURS]:>18}"
        )
    print()


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
        f"its percentiles are {figures['widest_bounds_apart']} points of 100 apart from ours at most.\n"
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
    figures["coverage"] = coverage()
    show_coverage(figures["coverage"])
    figures["differences"] = differences()
    show_differences(figures["differences"])
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
