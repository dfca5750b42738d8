"""Queries of the stages before the evaluation, on rows worked by hand."""

import hashlib
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from assets.common.tables import rows_to_arrow
from methods.ingest.wit import SEEN
from tests.assets.filled import filled
from tests.assets.query_rows import TURNS, Rows, asked, picked, rows_of, rows_with

Tables = duckdb.DuckDBPyConnection
VECTORS = rows_of("cluster.embeddings")
CAPTIONS = ("reference", "alt_text", "attribution")


def test_the_largest_come_first(tables: Tables) -> None:
    """Of three groups `b` and `c` have two entries each."""
    grouped = {"1": "a", "2": "c", "3": "c", "4": "b", "5": "b"}
    entries = [{"entry_id": each, "categories": [group]} for each, group in grouped.items()]
    clusters = [
        {"entry_id": each, "group_id": group, "group_centre": each if each in "13" else "none"}
        for each, group in grouped.items()
    ]
    found = asked(tables, "cluster/categories", {"ingest.entries": entries})
    assert picked(found, "category n_entries") == [("b", 2), ("c", 2), ("a", 1)]
    rows = {"cluster.clusters": clusters, "ingest.entries": entries}
    found = asked(tables, "cluster/largest_groups", rows, n_rows=2)
    assert picked(found, "group_id size share") == [("b", 2, 0.4), ("c", 2, 0.4)]
    spoken = {"a": ["x", "y"], "b": ["z"], "c": ["w"]}
    entries = [{"entry_id": each, "language": of} for of, ids in spoken.items() for each in ids]
    read = [{"language": language, "is_read": False} for language in "cba"]
    rows = {"cluster.languages": read, "ingest.entries": entries}
    found = asked(tables, "cluster/unreadable_languages", rows, model="model")
    assert picked(found, "language n") == [("a", 2), ("b", 1), ("c", 1)]


def test_the_largest_communities_are_some_of_each_kind(tables: Tables) -> None:
    sizes = {"a": 1, "e": 2, "c": 2, "b": 2, "d": 3}
    communities = [
        {"community_id": f"{kind} {name}", "kind": kind, "n_members": size, "place": place}
        | {"group_id": None if kind == "group" else "group a"}
        for kind in ("cluster", "group")
        for place, (name, size) in enumerate(sizes.items(), 1)
    ]
    rows = {"cluster.communities": communities, "cluster.embeddings": VECTORS}
    found = asked(tables, "cluster/largest_communities", rows, n_each=3)
    assert picked(found, "community_id centre") == [
        (f"{kind} {name}", centre)
        for kind, centre in (("group", "categories"), ("cluster", "caption"))
        for name in "dbc"
    ]


def test_the_queue_begins_with_what_the_checks_want_looked_at(tables: Tables) -> None:
    """A pair that a check drops from an instruction set needs nobody."""
    checks = rows_with(
        "dialogue_id outcome kind",
        ("passed", "pass", "benchmark"),
        ("unclear", "review", "instruction"),
        ("left", "drop", "instruction"),
        ("dropped", "drop", "benchmark"),
    )
    queue = [{"item_id": row["dialogue_id"]} for row in checks]
    queue.append({"item_id": "aaa", "kind": "rewrite"})
    found = asked(tables, "review/queue", {"quality.checks": checks, "review.queue": queue})
    assert [row["item_id"] for row in found] == ["dropped", "unclear", "left", "passed", "aaa"]


def test_captions_of_a_dialogue_for_review_are_in_the_order_of_its_images(tables: Tables) -> None:
    rows = {
        "ingest.entries": rows_with(
            "entry_id caption page_url", ("a", "2nd", "2"), ("b", "1st", "1")
        ),
        "cluster.image_sets": rows_with("entry_id image_id position", ("a", "A", 1), ("b", "B", 2)),
        "dialogue.dialogues": [{"image_ids": ["B", "A"]}],
    }
    (item,) = asked(tables, "review/reviewable", rows)
    assert picked([item], "captions page_urls") == [(["1st", "2nd"], ["1", "2"])]


