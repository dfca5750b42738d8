"""The report section on answer extraction: how multiple-choice letters were read from replies.

A reader is a set of rules, an extractor model or people.
"""

from collections.abc import Iterator, Mapping, Sequence

from methods.evaluation.candidates import is_model
from resources.reports import report_blocks as block
from resources.reports.estimate import ReportEstimate, Scale, over
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_input import Report, Row
from resources.reports.report_scores import estimate_of

Figures = Mapping[tuple[str, ...], Row]
"""(model, measure, reader, other reader, stratum or reason, metric, aggregation) -> finding."""
_KEY = ("subject", "measure", "judge", "other", "subset_value", "metric", "aggregation")
_WHOLE = ("", "", "", "")
PERCENT = Scale(0.0, 100.0)
KAPPA = Scale(-1.0, 1.0)
POINTS = Scale(0.0, 100.0)
SHARES = (
    ("read", "rule"),
    ("read", "compat_rule"),
    ("read", "extractor"),
    ("none", "strict"),
    ("unread", "strict"),
)
"""(measure, reader) of each column of shares."""
PAIRS = {
    ("rule", "extractor"): "Rules and extractor",
    ("strict", "compat"): "Score's reading and VLMEvalKit's",
    ("rule", "people"): "Rules and people",
    ("extractor", "people"): "Extractor and people",
    ("strict", "people"): "Score's reading and people",
    ("compat", "people"): "VLMEvalKit's reading and people",
}
STRATA = {
    "": "all that both read",
    "rule": "read by rule",
    "extractor": "read by the extractor",
    "none": "read as no choice",
    "differ": "read otherwise by VLMEvalKit's rules",
    "unread": "read by nobody",
}


def readings(data: Report) -> block.Section:
    """Make the section: shares by reader, effects on scores, and agreement of readers. It is empty if
    no letter was read."""
    rows = data["findings"].get("extraction_quality", [])
    figures = {tuple(row[name] for name in _KEY): row for row in rows}
    models = sorted({row["subject"] for row in rows}, key=lambda name: (not is_model(name), name))
    blocks: list[block.Block] = []
    finding = ""
    if rows:
        by_rule, unread = (
            _percent(figures["", measure, reader, *_WHOLE]).shown
            for measure, reader in (("read", "rule"), ("unread", "strict"))
        )
        finding = f"Rules read {by_rule} % of the answers, and {unread} % were read by nobody"
        blocks = [
            block.note("readers"),
            _shares(figures, models),
            block.Heading("What the reading does to scores"),
            block.note("effects_of_reading"),
            *_effects(figures, models),
            *_extractors(figures, models),
            block.Heading("Whether readers agree"),
            block.note("agreement_of_readers"),
            *_agreement(figures),
        ]
    return block.Section(
        "readings", "Reading of letters", "How letters were read", blocks, "pane", finding=finding
    )


def _named(model: str) -> Cell:
    return block.model(model) if model else Cell("All models", kind="who")


def _shares(figures: Figures, models: Sequence[str]) -> block.Table:
    """Make the table of the share of answers that each reader read, and unread shares by reason."""
    lines = []
    for model in models:
        rows = [figures[model, measure, reader, *_WHOLE] for measure, reader in SHARES]
        lost = [
            f"{key[4]} {_percent(row).shown}"
            for key, row in figures.items()
            if key[:2] == (model, "unread") and key[4]
        ]
        lines.append(
            [
                _named(model),
                Cell(str(rows[0]["n"])),
                *(_shown(_percent(row)) for row in rows[:-1]),
                Cell(_percent(rows[-1]).shown, lost, "n lossy" if lost else "n"),
            ]
        )
    heads = ["By rule", "By VLMEvalKit's rules", "By the extractor", "Z", "Unread"]
    shares = [Cell(markup("{of},&nbsp;%", of=head)) for head in heads]
    columns = [Cell("Model", kind="l who"), Cell("Answers"), *shares]
    return block.Table("Who read the letters", columns, lines, "readings")


def _effects(figures: Figures, models: Sequence[str]) -> Iterator[block.Table]:
    """Yield a table per metric: scores as read, by rules alone, by VLMEvalKit's rules, differences."""
    heads = ("Questions", "Score", "Rules alone", "Gain by the extractor", "VLMEvalKit")
    for metric in _metrics(figures):
        lines = [
            [
                _named(model),
                Cell(str(figures[model, "score", "strict", "", "", *metric]["n"])),
                _score(figures, model, "strict", metric),
                _score(figures, model, "rule", metric),
                _less(figures, model, "strict", "rule", metric),
                _score(figures, model, "compat", metric),
                _less(figures, model, "compat", "strict", metric),
            ]
            for model in models
        ]
        title = ", ".join(metric)
        columns = [Cell(title, kind="l who"), *map(Cell, heads), Cell("VLMEvalKit less score")]
        yield block.Table(f"Effect of the reading on {title}", columns, lines, "readings")


