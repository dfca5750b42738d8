"""Report sections on the answers: refusals, answer lengths and letter bias in multiple choice."""

from collections.abc import Iterator, Mapping, Sequence

from methods.choice.alphabet import NO_CHOICE
from methods.choice.letter_shares import NOTHING_READ, LetterShares
from methods.choice.passes import PassCounts
from methods.evaluation.answer_lengths import REFERENCES
from methods.naming import decimal_text, number_of
from methods.results.results_table import COUNTS_BELOW, JUDGED
from resources.reports import report_blocks as block
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_input import MultipleChoiceInput, Row
from resources.reports.report_pairs import in_words
from resources.reports.report_scores import CandidateLabel, ScoresByJudge

BOX = """<div class="track"><i class="ci" style="left:{low}%;width:{line}%"></i><i class="box"
style="left:{first_quartile}%;width:{half}%"></i><i class="middle" style="left:{median}%"></i></div>"""
BAR = '<span class="plot"><i style="height:{height}%"></i>{across}</span>{percent}'


def refusals(judged: ScoresByJudge, models: Sequence[CandidateLabel]) -> list[block.Block]:
    """Make the section on refusals and the upper bound; empty if the benchmark has no bound.

    Args:
        judged: The scores of a judge.
        models: The models.
    """
    leading = judged.shown_metrics[0]
    bounds = (metric for metric in judged.shown_metrics if metric.refusals_are_right)
    bound = next((metric for metric in bounds if metric.aggregation == leading.aggregation), None)
    if bound is None:
        return []
    lines, n_refusing = [], 0
    candidates = [who for who in models if not who.is_baseline]
    for who in candidates:
        counts = judged.row(who.name, leading.key)
        if counts is None:
            continue
        n_refused, n_asked = counts["n_refused"], counts["n_turns"]
        n_refusing += bool(n_refused)
        share = f"{100 * n_refused / n_asked:.1f} % of {number_of(n_asked, 'answer')}"
        floor, best = judged.estimate(who.name, leading), judged.estimate(who.name, bound)
        gain = None
        if floor.value is not None and best.value is not None:
            gain = best.value - floor.value
        lines.append(
            [
                block.who(who),
                Cell(str(n_refused), [share], "n lossy" if n_refused else "n"),
                *map(block.tinted, (floor, judged.estimate(who.name, leading, JUDGED), best)),
                Cell(leading.scale.difference(gain)),
            ]
        )
    heads = ("Refused", "At the floor", "Judged only", bound.name, "Bound less floor")
    return block.folded(
        [
            block.Heading("Refusals"),
            block.note("refusals", metric=leading, bound=bound),
            block.Table("Refusals", block.heads("Model", *heads), lines, "refusals"),
        ],
        f"{n_refusing or 'None'} of {number_of(len(candidates), 'model')} declined answers",
    )


def lengths(answer_lengths: Sequence[Row], order: Sequence[str]) -> block.Section:
    """Make box plots of answer lengths in words: references first, then models; empty without answers.

    Args:
        answer_lengths: The rows of lengths.
        order: The order of models.
    """
    rows = {row["model"]: row for row in answer_lengths}
    blocks: list[block.Block] = []
    if len(rows) > 1:
        names = [REFERENCES, *_ordered([name for name in rows if name != REFERENCES], order)]
        end = max(row["high"] for row in rows.values())
        axis = markup("<span>0</span><span>{end:.0f} words</span>", end=end)
        heads = block.heads("Model", "n", "Median", "Middle half", "Nine of ten", "Ratio")
        table = block.Table(
            "Lengths of answers",
            [*heads, Cell(axis, kind="plot")],
            [_length(rows[name], end) for name in names],
            "lengths",
            {0: "is-apart"},
        )
        blocks = [block.note("lengths"), table]
    title = "Lengths of answers"
    return block.Section("lengths", title, title, blocks, finding=_ratios(list(rows.values())))


def _ratios(rows: Sequence[Row]) -> str:
    """Summarize in one line how long the models' answers are compared with the references."""
    ratios = sorted(row["ratio"] for row in rows if row["ratio"] is not None)
    if not ratios:
        return "Words of the answers and of the references"
    ends = " to ".join(dict.fromkeys(f"× {ratio:.2f}" for ratio in (ratios[0], ratios[-1])))
    return f"Answers have {ends} the words of the references, in the median"


def _length(row: Row, end: float) -> list[Cell]:
    names = ("low", "first_quartile", "median", "third_quartile", "high")
    at = {name: round(100 * float(row[name]) / end, 2) for name in names}
    half = round(at["third_quartile"] - at["first_quartile"], 2)
    return [
        block.model("References" if row["model"] == REFERENCES else row["model"]),
        Cell(str(row["n"]), kind="n quiet"),
        Cell(f"{row['median']:.0f}"),
        Cell(f"{row['first_quartile']:.0f}–{row['third_quartile']:.0f}"),
        Cell(f"{row['low']:.0f}–{row['high']:.0f}"),
        Cell("–" if row["ratio"] is None else f"× {row['ratio']:.2f}"),
        Cell(markup(BOX, line=round(at["high"] - at["low"], 2), half=half, **at), kind="plot"),
    ]


def letters(data: MultipleChoiceInput | None, order: Sequence[str]) -> block.Section:
    """Make the section on the letters that each model chose, and on skipped circular passes.

    Args:
        data: The data; None without multiple choice.
        order: The order of models.
    """
    blocks = list(_letters(data, order)) if data else []
    finding = _liked(list(data["shares"].values())) if data else ""
    return block.Section("letters", "Letters", "Letters", blocks, finding=finding)


