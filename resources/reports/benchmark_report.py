"""The report of a release with its leaderboards: one HTML page of the site without external files.

The same data gives the same page, byte for byte.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from methods.evaluation.candidates import BASELINE, MOCK_PROVIDERS, is_model
from methods.naming import number_of
from resources.files.atomic import write_atomically
from resources.files.home import relative_to_home
from resources.files.object_storage import shared_files
from resources.images.store import ImageStore
from resources.reports import report_blocks as block
from resources.reports.page import render_page
from resources.reports.report_answers import lengths, letters
from resources.reports.report_attribution import attribution
from resources.reports.report_examples import example
from resources.reports.report_extras import extra_sections
from resources.reports.report_input import Report, Row
from resources.reports.report_items import item_section
from resources.reports.report_languages import languages
from resources.reports.report_leaderboard import JudgePane, leaderboard, panes_of
from resources.reports.report_pairwise import pairwise
from resources.reports.report_prompt_sensitivity import prompt_sensitivity
from resources.reports.report_readings import readings
from resources.reports.report_scores import RULE
from resources.reports.report_shape import noun_of, shape
from resources.reports.report_trust import trust
from resources.web.addresses import items_page

READING = "What scores, intervals, ranks and comparisons mean"
_SECTIONS = {
    "readings": ("second_readings", "extraction_queue", "extraction_quality"),
    "languages": ("language_gaps",),
    "attribution": ("error_attribution",),
    "pairwise": ("pairs", "pair_ratings"),
    "prompt-sensitivity": ("prompt_sensitivity",),
    "trust": (
        "score_queue",
        "judge_agreement",
        "critic_pairs",
        "judge_quality",
        "judge_bias_tests",
    ),
    "items": (
        "flagged_items",
        "item_statistics",
        "smallest_subsets",
        "item_queue",
        "item_decisions",
    ),
}
"""Section -> the tables of the stage `evaluate` that only this section needs."""
_BY_MODEL = ("extraction_quality", "language_gaps", "prompt_sensitivity")
"""Analyses with one finding for each model: their model names are replaced by labels."""
_LEADERBOARD = "leaderboard"
"""The section for all steps that belong to no other section."""


def render_report(data: Report, image_store: ImageStore) -> str:
    """Render the page of one release, evaluated or not. A missing image gets a placeholder.

    Args:
        data: The data of the page.
        image_store: The image store.
    """
    panes = panes_of(data)
    parts = _linked_parts(panes)
    data = _labelled(data)
    release, benchmark = data["release"], data["benchmark"]
    noun = noun_of(release)
    item_analysis = item_section(data["item_analysis"], image_store)
    failures = _failures(data["failures"])
    order = [who.label for pane in panes[:1] for who in pane.order]
    sections = (
        leaderboard(data, panes),
        letters(data["choice"], order),
        readings(data),
        *(section.section(data, panes) for section in extra_sections()),
        languages(data),
        attribution(data["error_attribution"], data["attribution_terms"], panes),
        lengths(data["answer_lengths"], order),
        pairwise(data["pairwise"], noun),
        prompt_sensitivity(data, panes),
        trust(data),
        _template_section("items", "Items", _flagged(item_analysis) if item_analysis else ""),
        _template_section("reading", "How to read this", READING if panes else ""),
        shape(data),
        _template_section("failures", "Failures", _lost(failures) if panes or failures else ""),
        _template_section(
            "examples", "Examples", f"The first {number_of(len(data['examples']), noun)}"
        ),
    )
    return render_page(
        "report.html",
        nav_name="leaderboard",
        of_release=quote(release["release_id"]),
        release=release,
        noun=noun,
        benchmark=benchmark,
        panes=panes,
        rule=RULE,
        has_sides=len(panes) > 1,
        parts=parts,
        sections=sections,
        aggregations=sorted(
            {metric.aggregation for pane in panes for metric in pane.judged.shown_metrics}
        ),
        has_baselines=any(view.baselines for pane in panes for view in pane.views),
        has_ablations=any(view.ablations for pane in panes for view in pane.views),
        n_models=n_models(panes),
        n_unjudgeable=sum(map(is_model, data["unjudgeable"])),
        n_without_picture=data["n_without_picture"],
        not_made=_not_made(data["not_made"]),
        generated=data["generated"],
        mocked=_mocked(data),
        failures=failures,
        item_section=item_analysis,
        answers_held_out=data["answers_held_out"],
        examples=[
            example(number, item, benchmark and benchmark["grades"][1], image_store)
            for number, item in enumerate(data["examples"], start=1)
        ],
    )


def _linked_parts(panes: Sequence[JudgePane]) -> list[tuple[str, str]]:
    """Return (anchor, title) of the parts below the first judge's leaderboards for the contents."""
    titles = {"abilities-0": "Abilities", "groups-0": "Groups of models"}
    parts = [part for pane in panes[:1] for part in pane.parts]
    return [
        (part.id, titles[part.id])
        for part in parts
        if isinstance(part, block.FoldedBlocks) and part.id in titles
    ]


