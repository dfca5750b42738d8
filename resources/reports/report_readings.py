"""How letters were read: the section of a report on the readings behind multiple-choice scores.

What belongs here: which figures of `evaluate.extraction_quality` are shown, and how. What they are is
`methods/choice/extraction_quality.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from methods.evaluation.contestants import is_model
from resources.reports.estimate import Estimate, Scale

Row = Mapping[str, Any]
Figures = Mapping[tuple[str, ...], Row]
"""Rows by model, measure, reader, other, subset, metric and aggregation."""
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
"""Measure and reader of each column of shares."""
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


class Shares(NamedTuple):
    """Who read which share of a contestant's answers; an empty `model` is all models."""

    model: str
    n: int
    shares: list[Estimate]
    lost: list[tuple[str, str]]


class Effect(NamedTuple):
    """A metric of a model: as it is read, by rules alone, as VLMEvalKit reads, and the differences."""

    model: str
    n: int
    strict: Estimate
    rule: Estimate
    gain: str
    gain_interval: str
    compat: Estimate
    off: str
    off_interval: str


class Agreed(NamedTuple):
    """Two readers of all models' answers; `why` there is no value, empty where there is one."""

    readers: str
    on: str
    n: int
    raw: Estimate
    kappa: Estimate
    why: str


class Readings(NamedTuple):
    """The section: shares by model, effects by metric, agreement; readers that were not compared."""

    shares: list[Shares]
    effects: list[tuple[str, list[Effect]]]
    agreement: list[Agreed]
    not_compared: list[str]


def readings_of(rows: Sequence[Row]) -> Readings | None:
    """The section of the rows of a release; None where no letter was read on it."""
    if not rows:
        return None
    by_key: Figures = {
        (
            row["model"],
            row["measure"],
            row["reader"],
            row["other"],
            row["subset"],
            row["metric"],
            row["aggregation"],
        ): row
        for row in rows
    }
    models = sorted({row["model"] for row in rows}, key=lambda name: (not is_model(name), name))
    metrics = list(
        dict.fromkeys((row["metric"], row["aggregation"]) for row in rows if row["metric"])
    )
    agreement = list(_agreement(by_key))
    return Readings(
        [_shares(by_key, model) for model in models],
        [
            (f"{metric}, {over}", [_effect(by_key, model, metric, over) for model in models])
            for metric, over in metrics
        ],
        [each for each in agreement if each.n],
        [each.readers for each in agreement if not each.n],
    )


def _shares(by_key: Figures, model: str) -> Shares:
    rows = [by_key[model, measure, reader, "", "", "", ""] for measure, reader in SHARES]
    lost = [
        (key[4], _percent(row).shown)
        for key, row in by_key.items()
        if key[:2] == (model, "unread") and key[4]
    ]
    return Shares(model, rows[0]["n"], [_percent(row) for row in rows], lost)


def _effect(by_key: Figures, model: str, metric: str, over: str) -> Effect:
    strict, rule, compat = (
        by_key[model, "score", reader, "", "", metric, over]
        for reader in ("strict", "rule", "compat")
    )
    gain = by_key[model, "difference", "strict", "rule", "", metric, over]
    off = by_key[model, "difference", "compat", "strict", "", metric, over]
    return Effect(
        model,
        strict["n"],
        _estimate(strict, POINTS),
        _estimate(rule, POINTS),
        *_difference(gain),
        _estimate(compat, POINTS),
        *_difference(off),
    )


def _agreement(by_key: Figures) -> Iterator[Agreed]:
    for (reader, other), readers in PAIRS.items():
        for subset, answers in STRATA.items():
            row = by_key.get(("", "raw", reader, other, subset, "", ""))
            if row is not None:
                kappa = by_key["", "cohen_kappa", reader, other, subset, "", ""]
                why = row["reason"] or kappa["reason"] or ""
                raw, beyond_chance = _percent(row), _estimate(kappa, KAPPA)
                yield Agreed(readers, answers, row["n"], raw, beyond_chance, why)


def _estimate(row: Row, scale: Scale) -> Estimate:
    return Estimate(row["value"], row["ci_low"], row["ci_high"], scale)


def _percent(row: Row) -> Estimate:
    """A share in percent."""
    value, low, high = (
        None if row[name] is None else 100 * row[name] for name in ("value", "ci_low", "ci_high")
    )
    return Estimate(value, low, high, PERCENT)


def _difference(row: Row) -> tuple[str, str]:
    """A difference in points with its sign, and its interval."""
    ends = [end for end in (row["ci_low"], row["ci_high"]) if end is not None]
    return POINTS.difference(row["value"]), " to ".join(map(POINTS.difference, ends))
