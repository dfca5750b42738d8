"""The report: in order, by itself, and safe to open whatever a model or a page said."""

import hashlib
import re
from collections import Counter
from typing import Any

import pytest

from resources.images.store import ImageStore
from resources.reports.benchmark_report import render_report, write_report
from tests.resources.reports.report_rows import (
    HOSTILE,
    KEY,
    Page,
    answer,
    failure,
    judgment,
    missing,
    part,
    scores,
)


def test_an_earlier_release_whose_making_is_unknown_says_so(data, store):
    data["release"] |= {"is_current": False, "settings": None, "writers": None, "parent": None}
    text = Page(render_report(data, store)).text
    assert "mmdu-0123456789 · not current" in text and "unknown" in text
    assert "Missing" not in text


def test_the_page_is_well_formed_and_full_and_loads_nothing_from_outside(data, store):
    html = render_report(data, store)
    assert html == render_report(data, ImageStore(store.root)), "the same bytes each time"
    page = Page(html)
    loading = ("src", "srcset", "href", "xlink:href", "poster", "data", "action")
    for tag, attrs in page.elements:
        for name in loading:
            if attrs.get(name) is not None and tag != "a":
                assert attrs[name].startswith("data:")
    assert "default-src 'none'" in page.attributes("meta", "content")[-1]
    assert not re.search(r"url\(|@import", html)
    assert not {"script", "iframe", "object"} & {tag for tag, _ in page.elements}
    # A chart of each metric for each way of averaging and form; two distributions, a share, categories.
    assert Counter(page.classes())["dots"] == 18
    assert Counter(page.classes())["bars"] == 4
    for shown in (
        *("mmdu-0123456789", "gpt-4o", "approved by people", "evaluate.provenance", "2026-03-03"),
        *("ana, then no person (policy “none”)", "There were none", "3fa2c9d04b1e"),
    ):
        assert shown in page.text
    assert KEY not in page.text
    assert KEY in page.attributes("code", "title")


def test_a_release_without_scores_has_a_page_of_what_it_is(data, store):
    data.update(benchmark=None, scores=[], ranks=[], comparisons=[])
    html = render_report(data, store)
    page = Page(html)
    assert "No model has been evaluated" in page.text
    assert not {"leaderboard", "reading", "failures"} & set(re.findall(r'id="([^"]+)"', html))
    assert "Turns per dialogue" in page.text and "Dialogue 1" in page.text
    # Models that answered where there is nothing to judge by are counted.
    answered = {"unjudgeable": ["baseline:empty", "no-images:a", "a", "b"]}
    text = Page(render_report({**data, **answered}, store)).text
    assert "2 models answered on this release, and there is nothing to judge by" in text
    assert "No model has been evaluated" not in text

    data["release"]["kind"] = "instruction"
    data.update(examples=[], distributions=[], shares=[], page_categories=[])
    text = Page(render_report(data, store)).text
    assert "No model has been evaluated" not in text
    assert "nothing to show" in text


def poison(value: Any) -> Any:
    """`value` with every text that comes from outside replaced by a hostile one."""
    keep = {"form", "aggregation", "image_id", "status", "subset_label"}
    if isinstance(value, dict) and "settings" in value:
        value = {**value, "settings": {HOSTILE: {HOSTILE: HOSTILE}}}
    if isinstance(value, dict):
        return {key: each if key in keep else poison(each) for key, each in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [poison(each) for each in value]
    if isinstance(value, tuple):
        return type(value)(*(poison(each) for each in value))
    return HOSTILE if isinstance(value, str) else value


def test_hostile_text_is_only_text_wherever_it_stands(data, store):
    data["failures"] = [failure("m", "answers", "timeout", 2)]
    data["missing"] = [missing("gone")]
    data["scores"].append(part("weak", 50.0, "category", "boats"))
    clean, page = Page(render_report(data, store)), Page(render_report(poison(data), store))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in clean.elements}
    page.assert_hostile_is_text(11)
    assert page.text.count("{{ 7*7 }}") == page.text.count("<script>alert(1)</script>")


@pytest.mark.parametrize(
    "url", ["java\nscript:alert(1)", "//example.org/x", "https:", "http://[broken"]
)
def test_what_is_no_web_page_is_not_linked(data, store, url):
    data["examples"][0]["images"][0]["page_url"] = url
    links = Page(render_report(data, store)).attributes("a", "href")
    own = re.compile(r"#|(items/)?[a-z0-9-]+\.html(#|$)")
    outside = [link for link in links if not own.match(link)]
    assert outside == ["https://example.org/wiki/blue"]


@pytest.mark.parametrize(
    ("made_by", "evaluated_by", "named"),
    [
        ("mock", "mock", "Questions, references, answers and judgments come from"),
        ("openai", "mock", "Answers and judgments come from"),
        ("mock", "openai", "Questions and references come from"),
        ("openai", "mock + openai", "Some of the answers or judgments come from"),
        ("", "openai", None),
    ],
)
def test_what_the_mock_server_made_is_said(data, store, made_by, evaluated_by, named):
    data["release"]["provider"] = made_by
    data["scores"] = scores("m", 50.0, provider=evaluated_by)
    page = Page(render_report(data, store))
    assert ("dialogues by" in page.words) == bool(made_by), "nobody wrote the texts"
    assert Counter(page.classes())["banner"] == (named is not None)
    assert (named or "") in page.text
    assert ("not the quality of any model" in page.text) == (named is not None)


@pytest.mark.parametrize("image_id", ["0" * 64, "../../etc/passwd"])
def test_a_missing_image_leaves_a_placeholder(data, store, image_id):
    data["examples"][0]["images"][0]["image_id"] = image_id
    page = Page(render_report(data, store))
    assert "".join(page.attributes("img", "src")).count("data:image/jpeg;") == 1
    assert "not stored" in page.text and "Red boat" in page.text


def test_texts_of_megabytes_are_cut_and_linked_whole(data, store):
    before = len(render_report(data, store))
    long = "word " * 1_000_000
    turn = data["examples"][0]["turns"][0]
    turn["references"] = [{"kind": "answer", "reference": long, "call_key": None}]
    turn["answers"] = [answer("m", answer=long, judgments=[judgment(explanation=long)])]
    page = Page(html := render_report(data, store))
    assert len(html) < before + 100_000
    assert page.words.count("4,980,000 more characters are not shown.") == 3
    assert page.attributes("a", "href").count(f"/loom/calls/{KEY}/reply") == 2


def test_the_hash_of_a_written_page_is_returned(tmp_path):
    path = tmp_path / "reports" / "r.html"
    write_report(path, "old")
    digest = write_report(path, "<p>é–▣</p>")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert list(path.parent.iterdir()) == [path]
