"""Queries of the site's page on the corpus, on tables of a few rows, worked by hand."""

from datetime import UTC, date, datetime
from typing import Any

import duckdb

from tests.assets.query_rows import Rows, asked, picked
from tests.assets.query_rows import rows_with as rows

A, B, C, D = (letter * 64 for letter in "abcd")
Tables = duckdb.DuckDBPyConnection


def found(
    tables: Tables, name: str, columns: str, of: Rows, **params: int
) -> list[tuple[Any, ...]]:
    return picked(asked(tables, f"evaluate/corpus_{name}", of, **params), columns)


ENTRIES = rows(
    "wit_shard entry_id page_id image_id language licence title",
    ("t", "e5", "p1", D, "en", "BY", "Raft"),
    ("t", "e4", "p3", C, "de", None, "Floss"),
    ("t", "e1", "p1", A, "en", "CC", "Boat"),
    ("s", "e3", "p3", B, "de", None, "Boot"),
    ("s", "e2", "p2", A, "en", "CC", "Ship"),
    ("s", "e1", "p1", A, "en", "CC", "Boat"),
    artist="Ann",
)
"""Entry `e1` is in both shards."""


def test_what_is_in_several_shards_is_counted_once(tables: Tables) -> None:
    pages = [("t", "p4", "zh"), ("t", "p1", "en"), ("s", "p3", "de"), ("s", "p2", "en")]
    pages += [("s", "p1", "en")]
    of: Rows = {"ingest.entries": ENTRIES}
    of["ingest.pages"] = rows("wit_shard page_id language", *pages)
    languages = found(tables, "languages", "language n_pages n_entries", of)
    assert languages == [("en", 2, 3), ("de", 1, 2), ("zh", 1, 0)]
    licences = found(tables, "licences", "licence n_images", of)
    assert licences == [(None, 2), ("BY", 1), ("CC", 1)]
    counts = "n_pages n_entries n_images n_bytes n_rows has_map n_imported"
    assert found(tables, "counts", counts, of) == [(4, 5, 4, 0, 0, False, 0)]
    images = [("s", A, A), ("t", A, A), ("t", B, B)]
    of["ingest.images"] = rows("wit_shard image_id image_url", *images, n_bytes=10)
    noise = {"group_how": "noise", "cluster_how": None, "group_id": None, "cluster_id": None}
    of["cluster.clusters"] = [{"entry_id": "e1"}, {"entry_id": "e2"}, {"entry_id": "e3", **noise}]
    of["cluster.image_sets"] = [{"position": 1}, {"position": 2}]
    of["cluster.pictures"] = [{}]
    origins = [("r", "built"), ("s", "imported"), ("t", "imported")]
    of["release.releases"] = rows("release_id origin", *origins)
    counts = "n_bytes n_clusters n_clustered n_sets has_map n_imported"
    assert found(tables, "counts", counts, of) == [(20, 1, 2, 1, True, 2)]


def test_the_largest_shards_and_clusters_come_first(tables: Tables) -> None:
    """The entry at the centre of `c1` was removed, and `c4` is of an earlier run."""
    shards = [("t", 5, []), ("s", 5, [("x", 2), ("y", 1)]), ("z", 9, [])]
    centres = [("c3", "e3", 1), ("c2", "e1", 2), ("c1", "removed", 3)]
    of_cluster = {"kind": "cluster", "group_id": "g"}
    sizes = [("c4", 4), ("c3", 5), ("c2", 7), ("c1", 5)]
    of: Rows = {
        "ingest.shards": rows("wit_shard n_rows reasons", *shards),
        "ingest.left_out": rows("reference n_rows", ("a", 3), ("b", 1), wit_shard="s"),
        "ingest.entries": ENTRIES,
        "cluster.cohesion": rows("cluster_id size", *sizes),
        "cluster.communities": rows("community_id centre_entry_id place", *centres, **of_cluster),
    }
    columns = "wit_shard n_rows n_entries n_rejected n_left_out"
    of_shards = [("z", 9, 0, 0, 0), ("s", 5, 3, 3, 4), ("t", 5, 3, 0, 0)]
    assert found(tables, "shards", columns, of, n_shards=3) == of_shards
    assert found(tables, "shards", columns, of, n_shards=2) == of_shards[:2]
    columns = "size image_id licence artist"
    of_clusters = [(7, A, "CC", "Ann"), (5, None, None, None), (5, B, None, "Ann")]
    of_clusters += [(4, None, None, None)]
    assert found(tables, "clusters", columns, of, n_clusters=4) == of_clusters
    assert found(tables, "clusters", columns, of, n_clusters=2) == of_clusters[:2]


