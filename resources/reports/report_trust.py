"""The report section on LLM judges: agreement with people and other judges, and judge bias tests."""

from collections.abc import Iterator, Sequence, Set
from typing import Any

from methods.evaluation.judge_bias_tests import BIAS_FOUND, IN_WINS, NONE, VERDICTS
from methods.evaluation.judge_quality import EXTERNAL, INTERNAL, OF_PEOPLE
from methods.evaluation.judging import PANEL
from methods.naming import decimal_text, number_of
from resources.reports import report_blocks as block
from resources.reports.report_blocks import Cell
from resources.reports.report_input import Report, Row

MEASURES = {
    "mae": "Mean error",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "fuzzy_accuracy": "Fuzzy accuracy",
    "strict_accuracy": "Strict accuracy",
    "quadratic_kappa": "Quadratic kappa",
    "raw": "Equal verdicts",
    "cohen_kappa": "Cohen's kappa",
}
"""Measure of agreement -> its head in the tables, in the order of the columns."""
VERDICT_MEASURES = ("raw", "cohen_kappa")
"""Measures of agreement of verdicts, on single turns or whole conversations."""
_PEOPLE = {OF_PEOPLE[EXTERNAL]: "people, imported", OF_PEOPLE[INTERNAL]: "people here"}
_UNITS = {"answer": "answers", "item": "items or groups", "model": "models"}
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
        "is biased towards models of its own family",
        "is biased against models of its own family",
        "shows no bias for models of its own family",
    ),
    "leniency": (
        "gives models of other families more points than other judges do",
        "gives models of other families fewer points than other judges do",
        "is about as strict with models of other families as other judges are",
    ),
}
"""Bias test -> phrases for a significant shift above 0, one below 0, and a negligible shift."""
_BIAS_TESTS = {
    "length": "neutral text after answers",
    "obedience": "instructions hidden in answers",
    "position": "preference for a place",
    "verdicts": "preference for a place in the comparisons that its scores rest on",
    "self_preference": "favour for its own family",
    "leniency": "strictness beside other judges",
}


def trust(data: Report) -> block.Section:
    """Make the section on the quality of judges' overall scores; empty without measurements."""
    overall = data["benchmark"]["overall"] if data["benchmark"] else ""
    quality = [row for row in data["findings"].get("judge_quality", []) if row["other"]]
    rows = [row for row in quality if row["metric"] == overall]
    # Verdicts have metrics of their own: people may compare turns, and judges whole conversations.
    rows += [
        {**row, "subset_label": "what is compared", "subset_value": row["metric"]}
        for row in quality
        if row["metric"] != overall
        and row["measure"] in VERDICT_MEASURES
        and not row["subset_label"]
    ]
    versions = {(row["judge"], row["judge_version"]) for row in (*rows, *data["judge_bias_tests"])}
    agreed = [row for row in rows if row["measure"] in MEASURES]
    blocks: list[block.Block] = []
    if agreed or data["judge_bias_tests"]:
        if not any(row["other"] in _PEOPLE for row in agreed):
            blocks.append(block.note("no_people", release=data["release"]))
        blocks += _agreement(agreed, versions)
    if data["judge_bias_tests"]:
        sentences = [
            _bias_test_sentence(row, _called(row["judge"], row["judge_version"], versions))
            for row in data["judge_bias_tests"]
        ]
        blocks += [
            block.Heading("Is a judge biased?"),
            block.note("bias_tests"),
            block.Sentences(sentences),
        ]
    finding = _finding(agreed, data["judge_bias_tests"])
    return block.Section(
        "trust", "Trust in the judge", "Can the judge be trusted?", blocks, finding=finding
    )


def _finding(agreed: Sequence[Row], bias_tests: Sequence[Row]) -> str:
    """Summarize in one line whether people were compared, and how many bias tests found a shift."""
    by_people = any(row["other"] in _PEOPLE for row in agreed)
    people = "Compared with people" if by_people else "Not compared with people"
    measured = [row for row in bias_tests if row["ci_low"] is not None]
    if not measured:
        return f"{people}; no bias test was made"
    led = sum(row["ci_low"] > 0 or row["ci_high"] < 0 for row in measured)
    tests = number_of(len(measured), "bias test")
    return f"{people}; {led or 'none'} of {tests} found a shift of a judge"