def _extractors(figures: Figures, models: Sequence[str]) -> Iterator[block.Table]:
    """Yield a table per metric: scores with other extractors, and the differences."""
    others = _others(figures)
    for metric in _metrics(figures) if others else ():
        lines = []
        for model in models:
            cells = [_named(model), _score(figures, model, "strict", metric)]
            for other in others:
                cells.append(_score(figures, model, other, metric))
                cells.append(_less(figures, model, other, "strict", metric))
            lines.append(cells)
        heads = [head for other in others for head in (other, "less the extractor")]
        title = f"{', '.join(metric)}, by extractor"
        columns = [Cell(title, kind="l who"), Cell("Extractor"), *map(Cell, heads)]
        yield block.Table(f"Extractors: {title}", columns, lines, "readings")


def _metrics(figures: Figures) -> list[tuple[str, ...]]:
    """Return (metric, aggregation) of each score."""
    return sorted({key[5:] for key in figures if key[5]})


def _score(figures: Figures, model: str, reader: str, metric: Sequence[str]) -> Cell:
    row = figures.get((model, "score", reader, "", "", *metric))
    return _shown(estimate_of(row, POINTS)) if row else Cell("–")


def _others(figures: Figures) -> list[str]:
    """Return the names of further extractors in the settings."""
    return sorted({key[2] for key in figures if key[1] == "score"} - {"strict", "rule", "compat"})


def _agreement(figures: Figures) -> Iterator[block.Block]:
    """Yield the agreement of pairs of readers over all models; name pairs without common answers."""
    lines, not_compared = [], []
    others = {
        pair: words
        for name in _others(figures)
        for pair, words in {
            ("rule", name): f"Rules and {name}",
            ("extractor", name): f"Extractor and {name}",
            (name, "people"): f"{name} and people",
        }.items()
    }
    for (reader, other), readers in {**PAIRS, **others}.items():
        for stratum, answers in STRATA.items():
            key = reader, other, stratum, "", ""
            row = figures.get(("", "raw", *key))
            if row is None:
                continue
            if not row["n"]:
                not_compared.append(readers)
                continue
            kappa = figures["", "cohen_kappa", *key]
            of_kappa = estimate_of(kappa, KAPPA)
            why = of_kappa.interval or row["reason"] or kappa["reason"] or ""
            lines.append(
                [
                    Cell(readers, kind="who"),
                    Cell(answers, kind="l"),
                    Cell(str(row["n"])),
                    _shown(_percent(row)),
                    Cell(of_kappa.shown, [why]),
                ]
            )
    if not_compared:
        # The names continue a sentence, so they are in lower case.
        named = "; ".join(not_compared).lower().replace("vlmevalkit", "VLMEvalKit")
        yield block.note("read_by_one", readers=named)
    if lines:
        same = Cell(markup("Same letter,&nbsp;%"))
        texts = [Cell("Readers", kind="l who"), Cell("Answers", kind="l")]
        heads = [*texts, Cell("n"), same, Cell("Cohen's kappa")]
        yield block.Table("Agreement of readers", heads, lines, "readings stacked")


def _shown(estimate: ReportEstimate) -> Cell:
    return Cell(estimate.shown, [estimate.interval])


def _percent(row: Row) -> ReportEstimate:
    """Return the share of a row in percent, with its interval."""
    value, low, high = (
        None if row[name] is None else 100 * row[name] for name in ("value", "ci_low", "ci_high")
    )
    return ReportEstimate(value, low, high, PERCENT, row.get("n_clusters"))


def _less(figures: Figures, model: str, reader: str, other: str, metric: Sequence[str]) -> Cell:
    """Make the cell of a difference in points with its sign and interval."""
    row = figures.get((model, "difference", reader, other, "", *metric))
    if row is None:
        return Cell("–")
    ends = [end for end in (row["ci_low"], row["ci_high"]) if end is not None]
    interval = " to ".join(map(POINTS.difference, ends))
    return Cell(POINTS.difference(row["value"]), [over(interval, row.get("n_clusters"))])
