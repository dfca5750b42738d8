"""Methods section for a paper: a paragraph on how scores were made, and BibTeX citations."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from methods.evaluation.candidates import FILE, ablation_of, is_file, is_model
from methods.evaluation.judging import PANEL, RULE
from methods.evaluation.statistics.estimates import BINOMIAL, PAIRED_T, PSEUDO_CLUSTERS
from methods.naming import listed, number_of
from methods.release_card import Card, benchmark_of
from methods.results.latex_and_markdown import latex_text
from methods.results.results_table import COUNTS_BELOW, JudgeResults, MetricKey

_PAPERS = {
    "alignmmbench": (
        "Wu, Yuhang",
        "{AlignMMBench}: Evaluating Chinese Multimodal Alignment in Large Vision-Language Models",
        "2406.09295",
    ),
    "convbench": (
        "Liu, Shuo",
        "{ConvBench}: A Multi-Turn Conversation Evaluation Benchmark with Hierarchical Ablation "
        "Capability for Large Vision-Language Models",
        "2403.20194",
    ),
    "mmbench": (
        "Liu, Yuan",
        "{MMBench}: Is Your Multi-modal Model an All-around Player?",
        "2307.06281",
    ),
    "mmdu": (
        "Liu, Ziyu",
        "{MMDU}: A Multi-Turn Multi-Image Dialog Understanding Benchmark and Instruction-Tuning "
        "Dataset for {LVLMs}",
        "2406.11833",
    ),
    "mmiu": (
        "Meng, Fanqing",
        "{MMIU}: Multimodal Multi-image Understanding for Evaluating Large Vision-Language Models",
        "2408.02718",
    ),
}
"""The first author, title and arXiv number of the paper of each benchmark."""


class Source(NamedTuple):
    """An article, for BibTeX."""

    key: str
    author: str
    title: str
    journal: str
    year: int


_SOURCES = {
    PSEUDO_CLUSTERS: [
        Source(
            "agresti1998",
            "Agresti, Alan and Coull, Brent A.",
            "Approximate Is Better than ``Exact'' for Interval Estimation of Binomial Proportions",
            "The American Statistician",
            1998,
        )
    ],
    BINOMIAL: [
        Source(
            "clopper1934",
            "Clopper, C. J. and Pearson, E. S.",
            "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
            "Biometrika",
            1934,
        )
    ],
    PAIRED_T: [
        Source(
            "pustejovsky2018",
            "Pustejovsky, James E. and Tipton, Elizabeth",
            "Small-Sample Methods for Cluster-Robust Variance Estimation and Hypothesis Testing in "
            "Fixed Effects Models",
            "Journal of Business and Economic Statistics",
            2018,
        ),
        Source(
            "johnson1978",
            "Johnson, Norman J.",
            "Modified t Tests and Confidence Intervals for Asymmetrical Populations",
            "Journal of the American Statistical Association",
            1978,
        ),
        Source(
            "holm1979",
            "Holm, Sture",
            "A Simple Sequentially Rejective Multiple Test Procedure",
            "Scandinavian Journal of Statistics",
            1979,
        ),
    ],
}
"""The articles of each method of an interval or a test."""


class CallSettings(NamedTuple):
    """The distinct settings and dates of one model's calls in one role.

    Attributes:
        role: "answer", "reader" (letter extraction) or "judge".
        name: The name of the model.
        temperatures: The temperatures; None for requests that leave it to the server.
        limits: The token limits of replies; None for requests that leave it to the server.
        served_as: The names of the model in replies, or else in requests.
        prompts: The versions of the prompts.
        first_day: The day of the first call.
        last_day: The day of the last call.
    """

    role: str
    name: str
    temperatures: Sequence[float | None]
    limits: Sequence[int | None]
    served_as: Sequence[str]
    prompts: Sequence[str]
    first_day: str
    last_day: str


class EvaluationCalls(NamedTuple):
    """The calls behind the scores of a release. `readers` counts answers by the rule or model that
    extracted their letter.
    """

    settings: Sequence[CallSettings]
    readers: Mapping[str, int]


def methods_paragraph(
    results: JudgeResults,
    card: Card,
    version: str | None,
    calls: EvaluationCalls,
    averages: Mapping[MetricKey, str],
) -> str:
    """Describe in sentences how the scores of a judge were made.

    Args:
        results: The scores.
        card: The card of the release.
        version: The version of vlm-loom, if it is known.
        calls: The calls behind the scores.
        averages: The description of each metric (`Metric.in_words`).

    Returns:
        The sentences, on one line.
    """
    models = [row for row in results.models if is_model(row["model"])]
    names = {row["model"] for row in models}
    candidates = [each for each in calls.settings if each.role == "answer" and each.name in names]
    sentences = [
        f"We evaluated {number_of(len(models), 'model')}{_beside(results)} on the release "
        f"{card['release_id']} ({number_of(card['n_items'], 'item')}, "
        f"{number_of(card['n_turns'], 'turn')}, {number_of(card['n_images'], 'picture')}), which is "
        "frozen under an id that is a hash of its content.",
        *_how_asked("Models", candidates),
        *_imported(models),
        *_read(calls),
        *_how_asked("The extractor", [each for each in calls.settings if each.role == "reader"]),
        _scored(results, averages),
        *_how_asked("The judge", [each for each in calls.settings if _judged(each, results)]),
        _intervals(results),
        *_compared(results),
        *_unranked(models),
        f"Answers that models declined: {sum(row['n_refused'] for row in models)}; turns without a "
        f"judgment: {sum(row['n_turns'] - row['n_judged'] for row in models)}. Scores were made "
        "with vlm-loom "
        f"{version or 'of an unknown version'}.",
    ]
    return " ".join(sentences)


def citations(card: Card, methods: Iterable[str]) -> str:
    """Cite the benchmark, the release and the statistics.

    Args:
        card: The card of the release.
        methods: The names of the methods of intervals and tests in the tables.

    Returns:
        BibTeX: the paper of the benchmark if it is known, the release, and the articles of the methods.
    """
    name = benchmark_of(card) or ""
    entries = []
    if name in _PAPERS:
        author, title, number = _PAPERS[name]
        entries.append(
            f"@misc{{{name},\n  author = {{{author} and others}},\n  title = {{{title}}},\n"
            f"  year = {{20{number[:2]}}},\n  eprint = {{{number}}},\n  archivePrefix = {{arXiv}}\n}}\n"
        )
    made_with = latex_text(f"made with vlm-loom {card.get('project_version') or ''}")
    entries.append(
        f"@misc{{{card['release_id']},\n  title = {{{{{card['release_id']}}}}},\n"
        f"  year = {{{card['created_at'][:4]}}},\n"
        f"  note = {{Release of a benchmark, {made_with}}}\n}}\n"
    )
    entries += [
        f"@article{{{source.key},\n  author = {{{source.author}}},\n  title = {{{{{source.title}}}}},\n"
        f"  journal = {{{source.journal}}},\n  year = {{{source.year}}}\n}}\n"
        for method in sorted(set(methods))
        for source in _SOURCES.get(method, [])
    ]
    return "\n".join(entries)


def _beside(results: JudgeResults) -> str:
    """Describe the candidates that are no models: baselines and runs without the right images."""
    others = [row["model"] for row in results.models if not is_model(row["model"])]
    blind = sum(ablation_of(name) is not None for name in others)
    counts = [
        *([number_of(len(others) - blind, "baseline")] if len(others) > blind else []),
        *([f"{number_of(blind, 'run')} without the right images"] if blind else []),
    ]
    return f", with {' and '.join(counts)} for comparison," if counts else ""


def _judged(settings: CallSettings, results: JudgeResults) -> bool:
    return settings.role == "judge" and results.judge in (settings.name, PANEL)


def _how_asked(who: str, calls: Sequence[CallSettings]) -> list[str]:
    """Describe the dates and settings of calls to models; empty without calls."""
    if not calls:
        return []
    first, last = min(each.first_day for each in calls), max(each.last_day for each in calls)
    is_one = who != "Models" and len(calls) == 1
    verb = "was" if is_one else "were"
    who = who if is_one or who == "Models" else f"{who}s"
    when = f"on {first}" if first == last else f"between {first} and {last}"
    temperatures = _by_value(
        {each.name: each.temperatures for each in calls}, "its server's default"
    )
    limits = _by_value({each.name: each.limits for each in calls}, "as many as its server allows")
    prompts = _by_value({each.name: each.prompts for each in calls}, "none")
    served = [f"{each.name} is {listed(each.served_as)}" for each in calls if each.served_as]
    return [
        f"{who} {verb} asked {when}, at temperature {temperatures}; tokens of a reply: at most "
        f"{limits}; prompts: {prompts}.",
        *([f"By the names of their servers, {'; '.join(served)}."] if served else []),
    ]


def _imported(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the models whose predictions were imported; empty if there are none."""
    names = [row["label"].removeprefix(f"{FILE}:") for row in models if is_file(row["model"])]
    return [f"Predictions of {', '.join(names)} were imported from files."] if names else []


