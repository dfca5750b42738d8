"""Letters and passes of a report of multiple choice (MMBench, Figure 4 and 4.3).

What belongs here: the share of each letter that a model named beside the share that is right, how far
the two are apart, and the calls that an early stop saved. The numbers are
`methods/choice/letter_shares.py` and `passes.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from methods.choice.letter_shares import NOTHING_READ, LetterShares
from methods.choice.lettered import NO_CHOICE
from methods.choice.passes import PassCounts
from resources.reports.report_pairs import ALPHA, in_words


class Share(NamedTuple):
    """One bar: percent, its count, its height and that of the truth in percent of the plot."""

    percent: str
    n: int
    height: float
    truth: float | None


class LetterLine(NamedTuple):
    """One model, or the truth: a bar for each letter, then those for no choice and for nothing read."""

    name: str
    n: int
    bars: list[Share]
    distance: str
    interval: str
    p: str
    n_compared: int
    is_uneven: bool


class PassLine(NamedTuple):
    """One model: its passes, and the share of all that was saved."""

    name: str
    counts: PassCounts
    saved: str
    shade: float


class Letters(NamedTuple):
    """Letters and passes of all models, the passes of all together last; `truth` is None where every
    key is held out."""

    letters: list[str]
    truth: LetterLine | None
    lines: list[LetterLine]
    n_items: int
    n_held_out: int
    passes: list[PassLine]


def letters_of(data: Mapping[str, Any] | None, order: Sequence[str]) -> Letters | None:
    """The letters of the models, those of `order` first; `data` is `choice` of `render_report`."""
    if data is None:
        return None
    shares: Mapping[str, LetterShares] = data["shares"]
    names = [*(name for name in order if name in shares), *(n for n in shares if n not in order)]
    letters = list(data["letters"])
    n_keys = sum(data["keys"].values())
    right = {letter: data["keys"].get(letter, 0) / n_keys for letter in letters} if n_keys else {}
    columns = [*letters, NO_CHOICE, NOTHING_READ]
    highest = max(
        [
            *right.values(),
            *(
                of.counts.get(c, 0) / sum(of.counts.values())
                for of in shares.values()
                for c in columns
            ),
        ]
    )
    truth = None
    if n_keys:
        bars = _bars(data["keys"], n_keys, columns, {}, highest)
        truth = LetterLine("right choices", n_keys, bars, "", "", "", n_keys, False)
    return Letters(
        columns,
        truth,
        [_line(name, shares[name], columns, right, highest) for name in names],
        n_keys + data["n_held_out"],
        data["n_held_out"],
        _pass_lines(data["passes"], names),
    )


def _line(
    name: str, of: LetterShares, columns: Sequence[str], right: Mapping[str, float], highest: float
) -> LetterLine:
    n = sum(of.counts.values())
    value, low, high = of.distance.value, of.distance.ci_low, of.distance.ci_high
    return LetterLine(
        name,
        n,
        _bars(of.counts, n, columns, right, highest),
        "–" if value is None else f"{value:.3f}",
        "" if low is None or high is None else f"{low:.3f}–{high:.3f}",
        "" if of.p_holm is None else in_words(of.p_holm),
        of.compared,
        of.p_holm is not None and of.p_holm < ALPHA,
    )


def _bars(
    counts: Mapping[str, int],
    n: int,
    columns: Sequence[str],
    right: Mapping[str, float],
    highest: float,
) -> list[Share]:
    bars = []
    for column in columns:
        share = counts.get(column, 0) / n
        truth = round(100 * right[column] / highest, 1) if column in right else None
        bars.append(
            Share(
                f"{100 * share:.1f}", counts.get(column, 0), round(100 * share / highest, 1), truth
            )
        )
    return bars


def _pass_lines(passes: Mapping[str, PassCounts], names: Sequence[str]) -> list[PassLine]:
    if not passes:
        return []
    in_all = PassCounts(*map(sum, zip(*passes.values(), strict=True)))
    return [*(_pass_line(n, passes[n]) for n in names if n in passes), _pass_line("all", in_all)]


def _pass_line(name: str, of: PassCounts) -> PassLine:
    share = of.n_saved / of.n_all if of.n_all else 0.0
    return PassLine(name, of, f"{100 * share:.1f} %", round(share, 3))