def test_a_task_of_two_turns_has_the_category_of_each(tables: Tables) -> None:
    """Perception and creation both have the task "Description"."""
    turns = ("perception", "reasoning", "creation")
    tasks = ("Description", "Reasoning", "Description")
    categories = ("Scene Description", "Reasoning", "Descriptive Writing")
    references = ((1, "caption"), (1, "answer"), (2, "answer"), (3, "answer"))
    rows: Rows = {
        "ingest.entries": [{}],
        "dialogue.three_turns": [{"turns": [{"question": "?", "task": task} for task in tasks]}],
        "dialogue.turn_references": rows_with("turn kind", *references),
        "dialogue.turn_categories": [
            {"capability": turn, "name": task, "category": category}
            for turn, task, category in zip(turns, tasks, categories, strict=True)
        ],
    }
    (item,) = asked(tables, "review/reviewable", rows)
    assert tuple(item[turn]["category"] for turn in turns) == categories
    assert len(item["why"]) == 3


def test_pictures_of_seeds_dialogues_and_conversations_have_a_source(tables: Tables) -> None:
    """Of entries with one picture that of the first shard, and there the first one."""
    images = {letter: letter * 64 for letter in "abcd"}
    entries = [{"entry_id": letter, "image_id": images[letter]} for letter in "dcba"]
    entries += [
        {"entry_id": "1", "image_id": images["a"], "title": "first", "wit_shard": "s1"},
        {"entry_id": "0", "image_id": images["a"], "wit_shard": "s2"},
        {"entry_id": "2", "image_id": images["a"], "wit_shard": "s1"},
    ]
    rows: Rows = {
        "ingest.entries": entries,
        "rewrite.seeds": [{"image_id": images["a"]}],
        "rewrite.contexts": [{"image_id": images["b"]}],
        "dialogue.three_turns": [{"image_id": images["c"]}],
    }
    found = asked(tables, "release/picture_sources", rows)
    assert [row["image_id"][0] for row in found] == ["a", "b", "c"]
    assert found[0]["title"] == "first"


def test_the_images_of_a_set_are_in_their_order(tables: Tables) -> None:
    images = [(3, "a", "of a"), (1, "b", "of b"), (2, "c", "of c")]
    sets = rows_with("position entry_id image_id", *images)
    (found,) = asked(tables, "cluster/prior_sets", {"cluster.image_sets": sets}, kind="benchmark")
    assert found["entry_ids"] == ["b", "c", "a"]
    assert found["image_ids"] == ["of b", "of c", "of a"]
    rows = {"cluster.image_sets": sets, "ingest.entries": [{"entry_id": name} for name in "abc"]}
    found = asked(tables, "dialogue/sets", rows)
    assert [row["entry_id"] for row in found] == ["b", "c", "a"]


def test_tasks_are_listed_by_turn_and_name(tables: Tables) -> None:
    turns = {name: [{"question": "question", "task": name}] * 3 for name in "cab"}
    ids = ("item_id", "instruction_id", "dialogue_id")
    rows = [{**dict.fromkeys(ids, name), "turns": turns[name]} for name in turns]
    found = asked(tables, "dialogue/turn_tasks", {"dialogue.three_turns": rows})
    listed = " ".join(f"{row['turn']}{row['name']}" for row in found)
    assert listed == "1a 1b 1c 2a 2b 2c 3a 3b 3c"


