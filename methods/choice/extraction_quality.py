"""Quality of answer extraction: how reliably letters are read (MMBench, 4.2: Tables 1 and 6, Figure 5).

A reader is a way to extract the letter of an answer: `rule` (the strict rules), `extractor` (a model),
`strict` (the rules, and the extractor if no rule applies; used for ranks), `compat_rule` (VLMEvalKit's
rules), `compat` (VLMEvalKit's rules, and the strict letter if they read nothing), `people`, and other
extractor models by name (Figure 5, Table 6). Measures:

    read         share of the answers that the reader reads, Z included; for `rule` Table 1's match rate
    none         share that the reader reads as Z: no choice is named
    unread       share without a strict letter; also by reason
    named        share of the answers of a pass (`unit`) that name a letter; by letter (Figure 4)
    raw, cohen_kappa   agreement of `reader` and `other` on the letter (Figure 5 has raw)
    score        metric with this reader; for `rule`, answers that no rule reads are wrong
    difference   score of `reader` minus that of `other`, on the units that both have (Table 6)

Agreement with people is also given by stratum. The sample for people has as many answers of a rare
stratum as of a frequent one, so the agreement over all strata is not that of all answers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from methods.agreement.measures import LABELS_OF_PAIR, measured_rows
from methods.choice.alphabet import LETTERS, NO_CHOICE
from methods.choice.answer_extraction import STRATA, ExtractedAnswer, Place
from methods.choice.passes import RIGHT, RIGHT_COMPAT
from methods.evaluation.candidates import is_model
from methods.evaluation.findings import Finding, estimated
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.units import units_of
from methods.evaluation.score_estimates import NO_MEAN, weighted_estimates
from methods.evaluation.scoring import floored
from methods.evaluation.statistics.estimates import PERCENTILES, Estimate

if TYPE_CHECKING:
    import pandas as pd

Name = TypeVar("Name")
Letter = Callable[[ExtractedAnswer], str | None]

ALL_MODELS = ""
RULE, EXTRACTOR, STRICT, PEOPLE = "rule", "extractor", "strict", "people"
COMPAT_RULE, COMPAT = "compat_rule", "compat"
NO_KEY = "No answer has a key that its letter could be compared with."
_CODES = {letter: float(code) for code, letter in enumerate(LETTERS + NO_CHOICE)}


def reading_findings(
    metrics: Sequence[Metric],
    answers: Sequence[ExtractedAnswer],
    observed: "pd.DataFrame",
    people: Mapping[str, str],
    *,
    extractor: str,
    seed: int,
    n_resamples: int,
) -> Iterator[Finding]:
    """Measure the answer extraction of one release, over all models and for each candidate.

    Args:
        metrics: The metrics of the benchmark.
        answers: The answers with what each reader extracted.
        observed: The observations of every candidate.
        extractor: The model that is called if no rule reads an answer. Other extractors are readers
            with their own names.
        people: The letter that people read, by `ExtractedAnswer.queue_id`.
        seed: The seed of the bootstraps.
        n_resamples: The number of bootstrap draws.

    Yields:
        The shares that each reader reads, the agreement of readers, and the effect on each metric.
    """
    resampling = {"seed": seed, "n_resamples": n_resamples}
    letters_of_people = {
        answer.place: letter
        for answer in (answers if people else ())
        if (letter := people.get(answer.queue_id)) is not None
    }
    models = sorted({answer.model for answer in answers})
    for model in (ALL_MODELS, *models):
        of_model = [
            answer
            for answer in answers
            if answer.model == model or (not model and is_model(answer.model))
        ]
        if not of_model:
            continue
        candidates = {answer.model for answer in of_model}
        observed_of_model = observed[observed["model"].isin(candidates)]
        for figure in (
            *_shares(of_model),
            *_letters(of_model),
            *_agreement(of_model, letters_of_people, extractor, **resampling),
            *_effects(metrics, of_model, observed_of_model, extractor),
        ):
            yield replace(figure, subject=model)


# --- Shares ----------------------------------------------------------------------------------------


def _shares(answers: Sequence[ExtractedAnswer]) -> Iterator[Finding]:
    conditions: dict[tuple[str, str, str], Callable[[ExtractedAnswer], bool]] = {
        ("read", RULE, ""): lambda answer: answer.rule is not None,
        ("read", COMPAT_RULE, ""): lambda answer: answer.compat_rule is not None,
        ("read", EXTRACTOR, ""): lambda answer: answer.extractor is not None,
        ("none", RULE, ""): lambda answer: answer.rule == NO_CHOICE,
        ("none", EXTRACTOR, ""): lambda answer: answer.extractor == NO_CHOICE,
        ("none", STRICT, ""): lambda answer: answer.letter == NO_CHOICE,
        ("unread", STRICT, ""): lambda answer: answer.letter is None,
    }
    for reason in sorted(
        {answer.lost for answer in answers if answer.lost and answer.letter is None}
    ):
        conditions["unread", STRICT, reason] = partial(_is_lost, reason)
    clusters = [answer.cluster for answer in answers]
    shares = {
        name: [float(holds(answer)) for answer in answers] for name, holds in conditions.items()
    }
    for (measure, reader, lost), value in _means(clusters, shares, (0.0, 1.0)).items():
        label = "reason" if lost else ""
        share = Finding(
            judge=reader,
            measure=measure,
            subset_label=label,
            subset_value=lost,
            unit="answer",
            n=len(answers),
        )
        yield estimated(share, value)


def _means(
    clusters: Iterable[str], columns: Mapping[Name, Iterable[float]], ends: tuple[float, float]
) -> dict[Name, Estimate]:
    """The mean of each column with its interval."""
    import pandas as pd

    units = pd.concat(
        [
            pd.DataFrame({"column": number, "cluster": clusters, "value": values})
            for number, values in enumerate(columns.values())
        ]
    ).assign(place=0, term=0, stratum=0)
    estimates = weighted_estimates(units, [1.0], {0: ends}, ["column"])
    return {name: estimates.get((n,), NO_MEAN).estimate for n, name in enumerate(columns)}


def _letters(answers: Sequence[ExtractedAnswer]) -> Iterator[Finding]:
    """Yield the share of each letter in each pass. Right choices are spread evenly over the letters."""
    passes: dict[str, Counter[str]] = {}
    for answer in answers:
        passes.setdefault(answer.trial, Counter())[answer.letter or ""] += 1
    for trial, letters in sorted(passes.items()):
        n_answers = letters.total()
        for letter, n in sorted(letters.items()):
            if letter:
                yield Finding(
                    measure="named",
                    judge=STRICT,
                    subset_label="letter",
                    subset_value=letter,
                    unit=trial,
                    n=n_answers,
                    value=n / n_answers,
                )


def _is_lost(reason: str, answer: ExtractedAnswer) -> bool:
    return answer.letter is None and answer.lost == reason


# --- Agreement -------------------------------------------------------------------------------------


def _agreement(
    answers: Sequence[ExtractedAnswer],
    people: Mapping[Place, str],
    extractor: str,
    **resampling: int,
) -> Iterator[Finding]:
    """Measure agreement on answers that both readers have read; with people also by stratum."""

    def by_people(answer: ExtractedAnswer) -> str | None:
        return people.get(answer.place)

    pairs: list[tuple[str, Letter, str, Letter]] = [
        (RULE, lambda answer: answer.rule, EXTRACTOR, partial(_read_by, extractor)),
        (STRICT, lambda answer: answer.letter, COMPAT, lambda answer: answer.compat),
        (RULE, lambda answer: answer.rule, PEOPLE, by_people),
        (EXTRACTOR, lambda answer: answer.extractor, PEOPLE, by_people),
        (STRICT, lambda answer: answer.letter, PEOPLE, by_people),
        (COMPAT, lambda answer: answer.compat, PEOPLE, by_people),
    ]
    for name in _other_extractors(answers, extractor):
        by_name = partial(_read_by, name)
        pairs += [
            (RULE, lambda answer: answer.rule, name, by_name),
            (EXTRACTOR, lambda answer: answer.extractor, name, by_name),
            (name, by_name, PEOPLE, by_people),
        ]
    for reader, first, other, second in pairs:
        read_by_both = [
            (answer, one, two)
            for answer in answers
            if (one := first(answer)) is not None and (two := second(answer)) is not None
        ]
        strata = STRATA if other == PEOPLE else ()
        for stratum in ("", *strata):
            both = [reading for reading in read_by_both if stratum in ("", reading[0].stratum)]
            if both or not stratum:
                yield from _agreed(both, reader, other, stratum, **resampling)


def _read_by(extractor: str, answer: ExtractedAnswer) -> str | None:
    return answer.by_model.get(extractor)


def _other_extractors(answers: Sequence[ExtractedAnswer], extractor: str) -> list[str]:
    return sorted({name for answer in answers for name in answer.by_model} - {extractor})


def _agreed(
    both: Sequence[tuple[ExtractedAnswer, str, str]],
    reader: str,
    other: str,
    stratum: str,
    *,
    seed: int,
    n_resamples: int,
) -> Iterator[Finding]:
    matrix = np.array([[_CODES[one], _CODES[two]] for _, one, two in both]).reshape(-1, 2)
    clusters = [answer.cluster for answer, *_ in both]
    finding = Finding(
        judge=reader,
        other=other,
        subset_label="stratum" if stratum else "",
        subset_value=stratum,
        unit="answer",
    )
    for row in measured_rows(LABELS_OF_PAIR, matrix, clusters, seed, n_resamples):
        yield replace(
            finding,
            measure=row["measure"],
            n=row["n_items"],
            value=row["value"],
            ci_low=row["low"],
            ci_high=row["high"],
            n_clusters=len(set(clusters)),
            method=None if row["low"] is None else PERCENTILES,
            reason=row["reason"],
        )


# --- Effect on scores ------------------------------------------------------------------------------


def _effects(
    metrics: Sequence[Metric],
    answers: Sequence[ExtractedAnswer],
    observed: "pd.DataFrame",
    extractor: str,
) -> Iterator[Finding]:
    """Yield the score of each metric that has a strict and a compat version: with the strict reader,
    rules alone, compat, and every other extractor in place of the one in use."""
    others = _other_extractors(answers, extractor)
    by_rule = by_rules_alone(observed, answers)
    by_other = {other: by_another_extractor(observed, answers, other) for other in others}
    for strict, compat in both_readings(metrics):
        under = {
            STRICT: _units(strict, observed),
            RULE: _units(strict, by_rule),
            COMPAT: _units(compat, observed),
            **{other: _units(strict, by_other[other]) for other in others},
        }
        of_metric = Finding(metric=strict.name, aggregation=strict.aggregation, unit="unit")
        compared = [(STRICT, RULE), (COMPAT, STRICT), *((other, STRICT) for other in others)]
        for reader, other in compared:
            both = under[reader].merge(
                under[other], on=["model", "unit", "turn"], suffixes=("", "_other")
            )
            scores = {reader: both["value"], other: both["value_other"]}
            score = replace(of_metric, measure="score", n=len(both))
            means = _means(both["cluster"], scores, strict.ends)
            for shown in (STRICT, RULE) if reader == STRICT else (reader,):
                yield estimated(replace(score, judge=shown), means[shown], NO_KEY)
            differences = {reader: both["value"] - both["value_other"]}
            means = _means(both["cluster"], differences, (-strict.span, strict.span))
            about = replace(score, measure="difference", judge=reader, other=other)
            yield estimated(about, means[reader], NO_KEY)


def both_readings(metrics: Sequence[Metric]) -> Iterator[tuple[Metric, Metric]]:
    """Yield each metric with strict extraction, together with its version with compat extraction."""
    for strict in metrics:
        if getattr(strict, "observation", None) != RIGHT:
            continue
        for compat in metrics:
            if type(compat) is type(strict) and compat == replace(
                strict,
                name=compat.name,
                observation=RIGHT_COMPAT,  # type: ignore[call-arg] # not every metric has it: see above
            ):
                yield strict, compat


def by_rules_alone(observed: "pd.DataFrame", answers: Sequence[ExtractedAnswer]) -> "pd.DataFrame":
    """The strict observations if no model were asked where no rule reads: those are wrong."""
    return _with_values(observed, {answer.place: 0.0 for answer in answers if answer.rule is None})


def by_another_extractor(
    observed: "pd.DataFrame", answers: Sequence[ExtractedAnswer], extractor: str
) -> "pd.DataFrame":
    """The strict observations with the letters of another extractor where no rule reads.

    Passes that were skipped after a wrong answer stay wrong, even if this extractor reads that answer
    as right.
    """
    values = {}
    for answer in answers:
        if not answer.rule and extractor in answer.by_model and answer.right:
            letter = answer.by_model[extractor]
            values[answer.place] = None if letter is None else float(letter == answer.right)
    return _with_values(observed, values)


def _with_values(observed: "pd.DataFrame", values: Mapping[Place, float | None]) -> "pd.DataFrame":
    """The strict observations with other values in these places; None where nothing is judged."""
    strict = observed[observed["metric"] == RIGHT]
    places = strict[["model", "item_id", "trial", "turn"]].itertuples(index=False, name=None)
    rows = [
        (values[place], "not_judged" if values[place] is None else "judged")
        if place in values
        else (value, status)
        for place, value, status in zip(places, strict["value"], strict["status"], strict=True)
    ]
    changed, statuses = zip(*rows, strict=True) if rows else ((), ())
    return strict.assign(value=np.array(changed, dtype=float), status=list(statuses))


def _units(metric: Metric, observed: "pd.DataFrame") -> "pd.DataFrame":
    """The units at the floor of all models."""
    return units_of({0: metric}, floored(observed), floor=True)
