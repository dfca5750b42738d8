"""Rows that a report is made of, written by hand: a benchmark of three metrics and two models."""

import re
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from typing import Any

from markupsafe import Markup

from methods.release_statistics import CategoryCounts, Distribution
from methods.results.methods_paragraph import EvaluationCalls
from resources.images.store import ImageStore
from resources.reports.page import TEMPLATES, script_hash
from resources.reports.report_blocks import Cell, Table
from resources.reports.report_extras import extra_sections
from tests.doubles.one_colour import one_colour
from tests.resources.page_outline import html_of_section

KEY = "3fa2c9d04b1e" + "0" * 52
JUDGE, VERSION = "gpt-4o", "mmdu/judge@4bf65a46"
OVERALL = "Overall Score"
METRICS = (OVERALL, "Creativity", "Richness")
AGGREGATIONS = ("micro", "macro")
NO_RANK = dict.fromkeys(("rank", "rank_low", "rank_high", "coverage", "why", "mark"))
VOID = {"meta", "link", "input", "img", "br"}
HOSTILE = "</code></title></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7*7 }}"
_SCRIPT = (TEMPLATES / "report.js").read_text()
OWN_SCRIPT, OWN_HASH = f"<script>{_SCRIPT}</script>", f"script-src '{script_hash(_SCRIPT)}'"
Row = dict[str, Any]


def without_own_script(html: str) -> str:
    """The page without the site's own script, which its policy allows by the script's hash."""
    return html.replace(OWN_SCRIPT, "", 1) if OWN_HASH in html else html