def test_a_stack_has_the_sources_of_pictures_of_several_sets(tables: Tables) -> None:
    """A dialogue of set `s` goes on with a question on the picture of set `t`."""
    sets = {"s": "a", "t": "b"}
    rows: Rows = {
        "ingest.entries": [{"entry_id": name, "title": f"title {name}"} for name in "ab"],
        "cluster.image_sets": [
            {"set_id": set_id, "entry_id": name, "image_id": f"image {name}"}
            for set_id, name in sets.items()
        ],
        "dialogue.questions": [{"set_id": each, "question_id": f"on {each}"} for each in sets],
        "dialogue.dialogues": [
            {"set_id": "s", "image_ids": ["image a", "image b"]}
            | {"turns": [{**TURNS[0], "question_id": f"on {each}"} for each in sets]}
        ],
    }
    found = asked(tables, "release/sources", rows)
    assert sorted((row["set_id"], row["image_id"], row["title"]) for row in found) == [
        ("s", "image a", "title a"),
        ("s", "image b", "title b"),
        ("t", "image b", "title b"),
    ]


def test_captions_of_a_language_are_those_with_the_smallest_ids(tables: Tables) -> None:
    """The id of `b` is smaller, and two entries have it as their caption."""
    captions = {"1": "a", "2": "b", "3": "b"}
    rows = {"ingest.entries": [{"entry_id": n, "caption": text} for n, text in captions.items()]}
    of = {n: asked(tables, "cluster/captions_of_languages", rows, n=n) for n in (1, 9)}
    assert of[1] == [{"language": "language", "texts": ["b"]}]
    assert of[9] == [{"language": "language", "texts": ["b", "a"]}]


def test_a_release_is_current_if_its_name_says_so(tables: Tables) -> None:
    releases = [{"name": "n", "release_id": each} for each in "cab"]
    rows = {"release.releases": releases, "release.current": [{"name": "n", "release_id": "b"}]}
    found = asked(tables, "release/all", rows)
    assert picked(found, "release_id is_current") == [("a", False), ("b", True), ("c", False)]


def test_items_are_counted_by_the_licences_of_their_pictures(tables: Tables) -> None:
    """One has no picture, and one has a picture of no licence."""
    licences = {"a": ["x", "y"], "b": ["y", "x"], "c": [None], "d": []}
    images = [
        {"item_id": item, "position": position, "licence": licence}
        for item, of in licences.items()
        for position, licence in enumerate(of, 1)
    ]
    items = [{"item_id": item, "ordinal": n} for n, item in enumerate(licences, 1)]
    rows = {"release.images": images, "release.items": items}
    found = asked(tables, "release/export_licences", rows)
    assert picked(found, "licences n_items") == [([], 1), ([""], 1), (["x", "y"], 2)]


def test_only_built_items_are_counted_if_there_are_any(tables: Tables) -> None:
    named = [("a", "imported", "benchmark"), ("b", "built", "instruction")]
    releases = rows_with("release_id origin kind", *named)
    items = [{"release_id": each, "item_id": item} for each in "ab" for item in "ij"]
    rows: Rows = {"release.items": items, "release.releases": releases}
    rows["release.current"] = [{"name": each, "release_id": each} for each in "ab"]
    assert asked(tables, "release/items_by_kind", rows) == [{"kind": "instruction", "n": 2}]
    for release in releases:
        release["origin"] = "imported"
    found = asked(tables, "release/items_by_kind", rows)
    assert picked(found, "kind n") == [("benchmark", 2), ("instruction", 2)]


def test_a_community_whose_centre_is_gone_has_its_text_as_title(tables: Tables) -> None:
    communities = [{**row, "centre_entry_id": "gone"} for row in rows_of("cluster.communities")]
    rows: Rows = {"cluster.embeddings": VECTORS, "cluster.communities": communities}
    rows["ingest.entries"] = rows["cluster.map"] = [{}]
    rows["cluster.clusters"] = [{"cluster_centre": "another"}]
    rows["cluster.cohesion"] = []
    (found,) = asked(tables, "cluster/cluster_centres", rows)
    assert (found["cluster_id"], found["title"]) == ("cluster_id", "caption")
    (found,) = asked(tables, "cluster/map_points", rows)
    assert (found["group_title"], found["cluster_title"]) == ("categories", None)
    assert found["is_centre"] is False
    rows["cluster.communities"] = rows_of("cluster.communities")
    assert asked(tables, "cluster/map_points", rows)[0]["group_title"] == "title"


