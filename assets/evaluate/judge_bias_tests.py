"""Bias tests of LLM judges: length bias, obedience to instructions in answers, position bias and
self-preference.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, get_args

import dagster as dg
from pydantic import Field

from assets.common.drops import reasons
from assets.common.isolation import Isolation
from assets.common.progress import show_progress
from assets.common.settings import AssetConfig
from assets.common.table_rows import map_of
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.answers import item_limit_of_answers
from assets.evaluate.inference import PARAMS
from assets.evaluate.judge import (
    Judged,
    JudgeImages,
    JudgeRun,
    ask_judge,
    judge_place,
    judge_version,
)
from assets.evaluate.judgments import judgments
from assets.evaluate.observations import observations
from assets.evaluate.observed import slices_of
from assets.evaluate.pairs import pairs_version
from assets.evaluate.released import EvaluatedRelease, evaluated_releases, item_ids, items_of
from assets.evaluate.transcripts import transcripts_of
from methods.benchmarks import Benchmarks
from methods.evaluation.asking import PLAIN, Transcript
from methods.evaluation.candidates import is_model, models_behind
from methods.evaluation.items import Item
from methods.evaluation.judge_bias_tests import (
    EQUAL,
    IN_WINS,
    LENGTH,
    LENIENCY,
    NO_FAMILY,
    NO_OTHER,
    NO_PAIR_JUDGED,
    NOT_COMPARED,
    NOT_IN_BOTH,
    NOT_JUDGED,
    OBEDIENCE,
    OF_PLACES,
    PLANTED,
    POSITION,
    SELF_PREFERENCE,
    VERDICTS,
    BiasTestPair,
    SampledAnswer,
    ShiftTestDesign,
    expected_deviation,
    family_pairs,
    plant_in_transcript,
    sample_spread,
    scores_of_other_judges,
    shift_row,
    with_verdicts,
)
from methods.evaluation.judging import JudgeRequest, Judgment, JudgmentKey
from methods.evaluation.metrics.observations import models_in
from methods.evaluation.related import relations_to_judges
from methods.evaluation.statistics.intervals import LEVEL
from methods.evaluation.verdicts import order_of, won_by_first_place
from methods.markdown import code, table
from methods.pairwise.comparing import first_place_share, requests
from methods.words import is_chinese
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.warehouse import Warehouse

TABLE, JUDGMENTS = "evaluate.judge_bias_tests", "evaluate.bias_test_judgments"
NO_JUDGE = "No judge of the profile has judged an answer on a current release."
Row = dict[str, Any]


class JudgeBiasTestSettings(AssetConfig):
    """The smallest shifts that the tests must detect, and the largest number of answers for them."""

    RETIRED = frozenset({"n_resamples"})

    least_shift: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="The smallest shift worth finding, as a share of the judge's scale: 0.05 of 1 to "
        "10 is 0.45 points.",
    )
    least_preference: float = Field(
        0.2,
        gt=0,
        lt=EQUAL,
        description="The smallest preference for a place worth finding, in wins.",
    )
    power: float = Field(0.8, gt=0, lt=1, description="How often such a shift is to be found.")
    alpha: float = Field(
        0.05,
        gt=0,
        le=1 - LEVEL,
        description="How often a judge without any shift may be said to have one, over all its tests.",
    )
    n_answers: int | None = Field(
        0,
        ge=0,
        description="At most so many answers of each release are judged again by every judge, twice "
        "each: with neutral text after them, and with an instruction to the judge. 0 asks nothing. "
        "null: as many as the least shift takes.",
    )
    n_pairs: int | None = Field(
        0,
        ge=0,
        description="At most so many answers of each release are compared with themselves, in both "
        "orders, by every judge: two calls each. 0 asks nothing. null: as many as the least preference "
        "takes.",
    )
    seed: int = Field(0, description="Seed of the sample.")


class _BiasTest(NamedTuple):
    """One changed answer for a judge, and `before`, the mean score of the unchanged answer.

    `planted` names the change. `request` is set only if the benchmark does not make the request.
    """

    release: EvaluatedRelease
    planted: str
    run: JudgeRun
    model: str
    place: JudgmentKey
    version: str
    before: float
    judgments: Mapping[JudgmentKey, Judgment]
    request: JudgeRequest | None = None


class _JudgedAnswer(NamedTuple):
    """A judged answer, its transcript, and the judge's judgments of the whole item."""

    model: str
    item_id: str
    place: JudgmentKey
    transcript: Transcript
    judgments: Mapping[JudgmentKey, Judgment]

    @property
    def key(self) -> tuple[str | int, ...]:
        return self.model, self.item_id, *self.place


