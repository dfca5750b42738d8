"""Sixty battles of six models, and what public code makes of them."""

from methods.pairwise.battles import FIRST, SECOND, TIE, Battle

NAMES = {"a": "ant", "b": "bee", "c": "cat", "d": "dog", "e": "elk", "f": "fox"}
OUTCOMES = {"a": FIRST, "b": SECOND, "t": TIE, "x": TIE}
_CODED = (
    "cba eaa ebt dft aea aba aea baa dbb ebt ebb aet bda cda cbb bab cdb aea bdb aea "
    "cfa edt aca acb dcb cab eab cbb dax dea dea cda bfa dex cat ecb bea fab feb ada "
    "aba eat ebb eat bea cea dfa bab dba ect eab fab cba efa bfa bfa afa bea fcb baa"
)
"""First model, second model, winner; `x` is a tie of two bad answers."""
ARENA = [
    Battle(NAMES[first], NAMES[second], OUTCOMES[winner], f"q{number % 20}")
    for number, (first, second, winner) in enumerate(_CODED.split())
]

RATINGS = [1201.8793, 1131.9769, 1165.1918, 1045.0354, 922.2490, 533.6677]
"""arena-rank 0.1.1: `BradleyTerry(6).compute_ratings_and_cis(PairDataset.from_pandas(battles))`, with
`tie (bothbad)` called `both_bad`. evalica 0.4.2 has the same, within 0.001, as 1000 + 400 / ln 10 x the
centred logarithm of `bradley_terry(..., tie_weight=0.5, tolerance=1e-12, limit=100_000).scores`."""