def test_clusters_and_entries_on_the_map_are_in_their_order(tables: Tables) -> None:
    names = [*"dbaec"]
    rows: Rows = {
        "cluster.communities": [
            {"community_id": name, "kind": "cluster", "group_id": "group_id", "place": place}
            for place, name in enumerate(names, 1)
        ],
        "cluster.embeddings": VECTORS,
        "cluster.clusters": [{"entry_id": name} for name in names],
        "cluster.cohesion": [],
        "cluster.map": [{"entry_id": name, "place": ord(name)} for name in names],
        "ingest.entries": [{"entry_id": name, "title": name} for name in names],
    }
    found = asked(tables, "cluster/cluster_centres", rows)
    assert [row["cluster_id"] for row in found] == sorted(names)
    found = asked(tables, "cluster/map_points", rows)
    assert [row["title"] for row in found] == sorted(names)


def test_the_loosest_clusters_come_first_and_are_below_the_limit(tables: Tables) -> None:
    means = [("at the limit", 0.5), ("b", 0.25), ("a", 0.25), ("tight", 0.75)]
    rows: Rows = {"cluster.cohesion": rows_with("cluster_id mean_similarity", *means)}
    found = asked(tables, "cluster/loose", rows, n_similarity=0.5)
    assert [row["cluster_id"] for row in found] == ["a", "b"]
    rows |= {"cluster.communities": [{"community_id": "a", "centre_entry_id": "gone"}]}
    found = asked(tables, "cluster/loosest", {**rows, "ingest.entries": [{}]}, n_rows=3)
    assert [row["cluster_id"] for row in found] == ["a", "b", "at the limit"]


def test_an_image_of_a_page_has_the_clusters_of_its_entries_and_its_near_duplicates(
    tables: Tables,
) -> None:
    """The page `other` has the same image, and no versions. A group of equal URLs does not count."""
    grouped = {"2": "b", "1": "a", "3": None}
    no_cluster = {"cluster_how": "no neighbour"}
    rows: Rows = {
        "ingest.entries": [{"entry_id": each} for each in grouped]
        + [{"entry_id": "4", "page_id": "other"}],
        "cluster.clusters": [
            {"entry_id": each, "cluster_id": of, **({} if of else no_cluster)}
            for each, of in grouped.items()
        ],
        "cluster.duplicates": [{"distance": None}],
        "ingest.pages": [{}, {"page_id": "third"}, {"wit_shard": "another", "page_id": "other"}],
    }
    found = asked(tables, "cluster/page_images", rows)
    assert picked(found, "page_id clusters versions duplicate_group") == [
        ("other", [], [], None),
        ("page_id", ["a", "b"], ["version_ids"], None),
    ]
    rows["cluster.duplicates"] = [{"distance": 0}]
    found = asked(tables, "cluster/page_images", rows)
    assert [row["duplicate_group"] for row in found] == ["group_id", "group_id"]


def test_a_changed_entry_has_the_group_of_its_former_version_with_most_of_its_texts(
    tables: Tables,
) -> None:
    """`own` is as it was clustered; the entries of the other rows are gone."""
    ids = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("new", "c")}
    texts = {"category_text_id": ids["c"], "caption_text_id": ids["new"]}
    at = {"page_id": "p", "image_id": "i"}
    new = {**at, "entry_id": "new", "caption": "new", "categories": ["c"]}
    clusters = [
        {**texts, **at, "entry_id": "near", "category_text_id": "other"},
        {**texts, **at, "entry_id": "far", "caption_text_id": "other"},
        {**texts, **at, "entry_id": "of another page", "page_id": "q"},
        {**texts, **at, "entry_id": "of another image", "image_id": "j"},
        {"entry_id": "own"},
    ]
    rows: Rows = {"cluster.clusters": [{**row, "group_id": row["entry_id"]} for row in clusters]}
    rows["ingest.entries"] = [new, {"entry_id": "own"}, {"entry_id": "later"}]
    rows["cluster.languages"] = [{"is_read": False, "language": "de"}]
    # A former version with the texts of `later`, which was in no group.
    alone = {"entry_id": "alone", "group_id": None, "group_how": "no neighbour"}
    alone |= dict.fromkeys(("cluster_id", "cluster_how"))
    rows["cluster.clusters"].append(alone)
    rows["ingest.entries"].append({"entry_id": "alone"})
    found = asked(tables, "cluster/prior_memberships", rows, model="model")
    columns = "entry_id group_id known category_changed caption_changed"
    assert picked(found, columns) == [
        ("alone", None, True, False, False),
        ("later", "own", False, False, False),
        ("new", "near", False, True, False),
        ("own", "own", True, False, False),
    ]


