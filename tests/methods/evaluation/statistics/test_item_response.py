"""The two-parameter model on the LSAT data, against figures that R's ltm and girth give for it.

The data (Bock and Lieberman 1970) are part of ltm, whose coefficients are published with it
(Rizopoulos 2006). girth 0.8.0, `twopl_mml`, was run on the same table.
"""

import numpy as np
import pytest

from methods.evaluation.statistics.item_response import LEAST_MODELS, item_response
from methods.evaluation.statistics.resampling import Floats

LSAT = (
    "00000 3 00001 6 00010 2 00011 11 00100 1 00101 1 00110 3 00111 4 01000 1 01001 8 "
    "01011 16 01101 3 01110 2 01111 15 10000 10 10001 29 10010 14 10011 81 10100 3 10101 28 "
    "10110 15 10111 80 11000 16 11001 56 11010 21 11011 173 11100 11 11101 61 11110 28 "
    "11111 298"
)
"""Response patterns, each with how many people have it."""
LTM = {
    "difficulty": (-3.3597341, -1.3696497, -0.2798983, -1.8659189, -3.1235725),
    "discrimination": (0.8253715, 0.7229499, 0.8904748, 0.6885502, 0.6574516),
}
GIRTH = {
    "difficulty": (-3.35871953, -1.37005363, -0.27972824, -1.86643194, -3.12586502),
    "discrimination": (0.82573096, 0.7228305, 0.89083534, 0.68840045, 0.65692646),
}


@pytest.fixture(scope="module")
def lsat() -> Floats:
    rows = [
        [int(digit) for digit in pattern]
        for pattern, n in zip(*[iter(LSAT.split())] * 2, strict=True)
        for _ in range(int(n))
    ]
    return np.array(rows, dtype=float)


@pytest.mark.parametrize("public", [LTM, GIRTH], ids=["ltm", "girth"])
def test_the_figures_are_those_of_public_implementations(
    lsat: Floats, public: dict[str, tuple[float, ...]]
) -> None:
    assert lsat.shape == (1000, 5)
    found = item_response(lsat, LEAST_MODELS)
    for name, figures in public.items():
        assert [getattr(of, name) for of in found] == pytest.approx(figures, abs=0.003)


def test_known_parameters_are_found_again_with_losses() -> None:
    draw = np.random.default_rng(7)
    slopes, places = np.array([0.7, 1.0, 1.5, 2.0, -0.8]), np.array([-1.0, 0.0, 0.5, 1.0, 0.0])
    ability = draw.normal(size=(4000, 1))
    right = (draw.random((4000, 5)) < 1 / (1 + np.exp(-slopes * (ability - places)))).astype(float)
    right[draw.random(right.shape) < 0.1] = np.nan
    found = item_response(right, LEAST_MODELS)
    assert [of.discrimination for of in found] == pytest.approx(slopes, abs=0.25)
    assert [of.difficulty for of in found] == pytest.approx(places, abs=0.2)


def test_too_few_models_get_the_reason_and_no_figures() -> None:
    found = item_response(np.eye(5), LEAST_MODELS)
    assert {(of.discrimination, of.difficulty) for of in found} == {(None, None)}
    assert found[0].why == (
        "5 models are too few for an estimate by item response theory, which takes 200: the "
        "classical figures stand."
    )


def test_what_has_no_estimate_says_why(lsat: Floats) -> None:
    everyone = np.ones((len(lsat), 1))
    ability = lsat.sum(axis=1, keepdims=True)
    found = item_response(np.hstack([lsat, everyone, ability > 3, ability > 3]), LEAST_MODELS)
    assert found[5].why == "Every model that is known is right, or every one is wrong."
    # Two items that are always answered alike: the likelihood grows with their slope.
    assert (
        found[6].why
        == found[7].why
        == ("The likelihood has no maximum: the item separates the models wholly.")
    )
    nothing = item_response(np.full((LEAST_MODELS, 2), np.nan), LEAST_MODELS)
    assert {of.discrimination for of in nothing} == {None}