def test_the_first_sets_of_each_kind_are_the_sample(tables: Tables) -> None:
    kinds = {"d": "benchmark", "c": "instruction", "b": "benchmark", "a": "instruction"}
    images = [(2, "removed", D), (1, "e1", A)]
    sets = [
        {"set_id": name, "kind": kind, **row}
        for name, kind in kinds.items()
        for row in rows("position entry_id image_id", *images)
    ]
    of: Rows = {"ingest.entries": ENTRIES, "cluster.image_sets": sets}
    columns = "kind set_id position image_id title licence artist"
    assert found(tables, "sets", columns, of, n_sets=1) == [
        ("benchmark", "b", 1, A, "Boat", "CC", "Ann"),
        ("benchmark", "b", 2, D, None, None, None),
        ("instruction", "a", 1, A, "Boat", "CC", "Ann"),
        ("instruction", "a", 2, D, None, None, None),
    ]
    assert found(tables, "sets", "set_id", of, n_sets=2) == [(name,) for name in "bbddaacc"]


def test_pairs_are_counted_by_outcome_and_by_each_of_their_reasons(tables: Tables) -> None:
    checks = rows(
        "dialogue_id kind outcome reasons",
        ("d1", "instruction", "drop", ["leak"]),
        ("d2", "benchmark", "review", ["leak"]),
        ("d3", "benchmark", "pass", []),
        ("d4", "benchmark", "pass", []),
        ("d5", "benchmark", "drop", ["short", "leak"]),
    )
    of: Rows = {"quality.checks": checks}
    assert found(tables, "checks", "kind reason outcome n", of) == [
        ("benchmark", "", "drop", 1),
        ("benchmark", "", "pass", 2),
        ("benchmark", "", "review", 1),
        ("benchmark", "leak", "drop", 1),
        ("benchmark", "leak", "review", 1),
        ("benchmark", "short", "drop", 1),
        ("instruction", "", "drop", 1),
        ("instruction", "leak", "drop", 1),
    ]


def test_an_item_that_people_only_skipped_was_not_decided_on(tables: Tables) -> None:
    approved = rows(
        "item_id kind status revision demanded",
        ("i4", "score", "approved", 0, False),
        ("i3", "dialogue", "pending", 0, True),
        ("i2", "dialogue", "rejected", 0, False),
        ("i1", "dialogue", "approved", 2, True),
        policy="all",
    )
    verdicts = [(1, "i1", "accept"), (2, "i1", "reject"), (3, "i2", "skip"), (4, "i3", "reject")]
    decisions = rows("event_id item_id verdict", *verdicts, edits_hash=None)
    of: Rows = {"review.approved": approved, "review.decisions": decisions}
    counts = "kind n_approved n_rejected n_pending n_edited n_demanded n_decided policy"
    assert found(tables, "review", counts, of) == [
        ("dialogue", 1, 1, 1, 1, 2, 2, "all"),
        ("score", 1, 0, 0, 0, 0, 0, "all"),
    ]


def test_costs_of_the_last_days_stand_by_day_and_those_before_together(tables: Tables) -> None:
    days = [("b", 3), ("b", 4), ("a", 1), ("a", 2), ("a", 4), ("a", 3), ("a", 3)]
    calls = [
        {"stage": stage, "cost_usd": float(day), "created_at": datetime(2026, 3, day, tzinfo=UTC)}
        for stage, day in days
    ]
    of: Rows = {"ledger.calls": [{"status": "lost", **row} for row in calls]}
    assert found(tables, "costs", "stage last_day n_lost cost_usd", of, n_days=2) == [
        ("a", date(2026, 3, 3), 2, 6.0),
        ("a", date(2026, 3, 4), 1, 4.0),
        ("a", None, 2, 3.0),
        ("b", date(2026, 3, 3), 1, 3.0),
        ("b", date(2026, 3, 4), 1, 4.0),
    ]