def _labelled(data: Report) -> Report:
    """Replace the names of models by their labels in all data that sections show unchanged."""
    labels = {row["model"]: row["label"] for row in data["scores"]}

    def of_rows(rows: Sequence[Row]) -> list[Row]:
        return [
            {
                **row,
                **{
                    name: labels.get(row[name], row[name])
                    for name in ("model", "opponent", "subject", "asked")
                    # `asked` is the model itself, a judge or an extractor.
                    if row.get(name) and (name != "asked" or row["asked"] == row["model"])
                },
            }
            for row in rows
        ]

    def of_keys(values: Mapping[str, Any]) -> dict[str, Any]:
        return {labels.get(name, name): value for name, value in values.items()}

    choice, findings = data["choice"], data["findings"]
    return {
        **data,
        "choice": choice
        and {
            **choice,
            "shares": of_keys(choice["shares"]),
            "circular_shares": of_keys(choice["circular_shares"]),
            "passes": of_keys(choice["passes"]),
        },
        "answer_lengths": of_rows(data["answer_lengths"]),
        "pairwise": {
            **data["pairwise"],
            "ratings": of_rows(data["pairwise"]["ratings"]),
            "shares": of_rows(data["pairwise"]["shares"]),
        },
        "widest_groups": of_rows(data["widest_groups"]),
        "findings": {
            name: of_rows(rows) if name in _BY_MODEL else rows for name, rows in findings.items()
        },
        "failures": of_rows([{**row, "items": _items_of(row, data)} for row in data["failures"]]),
        "missing": of_rows(data["missing"]),
        "examples": [
            {
                **example,
                "turns": [
                    {**turn, "answers": of_rows(turn["answers"])} for turn in example["turns"]
                ],
            }
            for example in data["examples"]
        ],
    }


def _items_of(failure: Row, data: Report) -> str:
    """Link to the items without an answer of a model, or to an item without a judgment; to all items
    if the references are held out.
    """
    release_id = data["release"]["release_id"]
    if data["answers_held_out"]:
        return items_page(release_id)
    if failure["stage"] == "answers":
        return items_page(release_id, outcome="lost", **{"outcome.of": failure["model"]})
    return items_page(release_id, item=failure["item_id"])


def _template_section(name: str, title: str, finding: str) -> block.Section:
    """Make a section from the template of this name. The section is left out if `finding` is empty."""
    template = f"report_{name}.html" if finding else ""
    return block.Section(name, title, template=template, finding=finding)


def _flagged(items: Mapping[str, Any]) -> str:
    return f"{items['n_flagged'] or 'None'} of {number_of(items['n_items'], 'item')} flagged"


def _lost(failures: Sequence[tuple[str, int, list[Row]]]) -> str:
    n = sum(total for _, total, _ in failures)
    if not n:
        return "Every turn of every model has an answer and a judgment"
    return f"{number_of(n, 'turn')} lost, most often by {failures[0][0]}"


def n_models(panes: Sequence[JudgePane]) -> int:
    """Count the models on the leaderboards, without baselines and ablations."""
    candidates = {who for pane in panes for who in pane.judged.candidates}
    return len({who.name for who in candidates if who.is_model})


def write_report(path: Path, html: str) -> str:
    """Write a page atomically, and also to the shared file storage if there is one.

    Args:
        path: The path of the file.
        html: The page.

    Returns:
        The SHA-256 of the file.
    """
    content = html.encode()
    write_atomically(path, content)
    if shared := shared_files():
        shared.put(relative_to_home(path), content)
    return hashlib.sha256(content).hexdigest()


def _mocked(data: Report) -> str | None:
    """Name the parts of the page that the mock model server made; None if there are none."""
    parts = []
    if not MOCK_PROVIDERS.isdisjoint(data["release"]["provider"].lower().split(", ")):
        parts += ["questions", "references"]
    providers = {row["provider"].lower() for row in data["scores"]} - {BASELINE}
    if providers and all(
        set(provider.split(" + ")) <= {*MOCK_PROVIDERS, BASELINE} for provider in providers
    ):
        parts += ["answers", "judgments"]
    elif any(not MOCK_PROVIDERS.isdisjoint(provider.split(" + ")) for provider in providers):
        # The column has the providers of answers and judgments together: either may be the mock.
        parts += ["some of the answers or judgments"]
    # Reads as a list in words: "a, b and c".
    return " and ".join(", ".join(parts).rsplit(", ", 1)).capitalize() or None


def _not_made(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group the outputs that steps did not make, with their reasons, by the section that needs them."""
    sections = {**_SECTIONS, **{section.id: section.steps for section in extra_sections()}}
    section_of = {
        f"evaluate.{name}": section for section, names in sections.items() for name in names
    }
    by_section: dict[str, list[Row]] = {_LEADERBOARD: [], **{section: [] for section in sections}}
    for row in rows:
        by_section[section_of.get(row["step"], _LEADERBOARD)].append(row)
    return by_section


def _failures(rows: Sequence[Row]) -> list[tuple[str, int, list[Row]]]:
    """Return (reason, number of failures, rows of the reason), the most frequent reason first."""
    totals: Counter[str] = Counter()
    for row in rows:
        totals[row["reason"]] += row["n"]
    ordered = sorted(
        rows, key=lambda r: (-totals[r["reason"]], r["reason"], r["stage"], -r["n"], r["model"])
    )
    return [
        (reason, totals[reason], list(group))
        for reason, group in groupby(ordered, key=lambda row: row["reason"])
    ]
