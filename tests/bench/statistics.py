"""How often intervals contain the truth, and how often tests find a difference.

Run by `make bench NAME=statistics`. Scores are simulated on a scale of 10 to 100, by shape and number
of clusters. Intervals: coverage, median width and mean interval score (Gneiting and Raftery, 2007: the
width, and 40 times the distance to a truth that is outside). Tests: the share of p below 0.05, for
models with equal means (the level) and with means that are 2.8 standard errors apart (the power). The
methods in use are compared with four standard ones. Prints tables, and as the last line all figures as
one JSON object.
"""

import json
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats

from methods.evaluation.statistics.bootstrap import ClusterTotals, resampled_sums
from methods.evaluation.statistics.intervals import mean_fit, p_values, score_estimates
from tests.bench.measuring import DATA, Row

N_CLUSTERS = (10, 30, 110)
N_INTERVALS, N_TESTS, N_RESAMPLES = 500, 3_000, 1_000
LOW, HIGH = 10.0, 100.0
SPAN = HIGH - LOW
APART = 2.8
OURS = "in use"
TEXTS = DATA / "alignmmbench_slice/metadata.jsonl"

Floats = np.ndarray
Generator = np.random.Generator
Scores = Callable[[Generator, tuple[int, ...]], Floats]
Draw = Callable[[Generator, int, int], ClusterTotals]


class Shape(NamedTuple):
    """How clusters of a model's scores are drawn: their sizes (rows x clusters), then their sums."""

    sizes: Callable[[Generator, tuple[int, int]], Floats]
    sums: Callable[[Generator, Floats], Floats]


def seeded(*names: object) -> Generator:
    """A generator of its own for each cell, so that methods and cells do not depend on each other."""
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


# --- Shapes --------------------------------------------------------------------------------------


def one_unit(draw: Scores) -> Shape:
    """A score a cluster."""
    return Shape(lambda g, n: np.ones(n), lambda g, sizes: draw(g, sizes.shape))


def summed(sizes: Floats, unit: Callable[[], Floats]) -> Floats:
    """The sum of as many units of each cluster as its size says."""
    return sum((np.where(place < sizes, unit(), 0.0) for place in range(int(sizes.max()))), 0.0)


def several_units(draw: Scores) -> Shape:
    """1 to 15 units a cluster, a fifth of them missing; most have their cluster's value."""

    def sums(g: Generator, sizes: Floats) -> Floats:
        shared = draw(g, sizes.shape)
        return summed(
            sizes, lambda: np.where(g.random(sizes.shape) < 0.7, shared, draw(g, sizes.shape))
        )

    return Shape(lambda g, n: 1.0 + g.binomial(g.integers(0, 15, n), 0.8), sums)


def uneven(g: Generator, sizes: Floats) -> Floats:
    """The longer a dialogue, the worse its scores."""
    mean = 85 - 1.5 * sizes + 8 * g.standard_normal(sizes.shape)
    return summed(sizes, lambda: (mean + 8 * g.standard_normal(sizes.shape)).clip(LOW, HIGH))


def ordinal(g: Generator, sizes: Floats) -> Floats:
    """Ratings from 1 to 10, most of them 9 or 10."""
    mean = 9.6 + 1.5 * g.standard_normal(sizes.shape)
    return summed(
        sizes, lambda: 10 * np.rint(mean + 1.2 * g.standard_normal(sizes.shape)).clip(1, 10)
    )


def text_scores() -> Floats:
    """Sums of two scores (precision and F1 of the characters of a question in its reference) of each
    seed of AlignMMBench's slice, and its number of questions: seeds x 3."""
    seeds: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for line in TEXTS.read_text().splitlines():
        row = json.loads(line)
        question, reference = Counter(row["prompt"]), Counter(row["ref_answer"])
        common = (question & reference).total()
        f1 = 2 * common / (question.total() + reference.total())
        seeds[row["question_id"].split("-")[0]].append((common / question.total(), f1, 1.0))
    return np.array([np.sum(rows, axis=0) for rows in seeds.values()])


def end(end: float, sign: float) -> Scores:
    return lambda g, n: np.where(
        g.random(n) < 0.7, end, end + sign * 5 * np.exp(g.standard_normal(n)).clip(0, 18)
    )


def failing(share: float) -> Scores:
    """A share of dialogues fails, the others differ a little."""
    return lambda g, n: np.where(g.random(n) < share, LOW, 80 + 3 * g.standard_normal(n))