def test_what_was_left_out_has_the_first_of_its_examples(tables: Tables) -> None:
    """Entries of two titles share a picture in no split; the entry of another picture was removed."""
    lost = {"stage": "answers", "subject": "q", "reason": "timeout", "detail": "None came."}
    refused = {"wit_shard": "s", "reason": "not_utf8", "detail": "Byte 0."}
    lines = [("image", "u"), ("row", "m"), ("row", "l"), ("row", "k")]
    splits = [
        (A, None, "bridges_splits"),
        (B, None, "in_imported_benchmark"),
        (C, "benchmark", "sampled"),
    ]
    checks = rows(
        "dialogue_id kind outcome reasons",
        ("d1", "instruction", "drop", ["leak", "short"]),
        ("d2", "instruction", "review", ["leak"]),
        ("d3", "benchmark", "drop", ["leak"]),
        ("removed", "instruction", "drop", ["leak"]),
        **{"question_id": "q", "turn": 1},
    )
    approved = rows(
        "item_id status content reason",
        ("i1", "rejected", '{"turns": [{"question": "T?"}]}', None),
        ("i2", "rejected", '{"question": "Q?"}', "a"),
        ("i3", "rejected", '{"rewrite": "R."}', "b"),
        ("i4", "rejected", '{"text": "X."}', "c"),
        ("i5", "rejected", "{}", "d"),
        ("i6", "pending", "{}", None),
        kind="dialogue",
    )
    titles = [("e1", "p", "Boat"), ("e2", "p", "Boat"), ("e3", "p", "Canoe"), ("e4", "o", "Raft")]
    languages = [("de", "language", 2), ("x", "no_topic", 3)]
    turns = rows("question_id question", ("q", "What?"), ("another", "Where?"))
    of: Rows = {
        "ingest.rejected": rows("kind reference", *lines, **refused),
        "ingest.left_out": rows(
            "reference reason n_rows",
            *languages,
            **{"wit_shard": "s", "step": "pages", "detail": "Byte 0."},
        ),
        "ingest.entries": rows("entry_id page_id title", *titles, image_id=A),
        "cluster.splits": rows("image_id split reason", *splits, page_id="p"),
        "dialogue.failed": [lost, lost],
        "rewrite.failed": [{**lost, "stage": "rewrites"}],
        "choice.failed": [{**lost, "stage": "items"}],
        "quality.failed": [{**lost, "stage": "checks"}],
        "quality.checks": checks,
        "dialogue.dialogues": rows("dialogue_id", ("d1",), ("d3",), turns=turns),
        "review.approved": approved,
    }
    pairs = [("turn 1 of dialogue d1", "What?"), ("turn 1 of dialogue removed", "")]
    columns = "step reason noun n examples"
    assert [
        (*of, [(each["reference"], each["detail"]) for each in examples])
        for *of, examples in found(tables, "left_out", columns, of, n_examples=2)
    ] == [
        ("ingest.images", "not_utf8", "picture", 1, [("s, u", "Byte 0.")]),
        ("ingest.pages", "no_topic", "row", 3, [("s, x", "Byte 0.")]),
        ("ingest.pages", "language", "row", 2, [("s, de", "Byte 0.")]),
        ("ingest.wit_rows", "not_utf8", "row", 3, [("s, k", "Byte 0."), ("s, l", "Byte 0.")]),
        ("choice.items", "timeout", "request", 1, [("q", "None came.")]),
        ("cluster.splits", "bridges_splits", "entry", 2, [("Boat", ""), ("Canoe", "")]),
        ("cluster.splits", "in_imported_benchmark", "entry", 1, [("p", "")]),
        ("dialogue.answers", "timeout", "request", 2, [("q", "None came.")] * 2),
        ("quality.checks", "leak", "pair", 2, pairs),
        ("quality.checks", "timeout", "check", 1, [("q", "None came.")]),
        ("review.approved", "a", "dialogue", 1, [("i2", "Q?")]),
        ("review.approved", "b", "dialogue", 1, [("i3", "R.")]),
        ("review.approved", "c", "dialogue", 1, [("i4", "X.")]),
        ("review.approved", "d", "dialogue", 1, [("i5", "")]),
        ("review.approved", "without a reason", "dialogue", 1, [("i1", "T?")]),
        ("rewrite.rewrites", "timeout", "request", 1, [("q", "None came.")]),
    ]
