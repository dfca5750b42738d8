"""The report of a release: one HTML file that loads nothing.

What belongs here: what the page consists of, and the writing of the file. Its sections are the modules
`report_*.py` beside this one, the page is `templates/report.html`, the data are gathered by
`assets/evaluate/report_data.py`. The same data gives the same page, byte for byte.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from methods.evaluation.contestants import BASELINE, is_model
from resources.atomic_file import write_atomically
from resources.images.store import ImageStore
from resources.reports.page import render
from resources.reports.report_attribution import attributions_of
from resources.reports.report_board import Pane, panes_of, side_by_side
from resources.reports.report_examples import example
from resources.reports.report_extras import extra_sections
from resources.reports.report_items import item_section
from resources.reports.report_languages import languages
from resources.reports.report_lengths import lengths_of
from resources.reports.report_letters import letters_of
from resources.reports.report_pairwise import pairwise_of
from resources.reports.report_readings import readings
from resources.reports.report_scores import PANEL, RULE
from resources.reports.report_shape import (
    card,
    category_chart,
    histogram_chart,
    noun_of,
    share_chart,
)
from resources.reports.report_trust import trust
from resources.reports.report_wordings import wordings

_OFFLINE = "offline"
_SECTIONS = {
    "readings": ("second_readings", "extraction_queue", "extraction_quality"),
    "languages": ("language_gaps",),
    "attribution": ("error_attribution",),
    "pairwise": ("pairs", "pair_ratings"),
    "wordings": ("wording_effects",),
    "trust": ("score_queue", "judge_agreement", "critic_pairs", "judge_quality", "judge_probes"),
    "items": (
        *("flagged_items", "item_statistics", "smallest_subsets", "item_queue", "item_decisions"),
    ),
}
"""Section -> the tables of the stage that it shows, or rests on alone."""
_LEADERBOARD = "leaderboard"
"""The section that rests on all others."""


def render_report(data: Mapping[str, Any], image_store: ImageStore) -> str:
    """The page of one release, evaluated or not.

    `data` is plain:

    - `release`: its row of `release.releases`, and `in_force`; `generated`: when the page is made
    - `benchmark`: None, or `name`, `metrics` (rows of `name`, `aggregation`, the ends `low` and `high`
      of the shown scale, None where there is none, `higher_is_better`, `inverse`,
      `refusals_are_right`), `grades` (lowest and highest grade of a judge), `overall` (what a
      judge's grade is of), `by_rule` and `abilities` (labels, the coarsest first)
    - `judges`: the profile's, in order; `families`: model -> family
    - `scores`, `ranks`, `comparisons`, `ability_comparisons`, `missing`, `not_made`, `failures`: rows
      of the tables of these names; `above`: finest ability -> the one that it is part of;
      `unscored`: models of the profile without scores; `unjudgeable`: contestants that answered where
      the release has no reference
    - `of_extras`: rows of tables that extras have, by table
    - `findings`: rows of `evaluate.findings` by analysis, also where another release is compared with
      this one; `languages`: those of the releases that are compared
    - `error_attribution`: rows of the table of this name, none where no turns are given;
      `attribution_terms`: what they name, in words and in order (`methods/convbench/attribution.py`)
    - `answer_lengths`: rows of `methods/evaluation/answer_lengths.py`, none without references
    - `pairwise`: `designs`, `ratings`, `biases` (rows of `evaluate.pair_*`), `counts` and `shares` of
      comparisons; none where no answers were compared
    - `widest_groups`: wordings of the groups whose ratings differ most, with `text`, `styles`, `value`
      and calls
    - `judge_probes`: rows of the table of this name
    - `distributions`, `shares` (`methods/release_statistics.py`); `page_categories`: rows of `category`
      and `n`
    - `choice`: None, or of multiple choice `letters`, `keys`, `n_held_out`, `shares` and `passes`
      (`methods/choice`, `letter_shares.py` and `passes.py`)
    - `item_analysis`: None, or `filters`, `statistics`, `flagged`, `subsets`
      (`assets/evaluate/item_report_data.py`)
    - `examples`: items with images, choices, turns, references, answers and judgments

    An image that is not stored is shown as missing.
    """
    panes = panes_of(data)
    release, benchmark = data["release"], data["benchmark"]
    sections = (readings(data), languages(data), wordings(data, panes), trust(data))
    charts = [
        *map(histogram_chart, data["distributions"]),
        *map(share_chart, data["shares"]),
        category_chart(data["page_categories"], release["n_images"]),
    ]
    return render(
        "report.html",
        release=release,
        noun=noun_of(release),
        card=card(release),
        benchmark=benchmark,
        panes=panes,
        panel=PANEL,
        rule=RULE,
        sides=side_by_side(panes),
        of_extras=[(each, each.html(data, panes)) for each in extra_sections()],
        attributions=attributions_of(data, panes),
        lengths=lengths_of(data, panes),
        pairwise=pairwise_of(data),
        sections={each.id: each for each in sections},
        aggregations=sorted(
            {metric.aggregation for pane in panes for metric in pane.judged.metrics}
        ),
        has_baselines=any(view.baselines for pane in panes for view in pane.views),
        has_ablations=any(view.ablations for pane in panes for view in pane.views),
        n_models=n_models(panes),
        n_unjudgeable=sum(map(is_model, data["unjudgeable"])),
        letters=letters_of(data["choice"], [who.name for pane in panes[:1] for who in pane.order]),
        missing=data["missing"],
        not_made=_not_made(data["not_made"]),
        unscored=data["unscored"],
        generated=data["generated"],
        offline=_offline(data),
        failures=_failures(data["failures"]),
        item_section=item_section(data["item_analysis"], image_store),
        charts=[chart for chart in charts if chart],
        examples=[
            example(number, item, benchmark and benchmark["grades"][1], image_store)
            for number, item in enumerate(data["examples"], start=1)
        ],
    )


def n_models(panes: Sequence[Pane]) -> int:
    """Models on the leaderboards, without what stands beside them."""
    contestants = {who for pane in panes for who in pane.judged.contestants}
    return len({who.name for who in contestants if who.is_model})


def write_report(path: Path, html: str) -> str:
    """Write the page, whole or not at all, and return the SHA-256 of the file."""
    content = html.encode()
    write_atomically(path, content)
    return hashlib.sha256(content).hexdigest()


def _offline(data: Mapping[str, Any]) -> str | None:
    """The parts of the page that the offline model server made, in words, or None."""
    made = []
    if _OFFLINE in data["release"]["provider"].lower():
        made += ["questions", "references"]
    providers = {row["provider"].lower() for row in data["scores"]} - {BASELINE}
    if providers and all(set(each.split(" + ")) <= {_OFFLINE, BASELINE} for each in providers):
        made += ["answers", "judgments"]
    elif any(_OFFLINE in provider for provider in providers):
        # Only the names of those who took part are known, not who did what.
        made += ["some of the answers or judgments"]
    # Reads as a list in words: "a, b and c".
    return " and ".join(", ".join(made).rsplit(", ", 1)).capitalize() or None


def _not_made(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """What steps did not make of the release, and why, by the section where it would stand."""
    sections = {**_SECTIONS, **{each.id: each.steps for each in extra_sections()}}
    section_of = {f"evaluate.{name}": of for of, names in sections.items() for name in names}
    found: dict[str, list[Mapping[str, Any]]] = {_LEADERBOARD: [], **{of: [] for of in sections}}
    for row in rows:
        found[section_of.get(row["step"], _LEADERBOARD)].append(row)
    return found


def _failures(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, list[Mapping[str, Any]]]]:
    """(reason, how often, its rows), the most frequent reason first."""
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
