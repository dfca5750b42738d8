"""Rows of ratings and biases from comparisons."""

from methods.pairwise.comparing import FLOOR, JUDGED, ArenaComparison
from methods.pairwise.ratings import NO_BATTLES
from methods.pairwise.style import NO_VARIANCE
from methods.pairwise.summary import rating_rows

STYLE = (0.0, 0.0, 0.0, 0.0)


def pair(item, first, second, *, winner=None, status="judged", style=STYLE):
    """Both orders of a comparison that `winner` (a name, or None for a tie) won."""
    rows = []
    for a, b, sign in ((first, second, 1), (second, first, -1)):
        won = {a: "model_a", b: "model_b"}.get(winner, "tie")
        turned = tuple(sign * each for each in style)
        lost = "no_answer_a" if a == status else "no_answer_b"
        found = ("judged", won, turned) if status == "judged" else (lost,)
        rows.append(ArenaComparison(item, 1, item, a, b, *found))
    return rows


def summary(rows):
    ratings, biases = rating_rows(rows, seed=0, n_resamples=100, n_style_resamples=100)
    return (
        {(row["form"], row["model"]): row for row in ratings},
        {row["bias"]: row for row in biases},
    )


def test_a_model_that_fails_half_the_time_is_as_good_as_its_answers_and_ranks_by_all():
    rows = [each for n in range(10) for each in pair(f"i{n}", "x", "y", winner="xy"[n % 2])]
    rows += [each for n in range(10) for each in pair(f"j{n}", "x", "y", status="y")]
    ratings, _ = summary(rows)
    assert ratings[JUDGED, "x"]["rating"] == ratings[JUDGED, "y"]["rating"]
    assert ratings[FLOOR, "x"]["rank"] == 1 and ratings[FLOOR, "y"]["rank"] == 2
    assert (ratings[FLOOR, "x"]["n"], ratings[JUDGED, "x"]["n"]) == (40, 20)
    assert ratings[FLOOR, "x"]["win_share"] == 0.75
    assert ratings[FLOOR, "x"]["controlled_rating"] is None
    assert ratings[JUDGED, "x"]["controlled_rating"] is not None


def test_a_model_without_any_answer_has_a_rating_at_the_floor_alone():
    rows = [each for n in range(8) for each in pair(f"i{n}", "x", "y", winner="x")]
    rows += [each for n in range(8) for each in pair(f"i{n}", "x", "z", status="z")]
    ratings, biases = summary(rows)
    none = ratings[JUDGED, "z"]
    assert (none["rating"], none["reason"], none["n"]) == (None, NO_BATTLES, 0)
    assert ratings[FLOOR, "z"]["rating"] is not None
    # It is a part of its own, and keeps nobody else from a rating at equal style.
    assert ratings[JUDGED, "x"]["controlled_rating"] is not None
    assert biases["words"]["reason"] == NO_VARIANCE
