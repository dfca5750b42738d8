"""The report: in order, by itself, and safe to open whatever a model or a page said."""

import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from methods.mmdu.judging import DIMENSIONS, OVERALL
from resources.images.store import ImageStore
from resources.reports import benchmark_report
from resources.reports.benchmark_report import render_report, write_report

KEY = "3fa2c9d04b1e" + "0" * 52
VOID = {"meta", "link", "input", "img", "br"}


class Page(HTMLParser):
    """What a browser would find: elements with their attributes and the text that is shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open and self._open.pop() == tag, f"</{tag}> closes what is not open"

    def handle_data(self, data):
        if "style" not in self._open:
            self.text += data

    def attributes(self, tag: str, name: str) -> list[str]:
        return [attrs[name] for found, attrs in self.elements if found == tag and name in attrs]

    def classes(self) -> Counter[str]:
        return Counter(
            name for _, attrs in self.elements for name in (attrs.get("class") or "").split()
        )


@pytest.fixture(autouse=True, scope="module")
def each_plot_once() -> Iterator[None]:
    """Drawing takes most of a report's time, and has its tests in `test_score_plots.py`."""
    drawn: dict[str, str | None] = {}

    def once(draw: Callable[..., str | None]) -> Callable[..., str | None]:
        def known_or_drawn(*args: object) -> str | None:
            key = f"{draw.__name__}{args}"
            if key not in drawn:
                drawn[key] = draw(*args)
            return drawn[key]

        return known_or_drawn

    with pytest.MonkeyPatch.context() as patch:
        for name in ("scores_plot", "counts_plot"):
            patch.setattr(benchmark_report, name, once(getattr(benchmark_report, name)))
        yield


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")


@pytest.fixture
def data(store: ImageStore) -> dict[str, Any]:
    """A release with one example dialogue of two images, two models of which one is better."""
    return {
        "release": {
            "release_id": "mmdu-0123456789",
            "name": "mmdu",
            "kind": "benchmark",
            "n_items": 3,
            "n_turns": 12,
            "n_images": 8,
            "review_policy": "all",
            "review_share": 1.0,
            "provider": "openai",
            "created_at": "2026-03-02T09:14:55+00:00",
        },
        "judge": "gpt-4o",
        "generated": "2026-03-03T10:02:11+00:00",
        "scores": [*scores("weak", 41.0), *scores("strong", 78.0)],
        "failures": [],
        "statistics": {
            "turns_per_dialogue": [4, 4, 4],
            "images_per_dialogue": [2, 3, 3],
            "answer_words": [12, 60, 230],
        },
        "items": [
            {
                "item_id": "item-1",
                "reviewers": ["ana", "policy:none"],
                "revision": 2,
                "images": [picture(store, "red", "Red boat"), picture(store, "blue", "Blue boat")],
                "turns": [
                    {
                        "turn": 1,
                        "question": "Image1: <ImageHere>, Image2: <ImageHere>. Compare <image-1>.",
                        "reference": "<image-2> is darker.",
                        "image_positions": [1, 2],
                        "question_call_key": KEY,
                        "reference_call_key": None,
                        "prompt_version": "mmdu/questions@1f6c02ab",
                        "answers": [answer("strong")],
                    }
                ],
            }
        ],
    }


def scores(model: str, value: float | None, **changed: Any) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "judge": "gpt-4o",
            "provider": "openai",
            "dimension": dimension,
            "aggregation": aggregation,
            "value": value,
            "ci_low": None if value is None else value - 4,
            "ci_high": None if value is None else value + 3,
            "n_items": 3,
            "n_turns": 12,
            "n_judged": 11,
            "n_failed": 1,
            "n_refused": 0,
            **changed,
        }
        for dimension in DIMENSIONS
        for aggregation in ("micro", "macro")
    ]


def picture(store: ImageStore, colour: str, title: str) -> dict[str, Any]:
    buffer = io.BytesIO()
    Image.new("RGB", (400, 300), colour).save(buffer, "PNG")
    return {
        "image_id": store.put(buffer.getvalue()).image_id,
        "title": title,
        "page_url": f"https://example.org/wiki/{colour}",
        "attribution": "Seen from the east",
        "licence": "CC BY 4.0",
        "artist": "Someone",
    }


def answer(model: str, **changed: Any) -> dict[str, Any]:
    return {
        "model": model,
        "status": "answered",
        "answer": "<image-1> is red, <image-7> is not there.",
        "score": 7,
        "scores": dict.fromkeys(DIMENSIONS, 7),
        "explanation": "It says what the reference says.",
        "answer_call_key": KEY,
        "judge_call_key": KEY,
        "reason": None,
        **changed,
    }