def test_entries_without_a_split_are_in_no_benchmark_and_a_text_counts_once(tables: Tables) -> None:
    reasons = {"a": ("benchmark", "sampled"), "b": ("instruction", "sampled")}
    reasons |= {"c": (None, "bridges_splits"), "d": (None, "bridges_splits")}
    rows: Rows = {
        "ingest.entries": [{"entry_id": each, "page_id": each} for each in reasons],
        "cluster.splits": [
            {"page_id": each, "split": split, "reason": reason}
            for each, (split, reason) in reasons.items()
        ],
    }
    found = asked(tables, "cluster/left_out_of_benchmarks", rows)
    assert picked(found, "reason n") == [("bridges_splits", 2), ("in the instruction split", 1)]
    rows["cluster.embeddings"] = VECTORS
    assert asked(tables, "cluster/known_texts", rows, model="model") == [{"n": 2}]
    rows["cluster.embeddings"] = VECTORS[:1]
    assert asked(tables, "cluster/known_texts", rows, model="model") == [{"n": 1}]


def test_a_page_has_the_longest_text_that_is_seen(tables: Tables) -> None:
    """Its longest texts have no character that is seen."""
    texts = [(None, " " * 9), (None, "first"), (" " * 9, "section")]
    texts += [("page", None), ("whole page", "a section")]
    rows = [
        {"line_number": number, "context_page_description": page}
        | {"context_section_description": section}
        for number, (page, section) in enumerate(texts, start=1)
    ]
    columns = ("section_title", *(f"caption_{name}_description" for name in CAPTIONS))
    for n_rows, text in enumerate((None, "first", "section", "page", "whole page"), start=1):
        of = {"ingest.wit_rows": rows[:n_rows]}
        (page,) = asked(tables, "ingest/pages_of_shards", of, languages=[], seen=r"\S")
        assert picked([page], "page_text n_rows said") == [(text, n_rows, ["\n".join(columns)])]


def test_sources_are_in_the_order_of_lines_and_images_in_that_of_their_urls(tables: Tables) -> None:
    """The last line has the first image."""
    lines = [
        {"line_number": 8 - number, "page_id": f"page {number}", "page_url": f"page {number}"}
        | {"image_url": f"image {number}"}
        for number in (4, 2, 7, 1, 5, 3, 6)
    ]
    images = [{"image_url": line["image_url"]} for line in lines]
    pages = [{"page_id": line["page_id"], "page_url": line["page_url"]} for line in lines]
    rows = {"ingest.wit_rows": lines, "ingest.pages": pages, "ingest.images": images}
    found = asked(tables, "ingest/entry_sources_of_shards", rows)
    assert [row["line_number"] for row in found] == [1, 2, 3, 4, 5, 6, 7]
    found = asked(tables, "ingest/image_urls_of_shards", rows)
    assert [row["image_url"] for row in found] == [f"image {number}" for number in range(1, 8)]


