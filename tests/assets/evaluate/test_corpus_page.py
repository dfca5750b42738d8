"""The site's page on the corpus: from tables with a few rows to what it says, and without a corpus."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assets.evaluate.corpus_page import SHOWN, write_corpus
from resources.images.store import ImageStore
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.resources.reports.report_rows import Page, picture

Row = dict[str, Any]
HOSTILE = "</title><script>alert(1)</script>"


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")


def page_of(warehouse: Warehouse, store: ImageStore) -> Page:
    return Page(write_corpus(warehouse, store).read_text())


def entry(n: int, image_id: str, **changed: Any) -> Row:
    of_page = {"page_id": f"p{n}", "page_url": f"https://example.org/{n}", "title": f"Boat {n}"}
    rights = {"licence": "CC BY 4.0", "artist": "Someone"}
    of_entry = {"wit_shard": "s", "entry_id": f"e{n}", "language": "en", "image_id": image_id}
    return {**of_page, **rights, **of_entry, **changed}


@pytest.fixture
def corpus(warehouse: Warehouse, store: ImageStore) -> Warehouse:
    """Two entries of which one has a picture that is not stored, and losses at each step."""
    red = picture(store, "red", "Red")["image_id"]
    unknown = {"title": HOSTILE, "language": "zh", "licence": None, "artist": None}
    entries = [entry(1, red), entry(2, "0" * 64, **unknown)]
    instruct = {"set_id": "set-1", "kind": "instruction"}
    turn = {"question_id": "q", "question": "What floats?", "answer": "It."}
    pair = {"dialogue_id": "d", "outcome": "drop", "reasons": ["leak", "short"], "turn": 1}
    refused = {"wit_shard": "s", "kind": "row", "reason": "not_utf8"}
    lines = {f"line {n}": f"Byte {n} cannot be read. {HOSTILE}" for n in range(4)}
    left_out = {"wit_shard": "s", "step": "pages", "reference": "language de", "n_rows": 3}
    approved = {"kind": "dialogue", "set_id": "set-1", "policy": "all", "demanded": True}
    approved |= {"policy_share": 1.0, "revision": 0}
    question = '{"turns": [{"question": "Which is red?"}]}'
    decision = {"item_id": "i2", "round": 1, "reviewer": "ana"}
    agreement = {"kind": "dialogue", "dimension": "verdict", "measure": "cohen_kappa"}
    call = {"status": "answered", "via": "live", "cost_usd": 0.5}
    call |= {"prompt_tokens": 1000, "completion_tokens": 100, "seconds": 2.0, "attempts": 1}
    put(
        warehouse,
        {
            "ingest.shards": [
                {"wit_shard": "s", "n_rows": 5, "reasons": [("not_utf8", 4)]},
                {"wit_shard": "z", "n_rows": 9, "reasons": []},
            ],
            "ingest.entries": entries,
            "ingest.pages": entries,
            "ingest.rejected": [
                {**refused, "reference": line, "detail": detail} for line, detail in lines.items()
            ],
            "ingest.left_out": [{**left_out, "reason": "language", "detail": "2 pages are in de."}],
            "cluster.image_sets": [
                {**instruct, **row, "position": n} for n, row in enumerate(entries, start=1)
            ],
            "cluster.set_counts": [
                {**instruct, "n_images": 2, "wanted": 3, "made": 1, "reasons": [("too few", 2)]}
            ],
            "dialogue.dialogues": [
                {**instruct, "dialogue_id": "d", "image_ids": ["a", "b"], "n_images": 2}
                | {"n_turns": 1, "turns": [turn]}
            ],
            "dialogue.failed": [
                {"stage": "answers", "set_id": "set-1", "subject": "question q"}
                | {"reason": "timeout", "detail": "No answer came."}
            ],
            "quality.checks": [
                {**pair, **instruct, "question_id": "q"},
                # People decide on what is dropped of a benchmark: it goes on.
                {**pair, **instruct, "question_id": "x", "kind": "benchmark", "dialogue_id": "b"},
            ],
            "review.approved": [
                {**approved, "item_id": "i1", "status": "approved", "content": "{}"},
                {**approved, "item_id": "i2", "status": "rejected", "content": question}
                | {"reason": "factual_error"},
            ],
            "review.decisions": [
                {**decision, "event_id": n, "verdict": verdict}
                for n, verdict in enumerate(("skip", "reject"))
            ],
            "review.effort": [
                {"kind": "dialogue", "round": 1, "reviewer": "ana", "n_decisions": 1}
                | {"n_skipped": 1, "median_seconds": 12.0, "reasons": [("factual_error", 1)]}
            ],
            "review.agreement": [
                {**agreement, "raters": raters, "n_items": 4}
                | {"value": 0.5, "low": 0.25, "high": 0.75}
                for raters in ("all", "ana|ben")
            ],
            "ledger.calls": [
                {**call, "key": f"{stage}-{day}", "stage": stage}
                | {"created_at": datetime(2026, 3, day, 12, tzinfo=UTC)}
                for stage in ("dialogue.answers", "evaluate.answers")
                for day in range(1, SHOWN["n_days"] + 2)
            ],
        },
    )
    return warehouse


def test_a_home_without_a_corpus_says_so_in_a_sentence(warehouse, store, loom_home):
    page = page_of(warehouse, store)
    assert "This home has no corpus: nothing was ingested yet." in page.words
    assert "Image sets" not in page.words and "No model was asked yet" in page.words
    release = {"kind": "benchmark", "origin": "imported", "review_policy": "none"}
    put(warehouse, {"release.releases": [release]})
    said = "This home has no corpus: its 1 release was imported."
    assert said in page_of(warehouse, store).words


def test_the_page_says_what_there_is_what_was_left_out_and_what_people_decided(
    corpus, store, loom_home
):
    page = page_of(corpus, store)
    assert "There is no map yet" in page.words
    words = page.words.replace(" ", "")
    for said in (
        *("Shards 2", "WIT rows 14", "Pages 2", "Entries 2", "Pictures 2", "Image sets 1"),
        "en 1 50.0 %",
        "zh 1 50.0 %",
        "CC BY 4.0 1 50.0 %",
        "not known 1 50.0 %",
        *("s 5 2 3 4", "z 9 0 0 0"),
        # Image sets have sizes and a sample with pictures.
        "instruction 1of 3 1",
        "2 pictures, set set-1",
        "CC BY 4.0, Someone",
        # What was left out stands by step and reason with examples.
        "ingest.wit_rows not utf8 4 rows s, line 0: Byte 0 cannot be read.",
        "ingest.pages language 3 rows s, language de: 2 pages are in de.",
        "dialogue.answers timeout 1 request question q: No answer came.",
        "quality.checks leak 1 pair turn 1 of dialogue d: What floats?",
        "review.approved factual error 1 dialogue i2: Which is red?",
        # Pass, review and drop of benchmarks and of instruction sets.
        *("all pairs 0 0 1 0 0 1", "leak 0 0 1 0 0 1", "short 0 0 1 0 0 1"),
        "dialogue 1 1 0 0 1 all 2 demanded",
        "dialogue verdict Cohen's kappa 4 0.50 0.25 to 0.75",
        "ana dialogue 1 1 1 12",
        # 8 days, of which the last 7 have a column: 8 calls of half a dollar.
        "dialogue.answers 8 0 8,000 800 16 4.00" + 7 * "0.50",
        "all stages 16 0 16,000 1,600 32 8.00" + 7 * "1.00",
        "2026-03-02 USD",
    ):
        assert said.replace(" ", "") in words, said
    assert "2026-03-01USD" not in words and words.count("Cohen'skappa") == 1
    assert page.words.count("cannot be read") == SHOWN["n_examples"]
    # One picture is stored, the other one is not.
    assert len(page.attributes("img", "src")) == 1
    assert "not stored" in page.text and "licence unknown" in page.text


def test_hostile_texts_are_only_text(corpus, store, loom_home):
    page = page_of(corpus, store)
    assert "script" not in {tag for tag, _ in page.elements}
    assert page.text.count("<script>alert(1)</script>") >= 4
    assert all(source.startswith("data:") for source in page.attributes("img", "src"))