def _by_value(values: Mapping[str, Sequence[Any]], default: str) -> str:
    """Write the value that all models share, or each value with its models."""
    names: dict[str, list[str]] = {}
    for name, of_model in values.items():
        for value in of_model:
            shown = f"{value:g}" if isinstance(value, float | int) else value or default
            names.setdefault(shown, []).append(name)
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{value} ({', '.join(of)})" for value, of in names.items())


def _read(calls: EvaluationCalls) -> list[str]:
    """Describe how letters were extracted from answers; empty if no letters were."""
    n = sum(calls.readers.values())
    extractors = {name: count for name, count in calls.readers.items() if name != RULE}
    if not n:
        return []
    if not extractors:
        return [f"The letters of all {number_of(n, 'answer')} were read by rule."]
    by = listed([f"{count} by {name}" for name, count in extractors.items()])
    return [
        f"Letters of answers were read by rule; where no rule applied, a model read them: {by}, of "
        f"{number_of(n, 'answer')} in all."
    ]


def _scored(results: JudgeResults, averages: Mapping[MetricKey, str]) -> str:
    metric, aggregation = results.leading
    by = f"by the judge {results.judge} under the prompts {results.version}"
    if results.judge == RULE:
        by = f"by rule ({results.version})"
    elif results.judge == PANEL:
        by = f"by a panel of judges ({results.version})"
    averaged = averages.get(results.leading, f"{metric} ({aggregation})")
    return (
        f"Answers were scored {by}; a model's score is {averaged}. What it failed or cut off counts as "
        "the lowest value."
    )