def test_a_page_has_changed_if_its_text_in_the_same_shard_was_another(
    tables: Tables, tmp_path: Path
) -> None:
    """`same` has the text that `edited` had in another shard, and `new` was in that one alone."""
    before = {("same", "wit_shard"): "a", ("same", "t"): "b", ("edited", "wit_shard"): "a"}
    before |= {("new", "t"): "b"}
    now = [
        {"page_id": each, "page_text": "a", "wit_shard": "wit_shard"} for each in ("same", "new")
    ]
    now.append({"page_id": "edited", "page_text": "b", "wit_shard": "wit_shard"})
    path = str(tmp_path / "pages.parquet")
    pq.write_table(
        rows_to_arrow("ingest.pages", [filled("ingest.pages", row) for row in now]), path
    )
    pages = [
        {"page_id": page_id, "wit_shard": shard, "page_text": text}
        for (page_id, shard), text in before.items()
    ]
    of = {"path": path, "run_id": "run", "shards": ["wit_shard", "t"]}
    found = asked(tables, "ingest/staging/changed_pages", {"ingest.pages": pages}, **of)
    assert picked(found, "page_id text_before text_after") == [("edited", "a", "b")]


def test_an_entry_takes_the_place_of_one_with_the_same_texts_in_its_language_alone(
    tables: Tables,
) -> None:
    """`old` is in a group, and the others have its texts. Another model does not read English."""
    languages = {"old": "en", "same": "en", "german": "de"}
    measured = [
        {"model": "other", "language": "en", "is_read": False},
        {"model": "model", "language": "de", "is_read": True},
    ]
    rows = {
        "ingest.entries": [
            {"entry_id": name, "language": language, "categories": [], "title": "categories"}
            for name, language in languages.items()
        ],
        "cluster.languages": measured,
        "cluster.clusters": [{"entry_id": "old"}],
    }
    found = asked(tables, "cluster/prior_memberships", rows)
    assert {row["entry_id"]: (row["language"], row["group_id"]) for row in found} == {
        "german": ("de", None),
        "old": ("en", "group_id"),
        "same": ("en", "group_id"),
    }


def test_a_seed_and_its_rewrites_have_the_task_that_people_approved(tables: Tables) -> None:
    """People changed the task of `seed` and rejected a rewrite of it; that of `other` awaits them."""
    decided = {
        "other": ("approved", ["ann"], "reference"),
        "other-task": ("pending", [], "category"),
        "seed": ("approved", ["ann"], "reference"),
        "seed-task": ("approved", ["bob", "ann"], "category"),
        "later": ("rejected", ["cat"], "rewrite"),
        "first": ("approved", ["cat"], "rewrite"),
    }
    items = [
        {"item_id": item_id, "status": status, "reviewers": reviewers, "kind": kind}
        | {"content": '{"category": "Meme"}' if item_id == "seed-task" else "{}"}
        for item_id, (status, reviewers, kind) in decided.items()
    ]
    seeds = [
        {"seed_id": seed_id, "image_id": image_id, "task": "Counting"}
        for seed_id, image_id in {"other": "a" * 64, "seed": "b" * 64}.items()
    ]
    rewrites = [
        {"seed_id": "seed", "rewrite_id": rewrite_id, "ordinal": ordinal}
        for ordinal, rewrite_id in enumerate(("first", "later"), 1)
    ]
    rows = {"review.approved": items, "rewrite.seeds": seeds, "rewrite.seed_rewrites": rewrites}
    queue = [{"item_id": item["item_id"], "kind": item["kind"]} for item in items]
    found = asked(tables, "release/reviewed_seeds", {**rows, "review.queue": queue})
    columns = "item_id task status reviewers"
    assert picked(found, columns) == [
        ("other", "Counting", "pending", ["ann"]),
        ("seed", "Meme", "approved", ["ann", "bob"]),
        ("first", "Meme", "approved", ["cat", "bob", "ann"]),
        ("later", "Meme", "rejected", ["cat", "bob", "ann"]),
    ]


