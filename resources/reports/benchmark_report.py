"""The report of a release: one HTML file that loads nothing.

What belongs here: from the release's rows to what the page shows (order, shares, links that may be
followed, text with its image tokens found) and the writing of the file. What does not: the page
(`templates/report.html`), its plots (`resources/reports/score_plots.py`), the queries
(`assets/evaluate/leaderboard.py`). The same data gives the same page, byte for byte.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from methods.evaluation.clustered_mean import AGGREGATIONS
from methods.mmdu.judging import DIMENSIONS, HIGHEST, OVERALL
from methods.prompts.messages import IMAGE_HERE
from methods.review import POLICY_PREFIX
from resources.atomic_file import write_atomically
from resources.images.store import ImageNotStored, ImageStore
from resources.reports.estimate import Estimate
from resources.reports.score_plots import counts_plot, scores_plot, summary

THUMBNAIL_SIDE = 208
"""Pixels; shown at half the size, so that they are sharp on fine screens and on paper."""

_PARTS = tuple(name for name in DIMENSIONS if name != OVERALL)
_SHORT = {
    "Visual Perception": "Perception",
    "Logical Coherence": "Coherence",
    "Answer Accuracy": "Accuracy",
    "Image Relationship Understanding": "Relations",
}
_UNITS = (("turns", "dialogues"), ("images", "dialogues"), ("words", "answers"))
"""Of each of the release's histograms: what is counted, and in what."""
_OFFLINE = "offline"
_TOKEN = re.compile(rf"({re.escape(IMAGE_HERE)})|<image-([0-9]{{1,3}})>", re.IGNORECASE)

# autoescape is on for everything: nearly all of the page's text comes from outside.
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class Entry(NamedTuple):
    """One line of the leaderboard, under one way of averaging."""

    rank: int | None
    model: str
    judge: str | None
    overall: Estimate
    dimensions: list[Estimate]
    other_overall: Estimate
    counts: Mapping[str, Any]


class View(NamedTuple):
    """The leaderboard under one way of averaging, with its plot; `other` names the remaining one."""

    key: str
    name: str
    other: str
    entries: list[Entry]
    plot: str | None


def render_report(data: Mapping[str, Any], image_store: ImageStore) -> str:
    """The page for one release: leaderboard, charts, failures and example dialogues.

    `data` has `release`, `judge`, `generated`, `scores`, `failures`, `statistics` and `items` as
    `assets/evaluate/leaderboard.py` gathers them. An image that is not stored is shown as missing.
    """
    statistics = data["statistics"]
    counted = {
        "Turns per dialogue": statistics["turns_per_dialogue"],
        "Images per dialogue": statistics["images_per_dialogue"],
        "Words per reference answer": statistics["answer_words"],
    }
    return _ENVIRONMENT.get_template("report.html").render(
        release=data["release"],
        judge=data["judge"],
        generated=data["generated"],
        offline=_offline(data),
        dimensions=[(name, _SHORT.get(name, name)) for name in _PARTS],
        views=[_view(data["scores"], aggregation) for aggregation in AGGREGATIONS],
        failures=_failures(data["failures"]),
        counts=[(title, summary(values)) for title, values in counted.items()],
        counts_plot=counts_plot(counted, _UNITS),
        best_grade=HIGHEST,
        examples=[_example(n, item, image_store) for n, item in enumerate(data["items"], start=1)],
    )


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
    providers = {row["provider"].lower() for row in data["scores"]}
    if providers == {_OFFLINE}:
        made += ["answers", "judgments"]
    elif any(_OFFLINE in provider for provider in providers):
        # Only the names of those who took part are known, not who did what.
        made += ["some of the answers or judgments"]
    # Reads as a list in words: "a, b and c".
    return " and ".join(", ".join(made).rsplit(", ", 1)).capitalize() or None