DRAWS: dict[str, Scores] = {
    "near normal": lambda g, n: (60 + 8 * g.standard_normal(n)).clip(LOW, HIGH),
    "exponential": lambda g, n: (20 + 10 * g.exponential(size=n)).clip(LOW, HIGH),
    "log-normal": lambda g, n: (15 + 8 * np.exp(g.standard_normal(n))).clip(LOW, HIGH),
    "most at the floor": end(LOW, 1.0),
    "most at the ceiling": end(HIGH, -1.0),
    "right or wrong, 12 %": lambda g, n: np.where(g.random(n) < 0.12, LOW, HIGH),
    "12 % fail, others vary": failing(0.12),
    "5 % fail, others vary": failing(0.05),
    # Of groups of ratings from 1 to 10: 1 in 10 has another rating; times 20 for the scale.
    "deviation of steady models": lambda g, n: (
        10 + 20 * np.where(g.random(n) < 0.1, g.choice([0.373, 0.5, 0.75, 1.0], size=n), 0.0)
    ),
}
NEW = {
    "uneven, longer is worse": Shape(lambda g, n: g.integers(1, 28, n).astype(float), uneven),
    "zero-inflated": one_unit(
        lambda g, n: np.where(g.random(n) < 0.6, LOW, LOW + SPAN * g.beta(2, 2, n))
    ),
    "bimodal": one_unit(
        lambda g, n: (np.where(g.random(n) < 0.7, 85.0, 25.0) + 6 * g.standard_normal(n)).clip(
            LOW, HIGH
        )
    ),
    "ordinal with a ceiling": Shape(lambda g, n: g.integers(1, 7, n).astype(float), ordinal),
    "heavy tails": one_unit(lambda g, n: (70 + 5 * g.standard_t(2, n)).clip(LOW, HIGH)),
}


def shapes() -> dict[str, Draw]:
    """Totals of simulated models by shape, for a number of rows and of clusters."""
    found = {name: one_unit(draw) for name, draw in DRAWS.items()}
    found |= {f"{name}; 1-15 units": several_units(draw) for name, draw in DRAWS.items()}
    drawn = {name: from_shape(shape) for name, shape in (found | NEW).items()}
    if TEXTS.exists():
        of_seeds = text_scores()

        def texts(g: Generator, rows: int, clusters: int) -> ClusterTotals:
            _, f1, sizes = of_seeds[g.integers(0, len(of_seeds), (rows, clusters))].T.swapaxes(1, 2)
            return ClusterTotals(LOW * sizes + SPAN * f1, sizes)

        drawn["AlignMMBench's texts"] = texts
    return drawn


def from_shape(shape: Shape, less: Callable[..., Floats] = lambda *_: 0.0) -> Draw:
    """Totals of a shape, less those of another model on the same clusters, by generator and sizes."""

    def totals(g: Generator, rows: int, clusters: int) -> ClusterTotals:
        sizes = shape.sizes(g, (rows, clusters))
        return ClusterTotals(shape.sums(g, sizes) - less(g, sizes), sizes)

    return totals


def truth_of(draw: Draw, name: str) -> float:
    """The mean of all units of 4 million clusters."""
    totals = draw(seeded("truth", name), 4_000, 1_000)
    return float(totals.sums.sum() / totals.sizes.sum())


# --- Intervals -----------------------------------------------------------------------------------


def in_use(totals: ClusterTotals) -> Floats:
    ends = np.full(len(totals.sums), LOW), np.full(len(totals.sums), HIGH)
    return np.array([(each.ci_low, each.ci_high) for each in score_estimates(totals, *ends)]).T


def students(totals: ClusterTotals) -> Floats:
    """CR2, without pseudo-clusters."""
    fit = mean_fit(totals)
    reach = special.stdtrit(fit.freedom, 0.975) * fit.errors
    return np.array([fit.means - reach, fit.means + reach])