def _intervals(results: JudgeResults) -> str:
    rows = (*results.models, *results.slices, *results.groups)
    methods = sorted({row["method"] for row in rows if row.get("method")})
    by = f" by the method{'s' * (len(methods) > 1)} {' and '.join(methods)}" if methods else ""
    return (
        f"Intervals are of 95 %{by}, over up to {results.n_clusters} clusters, which are items, or "
        "groups of items that belong together."
    )


def _compared(results: JudgeResults) -> list[str]:
    """Describe the tests between models and the adjustment of p; empty without comparisons."""
    pairs = [
        row for pair, row in results.pairs(results.leading).items() if all(map(is_model, pair))
    ]
    if not pairs:
        return []
    n = number_of(len(pairs), "pair")
    adjusted = "p is not adjusted, as there is one pair"
    if any(row["p_holm"] != row["p"] for row in pairs):
        adjusted = f"p is adjusted by Holm's method over the {n}"
    elif len(pairs) > 1:
        adjusted = f"Holm's adjustment over the {n} changes no p"
    methods = {row["method"] for row in pairs if row.get("method")}
    tests = sorted(methods - {PSEUDO_CLUSTERS})
    test = f"the test {' and '.join(tests)}" if tests else "one test"
    if PSEUDO_CLUSTERS in methods:
        test += f" ({PSEUDO_CLUSTERS}, where all differences are equal)"
    return [
        f"Every two models were compared on the units that both have ({n}) by {test}, which gives the "
        f"interval of the difference, too; {adjusted}. A difference counts where p after that is below "
        f"{COUNTS_BELOW:g}, and ranks follow from the differences that count."
    ]


def _unranked(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the models without a rank, and explain the marks at ranks."""
    unranked = [row["label"] for row in models if row["rank"] is None]
    verb = "has" if len(unranked) == 1 else "have"
    return [
        *([f"{listed(unranked)} {verb} no rank, as nothing was judged."] if unranked else []),
        *(f"Marked in the tables: {row['label']}: {row['mark']}" for row in models if row["mark"]),
    ]
