"""Raw agreement: how often two people who rated the same item gave it the same value.

    P = (1/N) sum_i [ sum_c n_ic (n_ic - 1) ] / [ n_i (n_i - 1) ]

n_ic of the n_i ratings of item i are c. With two raters it is the share of items on which they agree.
It is not corrected for chance. Source: the observed agreement of Fleiss (1971), formula 3, with n_i
instead of a fixed number of raters.
"""

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, counts_of, rated_twice


def raw_agreement(ratings: Ratings) -> Measured:
    """Share of agreeing pairs of ratings, the mean over items, in 0..1."""
    counts = counts_of(rated_twice(ratings))
    if not len(counts):
        return Measured(None, NOBODY_TWICE)
    n_ratings = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (n_ratings * (n_ratings - 1))
    return Measured(float(agreeing.mean()))
