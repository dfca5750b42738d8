"""Data of a release's HTML report: rows of tables as plain data."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from assets.common.table_rows import map_of, rows_by
from assets.evaluate.archive import archived_models
from assets.evaluate.item_report_data import item_report_data
from assets.evaluate.observed import answer_lengths
from assets.release.card import project_version
from methods.benchmarks import Benchmarks
from methods.choice.letter_shares import circular_passes, keys_of, letter_shares, letters_offered
from methods.choice.lettered import SHIFT, key_of
from methods.choice.passes import QuestionPasses, pass_counts, passes_by_item
from methods.convbench.attribution import TERMS
from methods.evaluation.answer_lengths import length_rows
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.candidates import model_of
from methods.evaluation.items import Item
from methods.evaluation.metrics import Metric
from methods.evaluation.prompt_sensitivity import groups_of, styles_of, text_of
from methods.evaluation.slices import abilities_above
from methods.release import Rows, exported_rows, held_out
from methods.release_card import card_of, edition_of
from methods.release_items import items_of_release
from methods.release_statistics import distributions
from methods.results.methods_paragraph import EvaluationCalls
from methods.results.results_table import GROUP_ANALYSES
from resources.llm.estimate import text_tokens
from resources.llm.registry import Profile
from resources.publishing.release_counts import release_counts
from resources.publishing.releases import rows_of_release
from resources.reports.report_extras import extra_sections
from resources.reports.report_input import (
    LeaderboardInput,
    MultipleChoiceInput,
    Report,
    ReportBenchmark,
)
from resources.warehouse import Warehouse

SEED = 0
"""Seed of the resampling: the same answers give the same page."""


def choice_data(
    warehouse: Warehouse, benchmark: Benchmark | None, items: Sequence[Item], release_id: str
) -> MultipleChoiceInput | None:
    """Read the letters that each model chose, and its passes (rotations of the choices).

    Baselines are left out.

    Args:
        warehouse: The tables.
        benchmark: The benchmark of the release, if it is known.
        items: The items of the release.
        release_id: The release.

    Returns:
        The data, or None if no item has choices or no model has answered.
    """
    if not any(item.choices for item in items):
        return None
    readings: dict[str, dict[str, str | None]] = {}
    circular: dict[str, dict[str, str | None]] = {}
    passes_of: dict[str, dict[str, QuestionPasses]] = {}
    for row in warehouse.read("evaluate/first_readings_of", {"release_id": release_id}).to_pylist():
        model, item_id = row["model"], row["item_id"]
        if model_of(model) is not None:
            readings.setdefault(model, {})[item_id] = row["reading"]
            circular.setdefault(model, {}).update(
                (f"{item_id} {circular_pass['trial']}", circular_pass["reading"])
                for circular_pass in row["passes"] or ()
                if circular_pass["trial"].startswith(SHIFT)
            )
            passes_of.setdefault(model, {})[item_id] = QuestionPasses(row["n_asked"], row["lost"])
    if not readings:
        return None
    n_passes = passes_by_item(items, benchmark.metrics if benchmark else ())
    several = any(n > 1 for n in n_passes.values())
    return {
        "letters": letters_offered(items),
        "keys": keys_of(items),
        "n_held_out": sum(key_of(item) is None for item in items),
        "shares": letter_shares(items, readings, seed=SEED),
        "circular_shares": letter_shares(circular_passes(items), circular, seed=SEED)
        if any(circular.values())
        else {},
        "passes": pass_counts(n_passes, passes_of) if several else {},
    }


Row = dict[str, Any]
N_EXAMPLES = 5
N_CATEGORIES = 20
N_GROUPS = 3
ORDERS = {
    "ability_comparisons": "judge, judge_version, subset_label, subset_value, first, second",
    "constant_judges": "judge, judge_version",
    "error_attribution": "judge, judge_version, change, before_dimension, dimension, subset_label, "
    "subset_value, model",
    "judge_bias_tests": "judge, judge_version, bias_test",
    "pair_designs": "ALL",
    "pair_ratings": "ALL",
    "pair_biases": "ALL",
}
"""Order of each table that the report shows without a query of its own."""
SECTIONS = (
    *("failures", "findings"),
    *("error_attribution", "judge_bias_tests", "page_categories"),
    *("pair_designs", "pair_ratings", "pair_biases", "pair_counts", "pair_shares"),
)
"""Tables and queries that the report shows in addition to the leaderboard."""


def report_data(
    warehouse: Warehouse,
    benchmarks: Benchmarks,
    release: Row,
    profile: Profile,
    families: Mapping[str, str],
    calls: EvaluationCalls,
) -> Report:
    """Read the data of a release's report.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks.
        release: The release's row with `is_current`.
        profile: The profile of models.yaml.
        families: The family of each model in models.yaml.
        calls: The calls behind the scores.

    Returns:
        The data.
    """
    where = {"release_id": release["release_id"]}
    rows = rows_of_release(warehouse, release["release_id"])
    items = items_of_release(rows)
    # Reports may be published, so they show no held-out references, and nothing of a single item that
    # tells them: answers of models, and whether they are right.
    edition = edition_of(card_of(release))
    hidden, shown = held_out(edition), exported_rows(rows, edition)
    benchmark = benchmarks.get(release["benchmark"])
    orders = {table: order for section in extra_sections() for table, order in section.rows.items()}
    tables = _read(
        warehouse, (*SECTIONS, *orders), {**where, "n_categories": N_CATEGORIES}, ORDERS | orders
    )
    by_analysis: dict[str, list[Row]] = {}
    for row in tables["findings"]:
        by_analysis.setdefault(row["analysis"], []).append(row)
    return {
        **board_data(warehouse, benchmarks, release, profile, families),
        "calls": calls,
        "version": project_version(),
        "choice": choice_data(warehouse, benchmark, items, release["release_id"]),
        "above": abilities_above(items, benchmark.abilities if benchmark else ()),
        "failures": tables["failures"],
        "error_attribution": tables["error_attribution"],
        "judge_bias_tests": tables["judge_bias_tests"],
        "page_categories": tables["page_categories"],
        "of_extras": {table: tables[table] for table in orders},
        "findings": by_analysis,
        "languages": _languages(warehouse, by_analysis.get("language_gaps", [])),
        "attribution_terms": TERMS,
        "pairwise": {
            "designs": tables["pair_designs"],
            "ratings": tables["pair_ratings"],
            "biases": tables["pair_biases"],
            "counts": tables["pair_counts"],
            "shares": tables["pair_shares"],
        },
        "answer_lengths": length_rows(items, answer_lengths(warehouse, release["release_id"])),
        "widest_groups": _widest_groups(warehouse, benchmark, items, where),
        "distributions": distributions(items, text_tokens),
        "shares": release_counts(warehouse, release["release_id"], items),
        "answers_held_out": hidden,
        "item_analysis": None
        if hidden
        else item_report_data(warehouse, release["release_id"], items),
        "examples": _examples(warehouse, where, shown, items[:N_EXAMPLES], profile, hidden),
    }


def board_data(
    warehouse: Warehouse,
    benchmarks: Benchmarks,
    release: Row,
    profile: Profile,
    families: Mapping[str, str],
) -> LeaderboardInput:
    """Read the part of a report's data that the leaderboard and the index need.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks.
        release: The release's row with `is_current`.
        profile: The profile of models.yaml.
        families: The family of each model in models.yaml.

    Returns:
        The data.
    """
    release_id = release["release_id"]
    with warehouse.kept_open():
        tables = _read(
            warehouse,
            ("results", "ability_comparisons", "constant_judges", "unjudgeable"),
            {"release_id": release_id},
        )
        comparisons = warehouse.select(
            "evaluate.comparisons",
            order="judge, judge_version, metric, aggregation, first, second",
            release_id=release_id,
            form="floor",
        )
        groups = warehouse.select(
            "evaluate.findings",
            order="analysis, place",
            release_id=release_id,
            analysis=GROUP_ANALYSES,
        )
        training = warehouse.select("evaluate.training_effects", release_id=release_id)
        missing = warehouse.select(
            "evaluate.shown_missing", order="model, stage", release_id=release_id
        )
        without_picture = warehouse.select(
            "evaluate.observations",
            "item_id",
            distinct=True,
            release_id=release_id,
            status="no_picture",
        )
        not_made = warehouse.select(
            "evaluate.not_made", order="step, release_id", release_id=[release_id, ""]
        )
    benchmark = benchmarks.get(release["benchmark"])
    scores = tables["results"]
    scored = {row["model"] for row in scores}
    archived = archived_models(warehouse, release_id)
    return {
        "release": release,
        "benchmark": _benchmark(benchmark) if benchmark else None,
        "generated": datetime.now(UTC).isoformat(timespec="seconds"),
        "judges": profile.judges,
        "families": families,
        "scores": scores,
        "constant_judges": tables["constant_judges"],
        "comparisons": comparisons.to_pylist(),
        "ability_comparisons": tables["ability_comparisons"],
        "groups": groups.to_pylist(),
        "training": training.to_pylist(),
        "above": {},
        "missing": missing.to_pylist(),
        "not_made": not_made.to_pylist(),
        "unscored": [m for m in profile.evaluate if m not in scored | archived] if scores else [],
        "unjudgeable": [row["model"] for row in tables["unjudgeable"]],
        "n_without_picture": len(without_picture),
    }


def _read(
    warehouse: Warehouse,
    names: Sequence[str],
    params: Mapping[str, object],
    orders: Mapping[str, str] = ORDERS,
) -> dict[str, list[Row]]:
    """Read rows by name from one snapshot: of a table if the name is in `orders`, else of the query
    `evaluate/<name>_of`.
    """
    queries = [name for name in names if name not in orders]
    with warehouse.kept_open():
        tables = {
            name: warehouse.select(
                f"evaluate.{name}", order=orders[name], release_id=str(params["release_id"])
            ).to_pylist()
            for name in names
            if name in orders
        }
        return {**tables, **warehouse.read_rows("evaluate/{}_of", queries, params)}


def _languages(warehouse: Warehouse, gaps: Iterable[Row]) -> dict[str, str]:
    """Return the language of each release that the language gaps compare."""
    compared = {row[name] for row in gaps for name in ("release_id", "other")}
    if not compared:
        return {}
    rows = warehouse.read("release/named", {"release_ids": sorted(compared)}).to_pylist()
    return {row["release_id"]: row["language"] for row in rows}


def _widest_groups(
    warehouse: Warehouse, benchmark: Benchmark | None, items: Sequence[Item], where: Row
) -> list[Row]:
    """Return the groups of paraphrased questions with the largest spread of ratings, with texts and
    styles.
    """
    groups = groups_of(items)
    metric = (
        next((metric for metric in benchmark.metrics if metric.aggregation == "micro"), None)
        if benchmark
        else None
    )
    if metric is None or not groups:
        return []
    observation = getattr(metric, "observation", None) or metric.name
    parameters = {**where, "n_groups": N_GROUPS, "metric": observation}
    widest: list[Row] = warehouse.read("evaluate/widest_groups_of", parameters).to_pylist()
    texts = {item.item_id: text_of(item) for group in groups.values() for item in group}
    styles = {row["group_id"]: styles_of(groups[row["group_id"]]) for row in widest}
    for row in widest:
        row["text"] = texts[row["item_id"]]
        row["styles"] = styles[row["group_id"]][row["item_id"]]
    return widest


def _benchmark(benchmark: Benchmark) -> ReportBenchmark:
    return {
        "name": benchmark.name,
        "abilities": list(benchmark.abilities),
        "label_metrics": benchmark.label_metrics,
        "by_rule": not benchmark.judge_prompts,
        "grades": benchmark.score_range,
        "overall": benchmark.dimensions[-1],
        "metrics": [metric_row(metric) for metric in benchmark.metrics],
    }


def metric_row(metric: Metric) -> Row:
    """Return a metric's row for a page; `low` and `high` are None if its scale has no ends."""
    low, high = metric.shown_ends
    return {
        "name": metric.name,
        "in_words": metric.in_words,
        "decimals": metric.decimals,
        "aggregation": metric.aggregation,
        "low": low,
        "high": high,
        "higher_is_better": metric.higher_is_better,
        "inverse": metric.inverse,
        "refusals_are_right": metric.refusals_are_right,
    }