def _liked(shares: Sequence[LetterShares]) -> str:
    """Count the models that choose a letter significantly more often than it is correct."""
    tested = [share.p_holm for share in shares if share.p_holm is not None]
    if not tested:
        return f"The letters that {number_of(len(shares), 'model')} named"
    n = sum(p < COUNTS_BELOW for p in tested)
    verb = "prefer" if n > 1 else "prefers"
    return f"{n or 'None'} of {number_of(len(tested), 'model')} surely {verb} some letters"


def _letters(data: MultipleChoiceInput, order: Sequence[str]) -> Iterator[block.Block]:
    shares, n_keys, n_held_out = data["shares"], sum(data["keys"].values()), data["n_held_out"]
    names = _ordered(list(shares), order)
    columns = [*data["letters"], NO_CHOICE, NOTHING_READ]
    right = {letter: data["keys"].get(letter, 0) / n_keys for letter in data["letters"] if n_keys}
    every = data["circular_shares"]
    named = [
        _shares(letter_shares.counts, columns)
        for letter_shares in (*shares.values(), *every.values())
    ]
    highest = max(share for row in (right, *named) for share in row.values())

    def bars(counts: Mapping[str, int], across: Mapping[str, float]) -> list[Cell]:
        n = sum(counts.values())
        return [
            _bar(share / highest, share, across.get(letter, None), counts.get(letter, 0), n)
            for letter, share in _shares(counts, columns).items()
        ]

    truth = {letter: share / highest for letter, share in right.items()}

    def line(name: str, shown: LetterShares, across: Mapping[str, float]) -> list[Cell]:
        n = Cell(str(sum(shown.counts.values())))
        return [
            block.model(name),
            *bars(shown.counts, across),
            n,
            *([_distance(shown)] if n_keys else []),
        ]

    lines = [line(name, shares[name], truth) for name in names]
    heads = block.heads("Model", *columns, "Questions")
    yield block.note("letters", "lead", has_keys=bool(n_keys))
    if n_held_out or not n_keys:
        yield block.note("keys_held_out", n=n_held_out, n_keys=n_keys)
    if n_keys:
        title = "Total variation: 0, alike; 1, no letter in common"
        heads.append(Cell("Distance", title=title))
        of_truth = [*bars(data["keys"], {}), Cell(str(n_keys)), Cell("", kind="")]
        lines.insert(0, [Cell("right choices", kind="who"), *of_truth])
    yield block.Table("Letters", heads, lines, "letters", {0: "truth"} if n_keys else {})
    if n_keys:
        yield block.note("distance")
    if every:
        yield block.Heading("All passes", id="circular-letters")
        yield block.note("circular_letters")
        of_passes = [line(name, every[name], {}) for name in _ordered(list(every), order)]
        yield block.Table("Letters of all passes", heads, of_passes, "letters")
    if passes := data["passes"]:
        in_all = PassCounts(*map(sum, zip(*passes.values(), strict=True)))
        saved = [_saved(name, passes[name]) for name in names if name in passes]
        pass_heads = block.heads("Model", "All passes", "Asked", "Saved", "Still to be asked")
        yield block.Heading("Calls saved", id="passes")
        yield block.note("saved_calls", has_keys=bool(n_keys))
        all_of_them = [*saved, _saved("all", in_all)]
        yield block.Table("Calls saved", pass_heads, all_of_them, "passes", {len(saved): "truth"})


def _ordered(names: Sequence[str], order: Sequence[str]) -> list[str]:
    """Sort names: the names in `order` first, then the others."""
    return [*(n for n in order if n in names), *(n for n in names if n not in order)]


def _shares(counts: Mapping[str, int], columns: Sequence[str]) -> dict[str, float]:
    n = sum(counts.values())
    return {column: counts.get(column, 0) / n for column in columns}


def _bar(height: float, share: float, truth: float | None, count: int, n: int) -> Cell:
    """Make a bar with a line across it at `truth`; heights are shares of the plot, 0 to 1."""
    across = markup('<b style="bottom:{at}%"></b>', at=_percent(truth)) if truth is not None else ""
    bar = markup(BAR, height=_percent(height), across=across, percent=f"{100 * share:.1f}")
    return Cell(bar, kind="n column", title=f"{count} of {n}")


def _percent(share: float) -> float:
    return round(100 * share, 1)


def _distance(shares: LetterShares) -> Cell:
    value, low, high = shares.distance.value, shares.distance.ci_low, shares.distance.ci_high
    small = [] if low is None or high is None else [f"{low:.3f}–{high:.3f}"]
    if shares.p_holm is not None:
        small.append(in_words(shares.p_holm))
    return Cell(
        "–" if value is None else decimal_text(value, 3),
        small,
        "n worse" if shares.p_holm is not None and shares.p_holm < COUNTS_BELOW else "n",
        f"On {number_of(shares.compared, 'question')}" if shares.compared else "",
    )


def _saved(name: str, counts: PassCounts) -> list[Cell]:
    """Make the line of a model: its circular passes, and the share of them that was not needed."""
    share = counts.n_saved / counts.n_all if counts.n_all else 0.0
    return [
        block.model(name),
        Cell(str(counts.n_all)),
        Cell(str(counts.n_asked)),
        Cell(str(counts.n_saved), [f"{100 * share:.1f} %"], "n tint", shade=round(share, 3)),
        Cell(str(counts.n_open), kind="n lossy" if counts.n_open else "n"),
    ]
