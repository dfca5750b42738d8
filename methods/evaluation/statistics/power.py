"""Power analysis: minimum detectable effect (MDE), the smallest true difference that a release shows.

    MDE = f(C) SE,    f(C) = q + t_{power, C - 1} + b,    2.84 SE for 110 clusters, 0.05 and 80 %

t_{p, n} is the p quantile of Student's t with n degrees of freedom, SE the CR2 standard error of the
mean paired difference over C clusters, q = t_{1 - alpha/2, C - 1}, and b what the Cornish-Fisher
expansion (intervals.py) adds to q, expected over normal differences, whose skewness k has the standard
deviation sqrt(6) / C:

    b = sqrt(3 / pi) / C (q^2 / 3 + 1 / 6)

SE falls with the root of C, so a difference d is shown by the smallest C with

    f(C) SE_1 / sqrt(C) <= d,    SE_1 = SE sqrt(C observed)

The observed SE is an estimate itself. The true variance lies between

    df SE^2 / chi2_{0.975, df}   and   df SE^2 / chi2_{0.025, df},    df = (C observed - 1) / 2

in about 95 of 100 cases, which gives an interval of the smallest C. Normal differences have twice these
degrees of freedom; differences of ratings, or of right and wrong answers, have an excess kurtosis of
about 2, which doubles the variance of SE^2. Of m comparisons that are adjusted together the first has
to reach alpha / m (Holm, Bonferroni).

Sources: Bloom (1995), Minimum Detectable Effects; Browne (1995), On the Use of a Pilot Sample for
Sample Size Determination; Miller (2024), Adding Error Bars to Evals.
"""

from bisect import bisect_left
from math import pi

from methods.evaluation.statistics.bootstrap import ClusterTotals
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS
from methods.evaluation.statistics.intervals import LEVEL, mean_fit

MOST_CLUSTERS = 10_000_000


def minimum_detectable_effects(totals: ClusterTotals) -> list[float | None]:
    """Compute the smallest difference that each row of differences shows with a power of 80 %.

    It is for one pair of models tested by itself, two-sided at 0.05.

    Args:
        totals: Totals of differences, rows x clusters.

    Returns:
        An effect for each row, in the units of the metric; None with fewer than two clusters.
    """
    errors, n_clusters = mean_fit(totals).errors.tolist(), totals.n_clusters.tolist()
    return [
        factor(n) * error if n >= 2 else None for error, n in zip(errors, n_clusters, strict=True)
    ]


def factor(n_clusters: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Compute the smallest difference that a paired t-test shows, in standard errors.

    Args:
        n_clusters: The number of clusters, at least two.
        power: The probability of showing the difference.
        alpha: The level of the test.

    Returns:
        The difference divided by its standard error.
    """
    from scipy.special import stdtrit

    quantile = float(stdtrit(n_clusters - 1, 1 - alpha / 2))
    below = (3 / pi) ** 0.5 / n_clusters * (quantile**2 / 3 + 1 / 6)
    return quantile + float(stdtrit(n_clusters - 1, power)) + below


def clusters_needed(
    standard_error: float,
    n_clusters: int,
    difference: float,
    *,
    alpha: float = 0.05,
) -> int | None:
    """Compute how many clusters are needed to show a true difference with a power of 80 %.

    Args:
        standard_error: The standard error of the mean difference over `n_clusters`.
        n_clusters: The number of clusters observed.
        difference: The true difference, above 0.
        alpha: The level of the two-sided test.

    Returns:
        At least `LEAST_CLUSTERS`, since fewer are only indicative. None if more than `MOST_CLUSTERS`
        would be needed.

    Raises:
        ValueError: The difference is not above 0.
    """
    if difference <= 0:
        raise ValueError("A difference to be shown is above 0.")
    error_of_one = standard_error * n_clusters**0.5

    def is_enough(number: int) -> bool:
        return factor(number, alpha=alpha) * error_of_one / number**0.5 <= difference

    numbers = range(LEAST_CLUSTERS, MOST_CLUSTERS + 1)
    place = bisect_left(numbers, True, key=is_enough)
    return numbers[place] if place < len(numbers) else None


def error_range(standard_error: float, n_clusters: int) -> tuple[float, float]:
    """Compute the 95 % interval of the true standard error, given the one of two or more clusters.

    Args:
        standard_error: The standard error over the observed clusters.
        n_clusters: The number of clusters observed.

    Returns:
        The lower and the upper end, for differences with an excess kurtosis of 2.
    """
    from scipy.special import chdtri

    freedom = (n_clusters - 1) / 2
    tail = (1 - LEVEL) / 2
    low, high = (
        standard_error * float(freedom / chdtri(freedom, share)) ** 0.5
        for share in (tail, 1 - tail)
    )
    return low, high