def text_of(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def section_of(html: str, name: str) -> str:
    """The text of a section, which the contents link to."""
    return text_of(html_of_section(html, name))


def board(html: str, pane: str | None = None, table: str = "board") -> list[list[str]]:
    """Texts of the cells of a table's first body, row by row."""
    start = html.index(f'data-pane="{pane}"') if pane else 0
    found = html[html.index(f'class="{table}"', start) :]
    body = found[found.index("<tbody>") : found.index("</tbody>")]
    return [
        [text_of(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL)
    ]


def tables_of(blocks: Iterable[Any]) -> dict[str, Table]:
    """The tables by their labels, those inside other blocks, too."""
    found = list(blocks)
    for each in found:
        found += getattr(each, "blocks", [])
    return {each.label: each for each in found if isinstance(each, Table)}


def plain(cell: Cell) -> str:
    """The text of a cell without its marks."""
    return Markup(cell.text).striptags()


class Page(HTMLParser):
    """What a browser would find: elements with their attributes and the text that is shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(without_own_script(html))
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"</{tag}> closes what is not open"

    def handle_data(self, data: str) -> None:
        """Text; styles are none."""
        if "style" not in self._open:
            self.text += data

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    def attributes(self, tag: str, name: str) -> list[str]:
        return [
            attrs[name] or "" for found, attrs in self.elements if found == tag and name in attrs
        ]

    def classes(self) -> list[str]:
        return [name for _, attrs in self.elements for name in (attrs.get("class") or "").split()]

    def assert_hostile_is_text(self, at_least: int) -> None:
        """`HOSTILE` is shown so often, and nothing of it is an element or an attribute."""
        assert not {"script", "iframe", "object"} & {tag for tag, _ in self.elements}
        assert not any(name.startswith("on") for _, attrs in self.elements for name in attrs)
        assert self.text.count("<script>alert(1)</script>") >= at_least
        assert all(source.startswith("data:") for source in self.attributes("img", "src"))


def metric(name: str, aggregation: str = "micro", **changed: Any) -> Row:
    of = {"name": name, "in_words": f"the mean of {name}", "aggregation": aggregation}
    of |= {"decimals": 1, "low": 10.0, "high": 100.0, "higher_is_better": True}
    return of | {"inverse": False, "refusals_are_right": False} | changed


def scores(
    model: str, value: float | None, metrics: Sequence[str] = METRICS, **changed: Any
) -> list[Row]:
    """One model's scores of everything by each metric, in all forms."""
    return [
        {
            **{"model": model, "label": model, "settings": None, "provider": "openai"},
            **{"judge": JUDGE, "judge_version": VERSION, "metric": name, "form": form},
            **{"aggregation": how, "place": 2 * place + AGGREGATIONS.index(how)},
            **{"subset_label": "", "subset_value": "", "value": value},
            "ci_low": None if value is None else value - 4,
            "ci_high": None if value is None else value + 3,
            **{"n_units": 12, "n_items": 3, "n_turns": 12, "n_judged": 11, "n_failed": 1},
            **dict.fromkeys(("n_refused", "n_truncated", "n_reasoning_only", "n_empty"), 0),
            **{"method": None, "n_clusters": None, **NO_RANK, **changed},
        }
        for place, name in enumerate(metrics)
        for how in AGGREGATIONS
        for form in ("floor", "judged", "common")
    ]


def part(model: str, value: float, label: str, of: str, n_units: int = 3) -> Row:
    """One model's score of a part of the release, by the metric that ranks."""
    (whole,) = (
        row
        for row in scores(model, value, METRICS[:1])
        if (row["form"], row["aggregation"]) == ("floor", "micro")
    )
    return {**whole, "subset_label": label, "subset_value": of, "n_units": n_units}


def rank(data: Row, model: str, place: int | None, low: int = 1, high: int = 2) -> None:
    """Give one model's scores of everything by the first judge a rank, or the reason why not."""
    for row in data["scores"]:
        if (row["judge"], row["model"]) == (JUDGE, model) and not row["subset_label"]:
            row |= {"rank": place, "rank_low": low if place else None, "rank_high": place and high}
            why = None if place else "Nothing was judged that this metric rests on."
            row |= {"coverage": 11 / 12, "why": why, "mark": None}


def unrank(data: Row) -> None:
    """Take the ranks of all scores away."""
    for row in data["scores"]:
        row |= NO_RANK


def compared(first: str, second: str, difference: float | None, **changed: Any) -> Row:
    ends = (None, None) if difference is None else (difference - 5, difference + 5)
    return {
        **{"judge": JUDGE, "judge_version": VERSION, "metric": OVERALL, "aggregation": "micro"},
        **{"form": "floor", "first": first, "second": second, "difference": difference},
        **{"ci_low": ends[0], "ci_high": ends[1], "p": 0.01, "p_holm": 0.02},
        **{"detectable": 6.5, "n_units": 12, "n_clusters": 40, **changed},
    }


def finding(subject: str, value: float | None, measure: str = "difference", **changed: Any) -> Row:
    """What an analysis found of the judge's values of a model."""
    return {
        **{"release_id": "mmdu-0123456789", "judge": JUDGE, "judge_version": VERSION},
        **{"subject": subject, "measure": measure, "metric": OVERALL, "value": value},
        **dict.fromkeys(("other", "aggregation", "subset_label", "subset_value", "unit"), ""),
        **{"n": 20, "n_clusters": 20},
        **dict.fromkeys(("ci_low", "ci_high", "p", "p_holm", "reason")),
        **changed,
    }


def lengths_row(model: str, median: float, ratio: float | None = None) -> Row:
    """How long the answers of a model are, around their median."""
    quartiles = {"first_quartile": median - 2, "median": median, "third_quartile": median + 2}
    ends = {"low": median / 2, "high": median * 2}
    return {"model": model, "n": 12, **quartiles, **ends, "ratio": ratio}


def picture(store: ImageStore, colour: str, title: str) -> Row:
    return {
        "image_id": store.put(one_colour(colour, (400, 300))).image_id,
        "title": title,
        "page_url": f"https://example.org/wiki/{colour}",
        "attribution": "Seen from the east",
        "licence": "CC BY 4.0",
        "artist": "Someone",
    }


def judgment(**changed: Any) -> Row:
    return {
        **{"judge": JUDGE, "version": VERSION, "part": "turn", "score": 7, "call_key": KEY},
        "scores": dict.fromkeys(METRICS, 7),
        "explanation": "It says what the reference says.",
        **changed,
    }


def answer(model: str, **changed: Any) -> Row:
    return {
        **{"model": model, "trial": "plain", "status": "answered", "call_key": KEY},
        "answer": "<image-1> is red, <image-7> is not there.",
        **{"reading": None, "reason": None, "judgments": [judgment()], **changed},
    }


def failure(model: str, stage: str, reason: str, n: int, asked: str | None = None) -> Row:
    """Turns that were lost of one reason."""
    names = {"model": model, "stage": stage, "asked": asked or model, "reason": reason}
    return {**names, "n": n, "item_id": "i1"}


def missing(model: str) -> Row:
    """A model whose last run lost too much."""
    lost = {"n_lost": 9, "n_turns": 12, "why": "9 timeout"}
    return {"model": model, "stage": "answers", "asked": model, **lost}


RELEASE: Row = {
    **{"release_id": "mmdu-0123456789", "name": "mmdu", "kind": "benchmark", "split": None},
    **{"n_items": 3, "n_turns": 12, "n_images": 8, "provider": "openai", "is_current": True},
    **{"review_policy": "all", "review_share": 1.0, "parent": "mmdu-9876543210"},
    "created_at": "2026-03-02T09:14:55+00:00",
    "settings": '{"cluster.clusters":{"tau":0.75},"review.approved":{"require":"all"}}',
    "prompt_versions": ["mmdu/answers@6ed86f0e", "mmdu/questions@1f6c02ab"],
    **{"writers": ["gpt-4o"], "project_version": "0.1.0"},
    "corpus": [{"wit_shard": "wit-0", "fingerprint": "1-abc"}],
}
TURN: Row = {
    **{"turn": 1, "image_positions": [1, 2], "call_key": KEY},
    "question": "Image1: <ImageHere>, Image2: <ImageHere>. Compare <image-1>.",
    "prompt_version": "mmdu/questions@1f6c02ab",
}
REFERENCE: Row = {"kind": "answer", "reference": "<image-2> is darker.", "call_key": None}
EMPTY = (
    *("ability_comparisons", "groups", "training", "error_attribution", "answer_lengths"),
    *("widest_groups", "constant_judges", "judge_bias_tests", "missing", "not_made", "unscored"),
    *("unjudgeable", "failures"),
)


def report_data(store: ImageStore) -> Row:
    """A release with one example of two images, and two models of which one is better."""
    boats = [picture(store, "red", "Red boat"), picture(store, "blue", "Blue boat")]
    data: Row = {
        "release": RELEASE | {"languages": ["en"]},
        "benchmark": {
            **{"name": "mmdu", "by_rule": False, "abilities": [], "label_metrics": {}},
            **{"grades": (1, 10), "overall": OVERALL},
            "metrics": [metric(name, how) for name in METRICS for how in AGGREGATIONS],
        },
        "generated": "2026-03-03T10:02:11+00:00",
        **{"calls": EvaluationCalls([], {}), "version": "0.2.0", "judges": [JUDGE]},
        "scores": [*scores("weak", 41.0), *scores("strong", 78.0)],
        "comparisons": [compared("strong", "weak", 37.0)],
        **{name: {} for name in ("families", "above", "findings", "languages")},
        **{name: [] for name in EMPTY},
        **dict.fromkeys(("choice", "attribution_terms", "item_analysis")),
        **{"n_without_picture": 0, "answers_held_out": False},
        "pairwise": {name: [] for name in ("designs", "ratings", "biases", "counts", "shares")},
        "of_extras": {table: [] for section in extra_sections() for table in section.rows},
        "distributions": [
            Distribution("Turns per dialogue", "turns", "dialogues", (4, 4, 4)),
            Distribution("Words per question", "words", "questions", (12, 60, 230)),
        ],
        "shares": [
            CategoryCounts(
                "A question is about", "questions", (("one image", 3), ("several images", 9))
            )
        ],
        "page_categories": [{"category": "Boats", "n": 4}],
        "examples": [
            {
                **{"item_id": "item-1", "reviewers": ["ana", "policy:none"], "revision": 2},
                **{"labels": {"category": "transport"}, "choices": [], "images": boats},
                "turns": [{**TURN, "references": [{**REFERENCE}], "answers": [answer("strong")]}],
            }
        ],
    }
    rank(data, "strong", 1, 1, 1)
    rank(data, "weak", 2, 2, 2)
    return data
