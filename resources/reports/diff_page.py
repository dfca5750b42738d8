"""The diff page: two releases side by side, as one HTML page of the site without external files."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from methods.evaluation.common_items import CommonScore
from methods.evaluation.judging import PANEL, RULE
from methods.evaluation.metrics import Metric
from methods.release import held_out
from methods.release_card import Card, edition_of
from methods.release_diff import ContentChange, ItemChange, ReleaseContents, ReleaseDifference
from methods.release_diff_text import CommonScores, score, why_nothing_common
from methods.review.differences import word_differences
from resources.files.home import reports_path
from resources.images.store import ImageStore
from resources.reports.estimate import Scale
from resources.reports.figures import cut
from resources.reports.page import render_page
from resources.reports.report_examples import source_of
from resources.web.addresses import items_page

FOLDER = "diff"
"""The subfolder of the reports folder; a page is `diff/<first>/<second>.html`."""
ROOT = "../../"
"""The relative path from a diff page to the reports folder."""
MAX_ITEMS = 50
"""The page lists at most this many items. The counts are of all items."""
MAX_CHARACTERS = 1500
"""The page cuts longer texts to this many characters."""
MAX_OPENING = 140
MAX_IMAGES = 20
"""The page shows at most this many images of a change on each side."""


class ScoreDifference(NamedTuple):
    """The scores of a model before and after on common items; `interval` belongs to the difference."""

    before: str
    after: str
    difference: str
    interval: str
    verdict: str


class LeaderboardDifference(NamedTuple):
    """The score differences of all models under one version of one judge, for each metric.

    `metrics` starts with the metrics that are aggregated like the ranking metric; then follow the other
    aggregations of the ranking metric. `label` includes the version if the judge has several. `repeats`
    is True if both releases reuse the same model calls.
    """

    label: str
    title: str
    version: str
    metrics: list[str]
    lines: list[tuple[CommonScores, list[ScoreDifference | None]]]
    repeats: bool


def page_of(first_id: str, second_id: str) -> Path:
    """Return the path of the page of a comparison.

    Args:
        first_id: The first release.
        second_id: The second release.
    """
    return reports_path() / FOLDER / first_id / f"{second_id}.html"


def diff_link(first_id: str, second_id: str) -> str:
    """Return the link from the index of reports to a comparison.

    Args:
        first_id: The first release.
        second_id: The second release.
    """
    return f"{FOLDER}/{quote(first_id)}/{quote(second_id)}.html"


def diff_pages() -> list[tuple[str, str]]:
    """Return the ids (first, second) of the releases of each comparison that has a page."""
    pages = sorted((reports_path() / FOLDER).glob("*/*.html"))
    return [(page.parent.name, page.stem) for page in pages]


def render_diff(
    first: ReleaseContents,
    second: ReleaseContents,
    difference: ReleaseDifference,
    common: Sequence[CommonScores],
    image_store: ImageStore,
    generated: str,
) -> str:
    """Render the page of a comparison. A missing image gets a placeholder.

    Args:
        first: The contents of the first release.
        second: The contents of the second release.
        difference: Their difference.
        common: Scores on common items.
        image_store: The image store.
        generated: The time, ISO 8601.
    """
    listed = [
        *(("removed", change) for change in difference.removed),
        *(("added", change) for change in difference.added),
        *(("changed", change) for change in difference.changed),
    ]
    sides = (first.card["release_id"], second.card["release_id"])
    return render_page(
        "diff.html",
        nav_name="diff",
        root=ROOT,
        first=_head(first.card),
        second=_head(second.card),
        difference=difference,
        boards=_boards(common),
        why_nothing=None if common else why_nothing_common(difference, second.card),
        n_common=len(difference.common),
        answers_held_out=any(held_out(edition_of(side.card)) for side in (first, second)),
        whole=[
            (model, judge, version, score(earlier), score(later))
            for model, judge, version, earlier, later in difference.scores
        ],
        items=[_item(how, change, sides, image_store) for how, change in listed[:MAX_ITEMS]],
        n_more=max(0, len(listed) - MAX_ITEMS),
        generated=generated,
    )


def _head(card: Card) -> dict[str, Any]:
    """Add links to a release's report and sample browser; a link is None if the page does not exist."""
    report = f"{card['release_id']}.html"
    exists = (reports_path() / report).is_file()
    return {
        **card,
        "report": ROOT + quote(report) if exists else None,
        "browser": _items_link(card["release_id"]),
    }


