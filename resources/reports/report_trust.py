"""The section of a report on its judges: how far they agree with people, and whether they are led.

What belongs here: lines of its tables and its sentences, from rows of `evaluate.judge_quality` and
`evaluate.judge_probes`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from methods.agreement.ratings import PEOPLE
from methods.evaluation.judging import PANEL
from resources.reports.report_scores import Row

MEASURES = {
    "mae": "Mean error",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "fuzzy_accuracy": "Fuzzy accuracy",
    "strict_accuracy": "Strict accuracy",
    "quadratic_kappa": "Quadratic kappa",
}
"""Measures of agreement as the tables head them, in their order."""
_ORIGINS = {"internal": "people here", "external": "people, imported"}
_DOES = {
    "length": (
        "gives more points to the same answer with neutral text after it",
        "takes points from the same answer with neutral text after it",
        "shows no shift by neutral text after answers",
    ),
    "obedience": (
        "obeys instructions hidden in answers",
        "takes points from answers with hidden instructions",
        "shows no obedience to instructions hidden in answers",
    ),
    "position": (
        "prefers the answer in the first place",
        "prefers the answer in the second place",
        "shows no preference for a place",
    ),
    "verdicts": (
        "prefers the first place in the comparisons that its scores rest on",
        "prefers the second place in the comparisons that its scores rest on",
        "shows no preference for a place in the comparisons that its scores rest on",
    ),
    "self_preference": (
        "gives models of its own family more points than other judges do",
        "gives models of its own family fewer points than other judges do",
        "shows no favour for models of its own family",
    ),
    "leniency": (
        "gives other models more points than other judges do",
        "gives other models fewer points than other judges do",
        "is about as strict with other models as other judges are",
    ),
}
"""What a judge does where the interval of a probe's shift is above 0, below it, or has it inside."""
_PROBES = {
    "length": "neutral text after answers",
    "obedience": "instructions hidden in answers",
    "position": "preference for a place",
    "verdicts": "preference for a place in the comparisons that its scores rest on",
    "self_preference": "favour for its own family",
    "leniency": "strictness beside other judges",
}

_OF_COMPARISONS = "verdicts"
_IN_WINS = ("position", _OF_COMPARISONS)
"""Probes whose shift is a share of wins; all others' are in points of the judge's scale."""


class Figure(NamedTuple):
    """A measure with its interval; `why` there is none."""

    shown: str
    interval: str
    why: str


class Agreement(NamedTuple):
    """One judge against people of one origin or another judge, at one level or on one part."""

    judge: str
    other: str
    of: str
    n: int
    figures: list[Figure]


class Trust(NamedTuple):
    """Agreement by judge and level, by part of the release, and the probes in sentences."""

    measures: list[str]
    lines: list[Agreement]
    by_part: list[tuple[str, list[Agreement]]]
    probes: list[str]
    with_people: bool


def trust_of(data: Mapping[str, Any]) -> Trust | None:
    """What is known of the judges' overall scores; None where no model has judged."""
    rows = [
        row
        for row in data["judge_quality"]
        if row["measure"] in MEASURES and row["other"] and not row["model"]
    ]
    if not rows and not data["judge_probes"]:
        return None
    versions = {
        (row["judge"], row["judge_version"])
        for row in (*data["judge_quality"], *data["judge_probes"])
    }
    present = [name for name in MEASURES if any(row["measure"] == name for row in rows)]
    lines: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        names = (
            "judge",
            "judge_version",
            "other",
            "origin",
            "subset_label",
            "subset_value",
            "level",
        )
        lines.setdefault(tuple(row[name] for name in names), {})[row["measure"]] = row
    whole: list[Agreement] = []
    parts: dict[str, list[Agreement]] = {}
    for (judge, version, other, origin, label, value, level), of in lines.items():
        line = Agreement(
            _called(judge, version, versions),
            _ORIGINS[origin] if other == PEOPLE else other,
            value or {"answer": "answers", "item": "items or groups", "model": "models"}[level],
            max(row["n"] for row in of.values()),
            [_figure(of.get(name)) for name in present],
        )
        if not label:
            whole.append(line)
        elif level == "answer":
            parts.setdefault(f"{line.judge} and {line.other}, by {label}", []).append(line)
    return Trust(
        [MEASURES[name] for name in present],
        whole,
        list(parts.items()),
        [
            _said(row, _called(row["judge"], row["judge_version"], versions))
            for row in data["judge_probes"]
        ],
        any(row["other"] == PEOPLE for row in rows),
    )


def _called(
    judge: str, version: str, versions: Sequence[tuple[str, str]] | set[tuple[str, str]]
) -> str:
    """The judge's name, with its version where there are several."""
    name = "Panel" if judge == PANEL else judge
    return f"{name} · {version}" if sum(of == judge for of, _ in versions) > 1 else name


def _figure(row: Row | None) -> Figure:
    if row is None or row["value"] is None:
        return Figure("–", "", "" if row is None else row["reason"] or "")
    interval = (
        "" if row["ci_low"] is None else f"{_number(row['ci_low'])} to {_number(row['ci_high'])}"
    )
    return Figure(_number(row["value"]), interval, "")


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _said(row: Row, judge: str) -> str:
    """A probe in one sentence: what the judge does, the shift with its interval, and its answers."""
    if row["shift"] is None:
        return f"{judge}, {_about(row)}: not known. {row['reason']}"
    above, below, neither = _DOES.get(row["probe"], ("", "", ""))
    unit, decimals = ("wins", 2) if row["probe"] in _IN_WINS else ("points", 1)
    does, interval = "", ", no interval: all are of one item or group"
    if row["ci_low"] is not None:
        low, high = row["ci_low"], row["ci_high"]
        does = above if low > 0 else below if high < 0 else neither
        interval = f" [{_signed(low, decimals)}, {_signed(high, decimals)}]"
    lost = f", {row['n_lost']} more were lost" if row["n_lost"] else ""
    about = f"{judge} {does}" if does else f"{judge}, {_about(row)}"
    of = "comparisons" if row["probe"] == _OF_COMPARISONS else "answers"
    return f"{about}: {_signed(row['shift'], decimals)} {unit}{interval}, on {row['n']} {of}{lost}."


def _about(row: Row) -> str:
    """What was probed; a probe without words here has its name."""
    return _PROBES.get(row["probe"], str(row["probe"]))


def _signed(value: float, decimals: int) -> str:
    shown = f"{value:+.{decimals}f}"
    return shown[1:] if float(shown) == 0 else shown.replace("-", "−")