def _agreement(rows: Sequence[Row], versions: Set[tuple[str, str]]) -> Iterator[block.Block]:
    """Yield each judge's agreement with people or another judge: overall by unit, then by label."""
    if not rows:
        return
    measures = {
        name: head for name, head in MEASURES.items() if name in {r["measure"] for r in rows}
    }
    names = ("judge", "judge_version", "other", "subset_label", "subset_value", "unit")
    by_line: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in sorted(rows, key=_place):
        by_line.setdefault(tuple(row[name] for name in names), {})[row["measure"]] = row
    whole: list[list[Cell]] = []
    parts: dict[str, list[list[Cell]]] = {}
    for (judge, version, other, label, value, unit), by_measure in by_line.items():
        called, beside = _called(judge, version, versions), _PEOPLE.get(other, other)
        n = Cell(str(max(row["n"] for row in by_measure.values())), kind="n quiet")
        figures = [n, *(_figure(by_measure.get(name)) for name in measures)]
        if not label:
            texts = [Cell(text, kind="") for text in (beside, _UNITS[unit])]
            whole.append([Cell(called, kind="who"), *texts, *figures])
        elif unit == "answer":
            title = f"{called} and {beside}, by {label}"
            parts.setdefault(title, []).append([Cell(value, kind="who"), *figures])
    heads = [Cell("n"), *map(Cell, measures.values())]
    yield block.note("agreement_of_judges", has_bands="fuzzy_accuracy" in measures)
    of_whole = [Cell("Judge", kind="l who"), Cell("With", kind="l"), Cell("On", kind="l"), *heads]
    yield block.Table("Agreement of judges", of_whole, whole, "looking")
    for title, lines in parts.items():
        table = block.Table(title, [Cell("Answers of", kind="l who"), *heads], lines, "looking")
        yield block.FoldedBlocks(block.bold(title), [table])


def _place(row: Row) -> tuple[Any, ...]:
    """Sort key: panels last; agreement with people before other judges, overall rows before labels."""
    people = [*_PEOPLE].index(row["other"]) if row["other"] in _PEOPLE else len(_PEOPLE)
    judge = row["judge"] == PANEL, row["judge"], row["judge_version"]
    return (*judge, people, row["other"], row["subset_label"], row["subset_value"], row["unit"])


def _called(judge: str, version: str, versions: Set[tuple[str, str]]) -> str:
    """Return the judge's name, with its version if the judge has several."""
    name = "Panel" if judge == PANEL else judge
    return f"{name} · {version}" if sum(other == judge for other, _ in versions) > 1 else name


def _figure(row: Row | None) -> Cell:
    """Make the cell of a measure with its interval; a dash without a value, the reason as tooltip."""
    if row is None or row["value"] is None:
        return Cell("–", [""], title="" if row is None else row["reason"] or "")
    ends = [] if row["ci_low"] is None else [row["ci_low"], row["ci_high"]]
    return Cell(_number(row["value"]), [" to ".join(map(_number, ends))])


def _number(value: float) -> str:
    return decimal_text(value, 2)


def _bias_test_sentence(row: Row, judge: str) -> str:
    """Describe a bias test in a sentence: result, shift, interval, number of answers and clusters."""
    if row["shift"] is None:
        return f"{judge}, {_about(row)}: not known. {row['reason']}"
    above, below, none = _DOES.get(row["bias_test"], ("", "", ""))
    unit, decimals = ("wins", 2) if row["bias_test"] in IN_WINS else ("points", 1)
    is_shifted, equal = row["verdict"] == BIAS_FOUND, row["verdict"] == NONE
    does = (above if row["shift"] > 0 else below) if is_shifted else none if equal else ""
    about = f"{judge} {does}" if does else f"{judge}, {_about(row)}"
    figures = [f"{_signed(row['shift'], decimals)} {unit}"]
    if row["ci_low"] is not None:
        ends = ", ".join(_signed(row[name], decimals) for name in ("ci_low", "ci_high"))
        figures[0] += f" [{ends}]"
    if row["p_holm"] is not None and not equal:
        figures.append(_p(row["p_holm"]))
    if equal:
        figures.append(f"within ±{row['least']:.2f}")
    noun = "comparisons" if row["bias_test"] == VERDICTS else "answers"
    clusters = "" if row["n_clusters"] is None else f" of {_counted(row['n_clusters'])}"
    figures.append(f"on {row['n']} {noun}{clusters}")
    if row["n_lost"]:
        figures.append(f"{row['n_lost']} more were lost")
    sentence = f"{about}: {', '.join(figures)}."
    return sentence if is_shifted or equal else f"{sentence} {_not_enough(row, unit)}"


def _not_enough(row: Row, unit: str) -> str:
    """Explain why a bias test is inconclusive."""
    if row["ci_low"] is None:
        return "Not enough to say: all are of one item or group."
    if row["detectable"] is None:
        return "Not enough to say: no shift would be found on so few."
    size = f"{row['detectable']:.2f} {unit}"
    return f"Not enough to say: {size} would be found in {row['power']:.0%} of cases."


def _counted(n_clusters: int) -> str:
    return "1 item or group" if n_clusters == 1 else f"{n_clusters} items or groups"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _about(row: Row) -> str:
    """Return what the bias test tests, in words; the name of a test that is not in `_BIAS_TESTS`."""
    return _BIAS_TESTS.get(row["bias_test"], str(row["bias_test"]))


def _signed(value: float, decimals: int) -> str:
    shown = f"{value:+.{decimals}f}"
    return shown[1:] if float(shown) == 0 else shown.replace("-", "−")