def board(html: str, aggregation: str = "micro") -> list[list[str]]:
    """Texts of the leaderboard's cells, row by row."""
    table = html[html.index(f'<div class="{aggregation}">') :]
    table = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    return [
        [
            " ".join(re.sub("<[^>]+>", " ", cell).split())
            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def test_the_best_model_stands_first_with_its_numbers(data, store):
    first, second = board(render_report(data, store))
    assert first[:3] == ["1", "strong", "78.0 74.0–81.0"]
    assert first[3:] == ["78.0 74–81"] * 6 + ["78.0", "11/12", "1", "0"]
    assert second[:2] == ["2", "weak"]


def test_models_without_a_score_stand_last_and_have_no_rank(data, store):
    data["scores"] = [*scores("aaa", None, n_judged=0), *scores("zero", 0.0), *data["scores"]]
    rows = board(render_report(data, store))
    assert [row[1] for row in rows] == ["strong", "weak", "zero", "aaa"]
    assert rows[-1][0] == "–"
    assert rows[-1][2] == "– not scored"


def test_equal_means_share_a_rank(data, store):
    data["scores"] = [*scores("b", 50.0), *scores("c", 40.0), *scores("a", 50.0)]
    rows = board(render_report(data, store))
    assert [row[:2] for row in rows] == [["1", "a"], ["1", "b"], ["3", "c"]]


def test_each_way_of_averaging_has_its_own_order(data, store):
    for row in data["scores"]:
        if row["aggregation"] == "macro" and row["model"] == "weak":
            row.update(value=90.0, ci_low=85.0, ci_high=95.0)
    html = render_report(data, store)
    assert [row[1] for row in board(html)] == ["strong", "weak"]
    assert [row[1] for row in board(html, "macro")] == ["weak", "strong"]
    assert board(html)[1][9] == "90.0"


def test_one_model_before_two_judges_is_two_lines(data, store):
    data["scores"] += scores("strong", 60.0, judge="other-judge")
    names = [row[1] for row in board(render_report(data, store))]
    assert names == ["strong judge: gpt-4o", "strong judge: other-judge", "weak judge: gpt-4o"]


def test_the_page_is_well_formed_and_full(data, store):
    page = Page(render_report(data, store))
    # A plot of scores for each way of averaging, and one of the release.
    assert page.classes()["chart"] == 3
    for shown in (
        "mmdu-0123456789",
        "gpt-4o",
        "approved by people",
        "2026-03-03",
        "evaluate.provenance",
    ):
        assert shown in page.text
    assert "There were none" in page.text
    assert "3fa2c9d04b1e" in page.text
    assert KEY not in page.text
    assert KEY in page.attributes("code", "title")


def test_a_release_with_nothing_yet_has_a_page_too(data, store):
    data.update(scores=[], items=[])
    data["statistics"] = dict.fromkeys(data["statistics"], [])
    text = Page(render_report(data, store)).text
    assert "No model has been evaluated" in text
    assert "nothing to show" in text
    assert "chart" not in Page(render_report(data, store)).classes()


def test_a_person_is_told_from_a_policy(data, store):
    assert "ana, then no person (policy “none”)" in Page(render_report(data, store)).text


@pytest.mark.parametrize(
    ("policy", "share", "says"),
    [
        ("none", 0.0, ["“none”", "no dialogue had to be approved by people"]),
        ("sample", 0.125, ["sample (12.5 %)", "the share that was drawn"]),
        ("all", 1.0, ["“all”", "every dialogue was approved by people"]),
    ],
)
def test_the_release_card_says_what_was_demanded_of_people(data, store, policy, share, says):
    data["release"] |= {"review_policy": policy, "review_share": share}
    text = Page(render_report(data, store)).text.replace("\xa0", " ")
    for said in says:
        assert said in text


def test_the_same_data_gives_the_same_bytes(data, store):
    assert render_report(data, store) == render_report(data, ImageStore(store.root))


HOSTILE = "</code></title></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7*7 }}"


def poison(value: Any) -> Any:
    """`value` with every text that comes from outside replaced by a hostile one."""
    keep = {"dimension", "aggregation", "image_id", "status"}
    if isinstance(value, dict):
        return {key: each if key in keep else poison(each) for key, each in value.items()}
    if isinstance(value, list):
        return [poison(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


def test_hostile_text_is_only_text_wherever_it_stands(data, store):
    data["failures"] = [{"model": "m", "stage": "answers", "reason": "timeout", "n": 2}]
    clean, page = Page(render_report(data, store)), Page(render_report(poison(data), store))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in clean.elements}
    assert "script" not in {tag for tag, _ in page.elements}
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert page.text.count("<script>alert(1)</script>") > 10
    assert page.text.count("{{ 7*7 }}") == page.text.count("<script>alert(1)</script>")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "//example.org/x",
        "https:",
        "http://[broken",
        "",
    ],
)
def test_what_is_no_web_page_is_not_linked(data, store, url):
    data["items"][0]["images"][0]["page_url"] = url
    links = Page(render_report(data, store)).attributes("a", "href")
    assert [link for link in links if not link.startswith("#")] == ["https://example.org/wiki/blue"]


def test_nothing_is_loaded_from_outside(data, store):
    html = render_report(data, store)
    page = Page(html)
    loading = ("src", "srcset", "href", "xlink:href", "poster", "data", "action")
    for tag, attrs in page.elements:
        for name in loading:
            if attrs.get(name) is not None and tag != "a":
                assert attrs[name].startswith("data:")
    assert "default-src 'none'" in page.attributes("meta", "content")[-1]
    assert not re.search(r"url\(|@import", html)
    assert not {"script", "iframe", "object"} & {tag for tag, _ in page.elements}


@pytest.mark.parametrize(
    ("made_by", "evaluated_by", "named"),
    [
        ("offline", "offline", "Questions, references, answers and judgments come from"),
        ("openai", "offline", "Answers and judgments come from"),
        ("offline", "openai", "Questions and references come from"),
        ("openai", "offline + openai", "Some of the answers or judgments come from"),
        ("openai", "openai", None),
    ],
)
def test_what_the_offline_server_made_is_said(data, store, made_by, evaluated_by, named):
    data["release"]["provider"] = made_by
    data["scores"] = scores("m", 50.0, provider=evaluated_by)
    page = Page(render_report(data, store))
    assert page.classes()["banner"] == (named is not None)
    assert (named or "") in page.text
    assert ("not the quality of any model" in page.text) == (named is not None)


def test_images_are_inside_the_page(data, store):
    page = Page(render_report(data, store))
    charts = page.classes()["chart"]
    kinds = Counter(source.partition(";base64,")[0] for source in page.attributes("img", "src"))
    assert kinds == {"data:image/jpeg": 2, "data:image/svg+xml": charts}


@pytest.mark.parametrize("image_id", ["0" * 64, "../../etc/passwd"])
def test_a_missing_image_leaves_a_placeholder(data, store, image_id):
    data["items"][0]["images"][0]["image_id"] = image_id
    page = Page(render_report(data, store))
    sources = page.attributes("img", "src")
    assert sum(source.startswith("data:image/jpeg;") for source in sources) == 1
    assert "not stored" in page.text
    assert "Red boat" in page.text


def test_image_tokens_become_chips(data, store):
    html = render_report(data, store)
    assert "&lt;ImageHere&gt;" not in html
    question = re.search(r'class="said question".*?>(.*?)</p>', html, re.DOTALL)[1]
    assert re.sub("<[^>]+>", "", question) == "Image1: ▣ 1, Image2: ▣ 2. Compare 1."
    chips = Page(html).classes()
    assert chips["unknown"] == 1
    assert 'title="Blue boat"' in question


@pytest.mark.parametrize("token", ["<ImageHere>", "<image-0>", "<image-99999999999999>"])
def test_a_token_without_an_image_does_no_harm(data, store, token):
    data["items"][0]["turns"][0]["answers"] = [answer("m", answer=f"See {token}.")]
    Page(render_report(data, store))


def test_a_failed_turn_says_why_and_a_refusal_is_marked(data, store):
    lost = {"answer": None, "score": None, "scores": None, "explanation": None}
    data["items"][0]["turns"][0]["answers"] = [
        answer("m", status="failed", reason="timeout", **lost),
        answer("n", status="refused", answer="I cannot.", score=1),
    ]
    page = Page(render_report(data, store))
    assert page.classes()["tag"] == 3
    for shown in ("failed", "not judged", "timeout", "No answer.", "refused", "1 / 10"):
        assert shown in page.text


def test_failures_stand_by_reason_the_most_frequent_first(data, store):
    data["failures"] = [
        {"model": "a", "stage": "answers", "reason": "timeout", "n": 3},
        {"model": "a", "stage": "judgments", "reason": "no_dictionary", "n": 4},
        {"model": "b", "stage": "answers", "reason": "timeout", "n": 9},
    ]
    text = Page(render_report(data, store)).text
    text = text[text.index("Turns that have no answer or no judgment") :]
    first, second = text.index("timeout12 turns in all"), text.index("no_dictionary4 turns in all")
    assert first < second
    assert text[first:second].index("answersb9") < text[first:second].index("answersa3")


def test_the_file_is_whole_and_its_hash_is_returned(tmp_path):
    path = tmp_path / "reports" / "r.html"
    write_report(path, "old")
    digest = write_report(path, "<p>é–▣</p>")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert path.read_text(encoding="utf-8") == "<p>é–▣</p>"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    write_report(path, "old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_overall_is_no_dimension_of_its_own(data, store):
    assert OVERALL not in Page(render_report(data, store)).attributes("th", "title")