def _items_link(release_id: str, **shown: str) -> str | None:
    """Return the link to a release's sample browser; None if the file does not exist."""
    exists = (reports_path() / unquote(items_page(release_id))).is_file()
    return ROOT + items_page(release_id, **shown) if exists else None


def _boards(common: Sequence[CommonScores]) -> list[LeaderboardDifference]:
    boards = []
    # A version that judged several models counts once.
    versions = Counter(
        judge for judge, _ in {(model.judge, model.judge_version) for model in common}
    )
    for (judge, version), group in groupby(
        common, key=lambda each: (each.judge, each.judge_version)
    ):
        models = list(group)
        title = "Scored by rule" if judge == RULE else f"Judge {judge}"
        if judge == PANEL:
            title = "Panel of judges"
        leading = models[0].scores[0].metric
        metrics = list(
            dict.fromkeys(
                shown.metric
                for model in models
                for shown in model.scores
                if leading.aggregation == shown.metric.aggregation
                or leading.name == shown.metric.name
            )
        )
        # The sort is stable: metrics with the same aggregation keep the benchmark's order.
        metrics.sort(key=lambda metric: metric.aggregation != leading.aggregation)
        boards.append(
            LeaderboardDifference(
                title if versions[judge] == 1 else f"{title} · {version}",
                title,
                version,
                [f"{metric.name}, {metric.aggregation} mean" for metric in metrics],
                [(model, _sides(model, metrics)) for model in models],
                all(model.repeated.is_all for model in models),
            )
        )
    return boards


def _sides(common: CommonScores, metrics: Sequence[Metric]) -> list[ScoreDifference | None]:
    """Return the difference for each metric; None if the model has no score."""
    scores = {one.metric: one for one in common.scores}
    return [_side(scores[metric]) if metric in scores else None for metric in metrics]


def _side(score: CommonScore) -> ScoreDifference:
    scale = Scale(*score.metric.shown_ends)
    interval = ""
    if score.ci_low is not None and score.ci_high is not None:
        interval = f"{scale.difference(score.ci_low)} – {scale.difference(score.ci_high)}"
    # If lower is better, or the shown number is the inverse of the mean, an increase is no gain.
    sign = 1 if score.metric.higher_is_better != score.metric.inverse else -1
    verdict = ""
    if (
        score.ci_low is not None
        and score.ci_high is not None
        and (score.ci_low > 0 or score.ci_high < 0)
    ):
        verdict = "better" if sign * score.difference > 0 else "worse"
    return ScoreDifference(
        scale.shown(score.before),
        scale.shown(score.after),
        scale.difference(score.difference),
        interval,
        verdict,
    )


def _item(
    how: str, item: ItemChange, releases: tuple[str, str], image_store: ImageStore
) -> dict[str, Any]:
    """Describe an item for the page; `places` link to the whole item: (side, item id, link)."""
    before, after = releases
    sides = {"removed": [("A", before)], "added": [("B", after)]}.get(
        how, [("A", before), ("B", after)]
    )
    ids = item.item_ids if len(item.item_ids) == len(sides) else item.item_ids * len(sides)
    return {
        "how": how,
        "places": [
            (side, item_id, _items_link(release_id, item=item_id))
            for (side, release_id), item_id in zip(sides, ids, strict=True)
        ],
        "what": item.what,
        "opening": cut(" ".join(item.opening.split()), MAX_OPENING),
        "changes": [_change(change, image_store) for change in item.changes],
    }


def _change(change: ContentChange, image_store: ImageStore) -> dict[str, Any]:
    label = change.kind
    if change.turn is not None:
        label = (
            f"{change.kind.removeprefix('turn ')} turn {change.turn}"
            if change.kind.startswith("turn ")
            else (f"{change.kind} of turn {change.turn}")
        )
    if change.of_images:
        sides = [
            [
                {"id": image_id, "source": source_of(image_id, image_store)}
                for image_id in ids[:MAX_IMAGES]
            ]
            for ids in change[2:4]
        ]
        return {"label": label, "images": sides, "pieces": None, "lists": None}
    if len(change.before) > 1 or len(change.after) > 1:
        lists = [[cut(text, MAX_CHARACTERS) for text in texts] for texts in change[2:4]]
        return {"label": label, "images": None, "pieces": None, "lists": lists}
    before, after = (
        cut("\n".join(texts), MAX_CHARACTERS) for texts in (change.before, change.after)
    )
    pieces = word_differences(before, after)
    return {"label": label, "images": None, "pieces": pieces, "lists": None}