def scipys(totals: ClusterTotals, method: str) -> Floats:
    """The cluster bootstrap of scipy; where it has no interval, since all is equal, one of width 0."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")
        interval = stats.bootstrap(
            (totals.sums, totals.sizes),
            lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis),
            paired=True,
            axis=-1,
            vectorized=True,
            batch=50,
            method=method,
            n_resamples=N_RESAMPLES,
            rng=0,
        ).confidence_interval
    bounds = np.array([interval.low, interval.high])
    return np.where(np.isnan(bounds), totals.means, bounds)


def bootstrap_t(totals: ClusterTotals) -> Floats:
    """Studentized cluster bootstrap (Cameron, Gelbach and Miller, 2008)."""
    sums, sizes = totals.sums, totals.sizes
    s, n, ss, sn, nn = (
        resampled_sums(each, seed=0, n_resamples=N_RESAMPLES)
        for each in (sums, sizes, sums**2, sums * sizes, sizes**2)
    )
    means = s / n
    errors = np.sqrt(np.maximum(ss - 2 * means * sn + means**2 * nn, 0.0)) / n
    fit = mean_fit(totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num((means - fit.means[:, None]) / errors, nan=0.0, posinf=1e3, neginf=-1e3)
    low, high = np.percentile(t, [2.5, 97.5], axis=1)
    return np.array([fit.means - high * fit.errors, fit.means - low * fit.errors])


INTERVALS: dict[str, Callable[[ClusterTotals], Floats]] = {
    OURS: in_use,
    "Student's t": students,
    "percentiles": lambda totals: scipys(totals, "percentile"),
    "BCa": lambda totals: scipys(totals, "BCa"),
    "bootstrap-t": bootstrap_t,
}


def interval_rows(methods: dict[str, Callable[[ClusterTotals], Floats]]) -> list[Row]:
    """Coverage, median width and mean interval score by shape, clusters and method."""
    rows = []
    for name, draw in shapes().items():
        truth = truth_of(draw, name)
        for n_clusters in N_CLUSTERS:
            totals = draw(seeded("interval", name, n_clusters), N_INTERVALS, n_clusters)
            for method, bounds_of in methods.items():
                low, high = bounds_of(totals)
                outside = np.maximum(low - truth, 0.0) + np.maximum(truth - high, 0.0)
                rows.append(
                    {"shape": name, "clusters": n_clusters, "method": method}
                    | {"coverage": round(float((outside <= 1e-6).mean()), 3)}
                    | {"width": round(float(np.median(high - low)), 1)}
                    | {"score": round(float((high - low + 40 * outside).mean()), 1)}
                )
    return rows


# --- Tests ---------------------------------------------------------------------------------------


def direct(draw: Scores) -> Draw:
    """Draw of one unit a cluster."""
    return from_shape(one_unit(draw))


def alike(shape: Shape) -> Draw:
    """Two models of one shape on the same clusters."""
    return from_shape(shape, shape.sums)


def beside_steady(shape: Shape, truth: float) -> Draw:
    """A model of a shape, and one that has nearly its mean everywhere."""

    def totals(g: Generator, rows: int, clusters: int) -> ClusterTotals:
        sizes = shape.sizes(g, (rows, clusters))
        steady = truth * sizes + 3 * np.sqrt(sizes) * g.standard_normal(sizes.shape)
        return ClusterTotals(shape.sums(g, sizes) - steady, sizes)

    return totals


def moved(draw: Draw, name: str) -> Draw:
    """The same with a true difference of 2.8 standard errors."""
    fit = mean_fit(draw(seeded("error", name), 1, 200_000))
    error_of_one = float(fit.errors[0]) * 200_000**0.5

    def totals(g: Generator, rows: int, clusters: int) -> ClusterTotals:
        drawn = draw(g, rows, clusters)
        return ClusterTotals(
            drawn.sums + drawn.sizes * APART * error_of_one / clusters**0.5, drawn.sizes
        )

    return totals


def one_fails(share: float, deviation: float = 0.0) -> Draw:
    """One model fails in a share of dialogues, the other has its mean everywhere."""
    return direct(
        lambda g, n: SPAN * (share - (g.random(n) < share)) + deviation * g.normal(size=n)
    )


def rare(share: float, sizes: list[float]) -> Draw:
    """Two models that differ in a share of dialogues, either way."""
    return direct(lambda g, n: (g.random(n) < share) * g.choice([-1, 1], n) * g.choice(sizes, n))


def equal_models() -> dict[str, Draw]:
    """Pairs of models with equal means."""
    found = {
        "near normal": direct(lambda g, n: 8 * g.standard_normal(n)),
        "exponential": direct(lambda g, n: 10 * (g.exponential(size=n) - 1)),
        "log-normal": direct(
            lambda g, n: (8 * (np.exp(g.standard_normal(n)) - np.exp(0.5))).clip(-SPAN, SPAN)
        ),
        "right or wrong, both 12 %": direct(
            lambda g, n: SPAN * ((g.random(n) < 0.12) * 1.0 - (g.random(n) < 0.12))
        ),
        "right or wrong, 10 % differ": rare(0.1, [SPAN]),
        "ratings, 30 % differ": rare(0.3, [10.0, 20.0, 30.0]),
        "one fails in 12 %": one_fails(0.12),
        "one fails in 12 %, both vary": one_fails(0.12, 3),
        "one fails in 5 %, both vary": one_fails(0.05, 3),
    }
    found |= {f"{name}, alike": alike(shape) for name, shape in NEW.items()}
    found |= {
        f"{name}, other steady": beside_steady(shape, truth_of(from_shape(shape), name))
        for name, shape in NEW.items()
    }
    if TEXTS.exists():
        precision, f1, sizes = text_scores().T
        off = (precision - f1).sum() / sizes.sum()

        def texts(g: Generator, rows: int, clusters: int) -> ClusterTotals:
            seeds = g.integers(0, len(sizes), (rows, clusters))
            return ClusterTotals((SPAN * (precision - f1 - off * sizes))[seeds], sizes[seeds])

        found["AlignMMBench's texts"] = texts
    return found


def signed_flips(totals: ClusterTotals) -> Floats:
    """Sign flips of clusters' sums (Fisher; 999 draws)."""
    flips = seeded("flips").choice([-1.0, 1.0], (totals.sums.shape[1], 999))
    observed = np.abs(totals.sums.sum(axis=1))[:, None]
    return (1 + (np.abs(totals.sums @ flips) >= observed - 1e-9).sum(axis=1)) / 1_000