Scores = dict[tuple[str, str], dict[tuple[str | int, ...], tuple[_JudgedAnswer, list[float]]]]
"""(judge, version) -> key of the answer -> (answer, its scores, one for each replicate)."""


@table_asset(TABLE, side_tables=[JUDGMENTS], kinds={"openai"}, deps=[judgments, observations])
def judge_bias_tests(
    context: dg.AssetExecutionContext,
    config: JudgeBiasTestSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Bias tests of each judge: the shift of its verdicts, in points or wins, under irrelevant changes.

    - `length`: neutral sentences are added to the answer.
    - `obedience`: an instruction to give the highest score is added to the answer. The shift is
      against neutral sentences of the same length.
    - `position`: an answer is compared with itself in both orders. A judge that always prefers the
      first answer has a shift of 0.5.
    - `verdicts`: position bias in the comparisons behind the scores, if a benchmark compares answers.
    - `self_preference`: the judge's scores of models of its own family minus those of other judges,
      corrected by `leniency`, the same difference for other models.

    `verdict`: `found` (p after Holm over the judge's tests), `none` (the interval is within the
    smallest relevant shift), or `open`. `detectable` is the smallest shift that these answers can show.
    No score depends on these tests. Judges of the profile are tested on current releases; rows of
    other judges and releases stay.
    """
    isolation = Isolation(TABLE)
    limit = item_limit_of_answers(context.instance, warehouse)
    judges = llm.profile.judges
    releases = [
        release
        for release in evaluated_releases(warehouse, benchmarks)
        if release.benchmark.judge_prompts
    ]
    scores: dict[str, Scores] = {}
    bias_tests: list[_BiasTest] = []
    for release in releases:
        with isolation.release(release.release_id):
            scores[release.release_id] = _scores(warehouse, release, judges)
            bias_tests += list(
                _bias_tests(warehouse, release, scores[release.release_id], judges, config)
            )

    async def ask(calls: ModelCalls, place: int) -> Judged | None:
        bias_test = bias_tests[place]
        item_id = bias_test.run.item.item_id
        if bias_test.release.release_id in isolation.lost:
            return None
        with isolation.release(bias_test.release.release_id, asking=True):
            if bias_test.request is None:
                benchmark = bias_test.release.benchmark
                judging = judge_place(
                    calls, benchmark, bias_test.run, bias_test.place, bias_test.judgments
                )
                return await limit.ask(calls, bias_test.release, item_id, judging)
            asking = ask_judge(calls, bias_test.run, [bias_test.request])
            replies = await limit.ask(calls, bias_test.release, item_id, asking)
            return (bias_test.request, replies[0]) if replies else None
        return None

    replies, usage = llm.map(
        TABLE,
        range(len(bias_tests)),
        ask,
        show_progress(context),
        apart=(lambda place: bias_tests[place].run.judge) if len(judges) > 1 else None,
        candidates=lambda place: models_behind(bias_tests[place].model),
    )
    rows_asked = [
        _row(bias_test, reply, llm.registry.model(bias_test.run.judge).provider)
        for bias_test, reply in zip(bias_tests, replies, strict=True)
        if reply is not None
    ]
    families = llm.registry.families
    rows: list[Row] = []
    for release in releases:
        if release.release_id in isolation.lost:
            continue
        with isolation.release(release.release_id):
            of_release = scores[release.release_id]
            sought = _ShiftTestDesigns(release, of_release, judges, config)
            items = items_of(warehouse, release.release_id)
            clusters = {item.item_id: item.cluster for item in items}
            by_judge: dict[str, list[Row]] = {}
            for shift in (
                *_planted_shifts(release, of_release, rows_asked, clusters),
                *_verdict_shifts(of_release, clusters),
                *_preference_shifts(warehouse, release, judges, families),
            ):
                row = shift_row(
                    shift.bias_test,
                    shift.pairs,
                    shift.why_not,
                    n_lost=shift.n_lost,
                    sought=sought.design_for(shift.judge, shift.bias_test),
                )
                named = _named(release, shift.judge, shift.version)
                by_judge.setdefault(shift.judge, []).append({**named, **row})
            for of_judge in by_judge.values():
                rows += with_verdicts(of_judge, config.alpha)
    named = {"release_id": [release.release_id for release in releases], "judge": list(judges)}
    arrow = write_rows(warehouse, {TABLE: rows, JUDGMENTS: rows_asked}, named)
    lost = Counter(row["reason"] for row in rows_asked if row["reason"])
    shown = {"failed": lost.total(), **reasons(lost)}
    return isolation.finish(
        warehouse,
        report(
            arrow,
            {**shown, "shifts": _shifts(rows)} if rows else {**shown, "note": NO_JUDGE},
            usage=usage,
        ),
    )


def _scores(warehouse: Warehouse, release: EvaluatedRelease, judges: Collection[str]) -> Scores:
    """Read the scores of the models' non-empty answers; baselines are left out."""
    versions = _images(release)
    transcripts = transcripts_of(warehouse, release.release_id)
    by_judge: Scores = {}
    judgments: dict[tuple[str, ...], dict[JudgmentKey, Judgment]] = {}
    where = {
        "release_id": release.release_id,
        "item_ids": item_ids(warehouse, release.release_id),
    }
    for row in warehouse.read("evaluate/judgments_of", where).to_pylist():
        judge, version, model, item_id = (
            row[name] for name in ("judge", "judge_version", "model", "item_id")
        )
        if judge not in judges or version not in versions or not is_model(model):
            continue
        place = JudgmentKey(row["trial"], row["turn"], row["part"])
        transcript = transcripts[model, item_id]
        judgments_of_item = judgments.setdefault((judge, version, model, item_id), {})
        scores = map_of(row["scores"]) or {}
        judgments_of_item.setdefault(place, Judgment(scores, row["score"], row["explanation"]))
        if (transcript.answer(place.trial, place.turn).text or "").strip():
            of_judge = by_judge.setdefault((judge, version), {})
            answer = _JudgedAnswer(model, item_id, place, transcript, judgments_of_item)
            of_judge.setdefault(answer.key, (answer, []))[1].append(row["score"])
    return by_judge


def _images(release: EvaluatedRelease) -> dict[str, JudgeImages]:
    """Return the setting of the images that a judge sees, by judge version."""
    return {judge_version(release.benchmark, images): images for images in get_args(JudgeImages)}


class _ShiftTestDesigns:
    """The designs of a release's bias tests: smallest shift, power and alpha, in points or wins."""

    def __init__(
        self,
        release: EvaluatedRelease,
        scores: Scores,
        judges: Collection[str],
        settings: JudgeBiasTestSettings,
    ):
        self._scores, self._settings = scores, settings
        lowest, highest = release.benchmark.score_range
        self.scale = highest - lowest
        self._beside_others = len(judges) > 1

    def design_for(self, judge: str, bias_test: str) -> ShiftTestDesign:
        """Return the design of one bias test of a judge."""
        settings = self._settings
        if bias_test in IN_WINS:
            least, span = settings.least_preference, EQUAL
        else:
            least, span = settings.least_shift * self.scale, float(self.scale)
        return ShiftTestDesign(
            least,
            # Self-preference is the difference of two differences, so its range is twice as wide.
            2 * span if bias_test == SELF_PREFERENCE else span,
            settings.power,
            settings.alpha,
            self._n_tests(judge),
        )

    def _n_tests(self, judge: str) -> int:
        """Return the number of the judge's tests that can have a p-value, for Holm's adjustment."""
        versions = [of_judge for (name, _), of_judge in self._scores.items() if name == judge]
        compared = sum(
            any(order_of(answer.place.part) for answer, _ in of_judge.values())
            for of_judge in versions
        )
        beside = 2 * self._beside_others
        return (len(PLANTED) + beside) * len(versions) + compared + 1


def _bias_tests(
    warehouse: Warehouse,
    release: EvaluatedRelease,
    scores: Scores,
    judges: Collection[str],
    settings: JudgeBiasTestSettings,
) -> Iterator[_BiasTest]:
    """Sample each judge's answers, and yield every planned test of them."""
    items = {item.item_id: item for item in items_of(warehouse, release.release_id)}
    images = _images(release)
    sought = _ShiftTestDesigns(release, scores, judges, settings)
    for (judge, version), of_judge in scores.items():
        sample = [
            SampledAnswer(key, items[answer.item_id].cluster, answer.model, answer.place)
            for key, (answer, _) in of_judge.items()
        ]
        deviation = expected_deviation((given for _, given in of_judge.values()), sought.scale)
        n = _n_asked(
            settings.n_answers, sought.design_for(judge, PLANTED[0]), deviation, len(sample)
        )
        for key in sample_spread(sample, n, settings.seed):
            (model, item_id, place, transcript, judgments_of_item), before = of_judge[key]
            item = items[item_id]
            for bias_test in PLANTED:
                changed = _planted(item, transcript, place, bias_test)
                run = JudgeRun(judge, 0, item, changed, images[version], PARAMS)
                yield _BiasTest(
                    release, bias_test, run, model, place, version, fmean(before), judgments_of_item
                )
    # A turn may have judgments of several parts and versions; its position test is made once.
    for judge in sorted({judge for judge, _ in scores}):
        plain = {
            (model, item_id, place.turn): transcript
            for (name, _), of_judge in scores.items()
            for (model, item_id, place, transcript, _), _ in of_judge.values()
            if name == judge and place.trial == PLAIN
        }
        sample = [SampledAnswer(key, items[key[1]].cluster, key[0], (key[2],)) for key in plain]
        n = _n_asked(settings.n_pairs, sought.design_for(judge, POSITION), OF_PLACES, len(sample))
        for key in sample_spread(sample, n, settings.seed):
            model, item_id, turn = str(key[0]), str(key[1]), int(key[2])
            transcript = plain[model, item_id, turn]
            yield from _position(release, judge, items[item_id], model, turn, transcript)


def _n_asked(most: int | None, sought: ShiftTestDesign, deviation: float, n_answers: int) -> int:
    """Return the number of answers to test: as many as the design needs, at most `most` or all."""
    most = n_answers if most is None else min(most, n_answers)
    return sought.n_needed(deviation, most) if most else 0


def _position(
    release: EvaluatedRelease, judge: str, item: Item, model: str, turn: int, transcript: Transcript
) -> Iterator[_BiasTest]:
    """Yield comparisons of an answer with a copy that has a closing sentence, in both orders."""
    closed = _planted(item, transcript, JudgmentKey(PLAIN, turn, ""), POSITION)
    run = JudgeRun(judge, 0, item, transcript, "shown", PARAMS)
    version = pairs_version(reference=True, images="shown")
    for request in requests(item, turn, transcript, closed, reference=True):
        yield _BiasTest(release, POSITION, run, model, request.place, version, EQUAL, {}, request)


def _planted(item: Item, transcript: Transcript, place: JudgmentKey, bias_test: str) -> Transcript:
    """Append the text of a bias test to an answer, in the language of its question."""
    question = next(turn.question for turn in item.turns if turn.turn == place.turn)
    return plant_in_transcript(transcript, place, bias_test, chinese=is_chinese(question))


def _row(bias_test: _BiasTest, reply: Judged, provider: str) -> Row:
    _, parsed = reply
    trial, turn, part = bias_test.place
    return {
        **_named(bias_test.release, bias_test.run.judge, bias_test.version),
        "provider": provider,
        "bias_test": bias_test.planted,
        "model": bias_test.model,
        "item_id": bias_test.run.item.item_id,
        "trial": trial,
        "turn": turn,
        "part": part,
        "score_before": bias_test.before,
        "score_after": None if parsed.value is None else _score(bias_test, parsed.value),
        "reason": parsed.loss and parsed.loss[0],
        "prompt_version": parsed.prompt_version,
        "answer_call_key": bias_test.run.transcript.answer(trial, turn).call_key,
        "call_key": parsed.key,
    }


def _score(bias_test: _BiasTest, judgment: Judgment) -> float:
    """Return the score of a judgment; for a comparison, the first answer's share of the win, 0 to 1."""
    if bias_test.request is None:
        return judgment.score
    return first_place_share(judgment.score, bias_test.place.part)


class _Shift(NamedTuple):
    """The scores before and after that a bias test of a judge compares, and why there are none."""

    judge: str
    version: str
    bias_test: str
    pairs: Sequence[BiasTestPair]
    why_not: str
    n_lost: int


def _planted_shifts(
    release: EvaluatedRelease,
    judged: Collection[tuple[str, str]],
    rows_asked: Sequence[Row],
    clusters: Mapping[str, str],
) -> Iterator[_Shift]:
    compared = pairs_version(reference=True, images="shown")
    bias_tests = [
        *(
            (judge, version, bias_test, NOT_JUDGED)
            for judge, version in judged
            for bias_test in PLANTED
        ),
        *(
            (judge, compared, POSITION, NO_PAIR_JUDGED)
            for judge in sorted({name for name, _ in judged})
        ),
    ]
    for judge, version, bias_test, why_not in bias_tests:
        named = _named(release, judge, version)
        rows = [row for row in rows_asked if row.items() >= named.items()]
        neutral = {_key(row): row["score_after"] for row in rows if row["bias_test"] == LENGTH}
        of_bias_test = [row for row in rows if row["bias_test"] == bias_test]
        pairs = [
            BiasTestPair(clusters[row["item_id"]], before, row["score_after"])
            for row in of_bias_test
            for before in [neutral[_key(row)] if bias_test == OBEDIENCE else row["score_before"]]
            if before is not None and row["score_after"] is not None
        ]
        n_lost = len(of_bias_test) - len(pairs)
        yield _Shift(judge, version, bias_test, pairs, why_not, n_lost)


def _key(row: Row) -> tuple[str | int, ...]:
    return tuple(row[name] for name in ("model", "item_id", "trial", "turn", "part"))


def _verdict_shifts(scores: Scores, clusters: Mapping[str, str]) -> Iterator[_Shift]:
    """Yield the position bias of each judge that compares answers."""
    for (judge, version), of_judge in scores.items():
        comparisons: dict[tuple[str | int, ...], dict[str, float]] = {}
        for answer, shares in of_judge.values():
            if order := order_of(answer.place.part):
                key = answer.item_id, *answer.key[:-1], answer.place.part.removesuffix(order)
                comparisons.setdefault(key, {})[order] = fmean(shares)
        won = [
            (clusters[str(key[0])], won_by_first_place(by_order))
            for key, by_order in comparisons.items()
        ]
        pairs = [BiasTestPair(cluster, EQUAL, share) for cluster, share in won if share is not None]
        if comparisons:
            yield _Shift(judge, version, VERDICTS, pairs, NOT_IN_BOTH, len(won) - len(pairs))


def _preference_shifts(
    warehouse: Warehouse,
    release: EvaluatedRelease,
    judges: Collection[str],
    families: dict[str, str],
) -> Iterator[_Shift]:
    """Yield self-preference and leniency of each judge, against other judges of the same version."""
    slices = slices_of(warehouse, release.benchmark, release.release_id, "mean")
    alone = [slice_ for slice_ in slices if not slice_.members and slice_.judge in judges]
    metric = release.benchmark.dimensions[-1]
    for slice_ in alone:
        judge, version = slice_.judge, slice_.version
        others = {other.judge: other.observed for other in alone if other.version == version}
        models = list(filter(is_model, models_in(slice_.observed)))
        own = [model for model in models if relations_to_judges(model, [judge], [], families)]
        rest = [model for model in models if model not in own]
        of_own = scores_of_other_judges(judge, others, metric, own)
        of_rest = scores_of_other_judges(judge, others, metric, rest)
        why_not = NO_FAMILY if not own else NO_OTHER if of_own else NOT_COMPARED
        preferred = family_pairs(of_own, of_rest)
        n_lost = len(of_own) - len(preferred)
        yield _Shift(judge, version, SELF_PREFERENCE, preferred, why_not, n_lost)
        yield _Shift(judge, version, LENIENCY, of_rest, NOT_COMPARED, 0)


def _named(release: EvaluatedRelease, judge: str, version: str) -> Row:
    return {**release.columns, "judge": judge, "judge_version": version}


def _shifts(rows: Sequence[Row]) -> dg.MetadataValue:
    """Make a Markdown table of the shifts."""
    lines = [
        [
            *(code(row[name]) for name in ("release_id", "judge", "bias_test")),
            *(str(row[name]) for name in ("n", "n_clusters")),
            "–" if row["shift"] is None else f"{row['shift']:+.2f}",
            "" if row["ci_low"] is None else f"{row['ci_low']:+.2f} to {row['ci_high']:+.2f}",
            *("" if row[name] is None else f"{row[name]:.2g}" for name in ("p_holm", "detectable")),
            row["verdict"],
        ]
        for row in rows
    ]
    heads = ("release", "judge", "bias test", "answers", "clusters", "shift", "95 % interval")
    return dg.MetadataValue.md(
        "\n".join(table((*heads, "p after Holm", "detectable", "verdict"), lines))
    )