def _view(rows: Sequence[Mapping[str, Any]], aggregation: str) -> View:
    """The leaderboard sorted by the overall mean under `aggregation`, models without one last."""
    (other,) = (name for name in AGGREGATIONS if name != aggregation)
    several_judges = len({row["judge"] for row in rows}) > 1
    entrants: dict[tuple[str, str], dict[tuple[str, str], Mapping[str, Any]]] = {}
    for row in rows:
        metrics = entrants.setdefault((row["model"], row["judge"]), {})
        metrics[row["dimension"], row["aggregation"]] = row
    entries = [
        Entry(
            rank=None,
            model=model,
            judge=judge if several_judges else None,
            overall=_estimate(metrics.get((OVERALL, aggregation))),
            dimensions=[_estimate(metrics.get((name, aggregation))) for name in _PARTS],
            other_overall=_estimate(metrics.get((OVERALL, other))),
            # The counts are of turns, whatever the dimension: every row of a model has the same.
            counts=next(iter(metrics.values())),
        )
        for (model, judge), metrics in sorted(entrants.items())
    ]
    entries.sort(key=lambda entry: (entry.overall.value is None, -(entry.overall.value or 0)))
    # Equal means share a rank: one more than the number of models before the first of them.
    values = [entry.overall.value for entry in entries]
    ranked = [
        entry._replace(rank=None if value is None else values.index(value) + 1)
        for entry, value in zip(entries, values, strict=True)
    ]
    name, name_of_other = (f"{key.capitalize()} mean" for key in (aggregation, other))
    means = {
        f"{entry.model}, judge {entry.judge}" if entry.judge else entry.model: [
            entry.overall,
            *entry.dimensions,
        ]
        for entry in ranked
    }
    plot = scores_plot(means, ["Overall", *(_SHORT.get(part, part) for part in _PARTS)])
    return View(aggregation, name, name_of_other, ranked, plot)


def _estimate(row: Mapping[str, Any] | None) -> Estimate:
    return Estimate(row["value"], row["ci_low"], row["ci_high"]) if row else Estimate()


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


def _example(number: int, item: Mapping[str, Any], image_store: ImageStore) -> dict[str, Any]:
    return {
        **item,
        "anchor": f"dialogue-{number}",
        "reviewers": [_reviewer(name) for name in item["reviewers"]],
        "images": [
            {**image, "source": _source(image["image_id"], image_store), "link": _link(image)}
            for image in item["images"]
        ],
        "turns": [
            {
                **turn,
                "question": _pieces(turn["question"], turn["image_positions"]),
                "reference": _pieces(turn["reference"]),
                "answers": [
                    {**answer, "pieces": _pieces(answer["answer"] or "")}
                    for answer in turn["answers"]
                ],
            }
            for turn in item["turns"]
        ],
    }


def _reviewer(name: str) -> str:
    # A policy that stood in for a person must not read like a person's name.
    policy = name.removeprefix(POLICY_PREFIX)
    return name if policy == name else f"no person (policy “{policy}”)"


def _source(image_id: str, image_store: ImageStore) -> str | None:
    try:
        thumbnail = image_store.thumbnail(image_id, THUMBNAIL_SIDE)
    except ImageNotStored:
        return None
    return f"data:image/jpeg;base64,{base64.b64encode(thumbnail).decode()}"


def _link(image: Mapping[str, Any]) -> str | None:
    """The image's page where it is a web page: an address from outside may also be a script."""
    url = image["page_url"] or ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def _pieces(text: str, positions: Sequence[int] = ()) -> list[tuple[str, str | int | None]]:
    """`text` cut at its image tokens: ("text", str), ("entry", number or None), ("image", number).

    The i-th `<ImageHere>` is the i-th of `positions`.
    """
    entering = iter(positions)
    pieces: list[tuple[str, str | int | None]] = []
    end = 0
    for token in _TOKEN.finditer(text):
        pieces.append(("text", text[end : token.start()]))
        pieces.append(("entry", next(entering, None)) if token[1] else ("image", int(token[2])))
        end = token.end()
    return [*pieces, ("text", text[end:])]