def test_a_page_that_two_shards_have_is_one_source(tables: Tables) -> None:
    """Two sets have entries of the same pictures. One has a dialogue with them in the other order."""
    languages = {"e": "de", "f": "en", "g": "fr", "h": "nl"}
    orders = [("s", "12"), ("s", "21"), ("t", "12")]
    rows: Rows = {
        "ingest.entries": [
            {"wit_shard": shard, "entry_id": entry_id, "title": entry_id, "language": language}
            for shard in ("one", "two")
            for entry_id, language in languages.items()
        ],
        "cluster.image_sets": [
            {"set_id": set_id, "position": n, "entry_id": entry_id, "image_id": f"{n}"}
            for set_id, of_set in {"s": "ef", "t": "gh"}.items()
            for n, entry_id in enumerate(of_set, 1)
        ],
        "dialogue.dialogues": [
            {"dialogue_id": f"{set_id} {order}", "set_id": set_id, "image_ids": [*order]}
            for set_id, order in orders
        ],
    }
    found = asked(tables, "quality/dialogues", rows)
    assert [
        (row["language"], "".join(source["title"] for source in row["sources"])) for row in found
    ] == [("de", "ef"), ("en", "fe"), ("fr", "gh")]


def test_a_page_that_one_of_two_shards_leaves_out_counts_in_the_other_alone(tables: Tables) -> None:
    """By its first row the page is German in one shard and English in the other."""
    languages = {"one": ("de", "en"), "two": ("en", "de")}
    lines = [
        {"wit_shard": shard, "line_number": number, "language": language}
        for shard, of_rows in languages.items()
        for number, language in enumerate(of_rows, 1)
    ]
    rows: Rows = {"ingest.wit_rows": lines, "ingest.pages": [{"wit_shard": "two"}]}
    for name, columns, expected in (
        ("pages", "wit_shard n_rows", ("two", 2)),
        ("other_languages", "wit_shard n_rows", ("one", 2)),
        ("image_urls", "wit_shard", ("two",)),
    ):
        of = {"shards": [*languages], "languages": ["en"], "seen": SEEN}
        assert picked(asked(tables, f"ingest/{name}_of_shards", rows, **of), columns) == [expected]


def test_a_made_picture_has_what_is_known_of_all_it_was_made_of(tables: Tables) -> None:
    """Of the first picture one of two shards knows the licence, and of the third one none does."""
    known = [("a", "s", "A", None), ("a", "t", "A", "MIT OR CC0-1.0")]
    known += [("b", "s", "B", "CC-BY-4.0"), ("c", "s", "C", None), ("x", "s", "B", "CC-BY-4.0")]
    made = [
        {"image_id": name * 64, "made_from": [each * 64 for each in of]}
        for name, of in {"d": "ba", "e": "ca", "f": "xb"}.items()
    ]
    brought = {"image_id": "g" * 64, "made_from": [], "source": "TAP-Vid", "change": None}
    rows: Rows = {
        "ingest.entries": [
            {"image_id": name * 64, "entry_id": name, "wit_shard": shard, "licence": licence}
            | {"title": title, "attribution": f"by {name}", "page_url": f"page {name}"}
            for name, shard, title, licence in known
        ],
        "choice.mmiu_items": [
            {"item_id": item, "image_ids": [name * 64 for name in "abcdefg"]} for item in "ij"
        ],
        "choice.mmiu_images": [*made, brought],
    }
    found = asked(tables, "release/mmiu_sources", rows)
    assert picked(found, "licence page_url title attribution") == [
        ("MIT OR CC0-1.0", "page a", "A", "by a"),
        ("CC-BY-4.0", "page b", "B", "by b"),
        (None, "page c", "C", "by c"),
        ("(MIT OR CC0-1.0) AND CC-BY-4.0", "page a", "A; B", "by a; by b (changed: change)"),
        (None, "page a", "A; C", "by a; by c (changed: change)"),
        ("CC-BY-4.0", "page b", "B", "by b; by x (changed: change)"),
        (None, None, None, "TAP-Vid"),
    ]
