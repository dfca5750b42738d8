"""Win rate: both orders of a pair, worked by hand."""

from methods.evaluation.metrics.win_rate import WinRate
from tests.methods.evaluation.metrics.numbers import number, scored, values

WINS = WinRate(name="S1", observation="win")


def test_the_score_is_the_share_of_wins_in_both_orders():
    both = [scored("a", 1, metric="win"), scored("a", 1, metric="win")]
    assert number(WINS, [*both, scored("b", 0, metric="win")]) == 50
    # A judge that prefers a place gives every turn one half.
    observed = [scored(item, win, metric="win") for item in "abcd" for win in (1, 0)]
    assert set(values(WINS, observed).values()) == {50}
    # What was not judged is no loss.
    observed = [scored("a", 1, metric="win"), scored("a", None, metric="win")]
    assert values(WINS, observed) == {("a", 1): 100}