def _examples(
    warehouse: Warehouse,
    where: Row,
    released: Rows,
    items: Sequence[Item],
    profile: Profile,
    hidden: bool,
) -> list[Row]:
    """Return example items with their turns and images, and unless `hidden` answers and judgments."""
    rows = {row["item_id"]: row for row in released["items"]}
    turns, images = (rows_by(released[table], "item_id") for table in ("turns", "images"))
    references = rows_by(released["references"], "item_id", "turn")
    first = {**where, "n_items": len(items)}
    answers = [] if hidden else _judged_answers(warehouse, first, profile)
    answered = rows_by(answers, "item_id", "turn")
    return [
        {
            **{name: rows[item.item_id][name] for name in ("item_id", "reviewers", "revision")},
            "labels": dict(item.labels),
            "choices": list(item.choices),
            "images": images.get((item.item_id,), []),
            "turns": [
                {
                    **turn,
                    "references": references.get((item.item_id, turn["turn"]), []),
                    "answers": answered.get((item.item_id, turn["turn"]), []),
                }
                for turn in turns[item.item_id,]
            ],
        }
        for item in items
    ]


def _judged_answers(warehouse: Warehouse, first: Row, profile: Profile) -> list[Row]:
    """Return the answers on the first items, each with its judgments in the order of the judges."""
    tables = warehouse.read_rows(
        "evaluate/{}_of", ("example_answers", "example_judgments", "example_rules"), first
    )
    judged = [*tables["example_judgments"], *tables["example_rules"]]
    for row in judged:
        row["scores"] = map_of(row["scores"])
    places = {judge: place for place, judge in enumerate(profile.judges)}
    judged.sort(key=lambda row: places.get(row["judge"], len(places)))
    judgments = rows_by(judged, "item_id", "turn", "model", "trial")
    return [
        {
            **row,
            "judgments": judgments.get(
                (row["item_id"], row["turn"], row["model"], row["trial"]), []
            ),
        }
        for row in tables["example_answers"]
    ]