def normal_test(totals: ClusterTotals) -> Floats:
    """The normal distribution with the clustered standard error (Miller, 2024)."""
    residuals = totals.sums - totals.sizes * totals.means[:, None]
    errors = np.sqrt((residuals**2).sum(axis=1)) / totals.sizes.sum(axis=1)
    return 2 * special.ndtr(-np.abs(totals.means) / np.maximum(errors, 1e-12))


def t_test(totals: ClusterTotals) -> Floats:
    """Paired t with CR2, without the correction for skewness."""
    fit = mean_fit(totals)
    return 2 * special.stdtr(fit.freedom, -np.abs(fit.means) / np.maximum(fit.errors, 1e-12))


def percentile_test(totals: ClusterTotals) -> Floats:
    """0.01 where the interval of bootstrap percentiles excludes 0, and else 1."""
    sums = resampled_sums(totals.sums, seed=0, n_resamples=N_RESAMPLES)
    low, high = np.percentile(sums, [2.5, 97.5], axis=1)
    return np.where((low <= 0) & (high >= 0), 1.0, 0.01)


TESTS: dict[str, Callable[[ClusterTotals], Floats]] = {
    OURS: lambda totals: p_values(totals, np.full(len(totals.sums), SPAN)),
    "t, CR2": t_test,
    "normal": normal_test,
    "percentiles": percentile_test,
    "sign flips": signed_flips,
}


def test_rows(methods: dict[str, Callable[[ClusterTotals], Floats]]) -> list[Row]:
    """The share of p below 0.05 by differences, truth, clusters and method."""
    equal = equal_models()
    pairs = [(name, "equal", draw) for name, draw in equal.items()]
    pairs += [
        (name, "apart", moved(draw, name))
        for name, draw in equal.items()
        if not name.startswith("one fails") and not name.endswith("other steady")
    ]
    rows = []
    for name, truth, draw in pairs:
        for n_clusters in N_CLUSTERS:
            totals = draw(seeded("test", name, truth, n_clusters), N_TESTS, n_clusters)
            for method, p_of in methods.items():
                share = round(float((p_of(totals) < 0.05).mean()), 3)
                rows.append(
                    {"models": truth, "differences": name, "clusters": n_clusters}
                    | {"method": method, "below": share}
                )
    return rows


def main() -> None:
    intervals, tests = interval_rows(INTERVALS), test_rows(TESTS)

    def show(title: str, rows: list[Row], names: list[str], figure: str, how: str) -> None:
        table = pd.DataFrame(rows).pivot_table(figure, names, "method", how, sort=False)
        print(f"\n{title}\n\n{table.round(3).to_string()}")

    by_shape, by_models = ["shape", "clusters"], ["models", "differences", "clusters"]
    show(f"Coverage, {N_INTERVALS} simulations a cell", intervals, by_shape, "coverage", "mean")
    show("Median width", intervals, by_shape, "width", "mean")
    show("Least coverage of all shapes", intervals, ["clusters"], "coverage", "min")
    show("Mean interval score of all shapes", intervals, ["clusters"], "score", "mean")
    show(f"Share of p below 0.05, {N_TESTS:,} pairs a cell", tests, by_models, "below", "mean")
    show("The highest share of all differences", tests, ["models", "clusters"], "below", "max")
    show("The mean share of all differences", tests, ["models", "clusters"], "below", "mean")
    print(json.dumps({"intervals": intervals, "tests": tests}))


if __name__ == "__main__":
    main()
