"""Warehouses of earlier versions, made by hand, and what their rows are today."""

from pathlib import Path
from typing import Any

import duckdb

from resources.migrations import migrations
from resources.warehouse_schema import MIGRATIONS, sql_text
from tests.resources.store_files import Rows, rows_of_duckdb

WORDS = {"founded": "seed", "overtaken": "absorbed", "sparse": "noise"}
MEANS = {"turn_mean": "micro", "dialogue_mean": "macro"}


CARD = (
    *("parent", "settings", "prompt_versions", "writers", "corpus", "project_version"),
    *("quality", "licences"),
)
"""What releases of today say of how they were made."""

SAME_PROMPT = {"mmdu/judge@aa9bc1f9": "mmdu/judge@4bf65a46"}
"""Judge's prompts whose replies count as replies to another one (docs/decisions/0019)."""

ITEM_ANALYSIS = (
    "evaluate.filters",
    "evaluate.flagged_items",
    "evaluate.item_statistics",
    "evaluate.smallest_subsets",
    "evaluate.item_queue",
    "evaluate.item_decisions",
)
"""Tables of a later version."""

OBSERVED_OF_JUDGMENT = (
    *("benchmark", "release_id", "model", "judge", "replicate", "item_id", "trial", "turn", "part"),
    *("call_key", "answer_call_key"),
)


def today(before: Rows) -> Rows:
    """The rows of version 6 without buckets, scores with the version of the judge's prompt, paths of
    pages inside the home."""
    after = {
        name: [{column: row[column] for column in row if column != "bucket"} for row in rows]
        for name, rows in before.items()
    }
    versions: dict[tuple[str, ...], list[str]] = {}
    for row in after["evaluate.judgments"]:
        # As text an 8 is not an 8.0.
        row["score"] = float(row["score"])
        row["scores"] = {name: float(score) for name, score in row["scores"].items()}
        versions.setdefault(_judged(row), []).append(row["prompt_version"].partition("+")[0])
    for row in after["evaluate.scores"]:
        row["judge_prompt_version"] = min(versions.get(_judged(row), ["unknown"]))
    for row in (*after["evaluate.reports"], *after["cluster.pictures"]):
        row["path"] = "reports/" + row["path"].rpartition("/reports/")[2]
    for row in after["ingest.images"]:
        row |= dict.fromkeys(
            ("contrast", "visible", "stated_mime_type", "rights", "licence_source")
        )
    for row in after["ingest.entries"]:
        row["licence_source"] = None
    for row in after["release.releases"]:
        benchmark = row["name"] if row["kind"] == "benchmark" else None
        row |= dict.fromkeys(CARD) | {"benchmark": benchmark, "origin": "built"}
        row |= {"split": None, "language": None}
    for row in after["release.items"]:
        row |= {"group_id": None, "labels": {}}
    for row in after["release.turns"]:
        row["given"] = None
    for row in after["release.references"]:
        row["kind"] = "answer"
    for row in after["evaluate.answers"]:
        row |= {"finish_reason": None, "reasoning": None}
    for row in after["evaluate.scores"]:
        row |= {"n_truncated": 0, "n_reasoning_only": 0, "n_empty": 0}
    evaluated_today(after)
    for row in after["ledger.calls"]:
        lost = "refused" if row["finish_reason"] == "content_filter" else "lost"
        row |= {"endpoint": None, "outcome": "answered" if row["status"] == "answered" else lost}
    for row in after["dialogue.questions"]:
        row |= {"angle": None, "until_position": None}
    of_entry = {row["entry_id"]: row for row in after["ingest.entries"]}
    for row in after["cluster.clusters"]:
        entry = of_entry.get(row["entry_id"], {})
        row |= {name: entry.get(name) for name in ("page_id", "image_id")}
    for kind in ("group", "cluster"):
        found = [row for row in after["cluster.communities"] if row["kind"] == kind]
        found.sort(key=lambda row: (-row["n_members"], row["community_id"]))
        for place, row in enumerate(found, start=1):
            row["place"] = place
    made_later = (
        *("evaluate.missing", "evaluate.not_made"),
        *("release.choices", "choice.items", "choice.failed"),
        "evaluate.ability_comparisons",
        *ITEM_ANALYSIS,
        *("choice.translations", "evaluate.language_gaps"),
        *("evaluate.wording_effects", "evaluate.group_spreads"),
        *("evaluate.predictions", "evaluate.prediction_files"),
        *("evaluate.human_scores", "evaluate.human_score_files"),
        *("evaluate.judge_probes", "evaluate.probe_judgments"),
        *("evaluate.critic_pairs", "evaluate.critic_left_out"),
        "evaluate.error_attribution",
        "ingest.left_out",
        *(f"evaluate.{name}" for name in ("pairs", "pair_designs", "pair_ratings", "pair_biases")),
        *("cluster.picture_miniatures", "cluster.picture_pairs"),
        "evaluate.missing",
        "cluster.sides",
        "release.choices",
        "choice.items",
        "choice.failed",
        "choice.mmiu_items",
        "choice.mmiu_images",
        *(f"rewrite.{name}" for name in ("candidates", "seeds", "seed_rewrites", "contexts")),
        "rewrite.picture_vectors",
        *(f"quality.{name}" for name in ("checks", "asked", "failed")),
        "release.overlaps",
        *(
            f"dialogue.{name}"
            for name in ("instructions", "three_turns", "turn_references", "turn_categories")
        ),
    )
    return {**after, **{table: [] for table in made_later}}


def evaluated_today(after: Rows) -> None:
    """Evaluation with trials, replicates and observations."""
    judges = {}
    for row in after["evaluate.judgments"]:
        judges.setdefault(row["release_id"], []).append(row["judge"])
    unasked = {
        (row["release_id"], row["model"], row["item_id"], row["turn"])
        for row in after["evaluate.failed"]
        if (row["stage"], row["reason"]) == ("answers", "not_asked")
    }
    for row in after["evaluate.answers"]:
        row |= {"trial": "plain", "turns_left_out": None, "images_left_out": None}
        if (row["release_id"], row["model"], row["item_id"], row["turn"]) in unasked:
            row["status"] = "not_asked"
    for row in after["evaluate.judgments"]:
        asked = row["prompt_version"].partition("+")[0]
        row |= {"trial": "plain", "replicate": 0, "part": "turn"}
        row["judge_version"] = SAME_PROMPT.get(asked, asked)
    for row in after["evaluate.failed"]:
        known = set(judges.get(row["release_id"], ()))
        judge = known.pop() if len(known) == 1 else "unknown"
        asked = row["model"] if row["stage"] == "answers" else judge
        row |= {"trial": "plain", "asked": asked}
    scores = []
    for row in after["evaluate.scores"]:
        metric, version = row.pop("dimension"), row.pop("judge_prompt_version")
        row |= {"metric": metric, "judge_version": version, "n_units": row["n_judged"]}
        row |= {"subset_label": "", "subset_value": ""}
        by_turn = 0 if row["aggregation"] == "micro" else 1
        row["place"] = by_turn if metric == "Overall Score" else 2
        forms = ["judged", "floor"] if row["n_judged"] == row["n_turns"] else ["judged"]
        scores += [{**row, "form": form} for form in forms]
    after["evaluate.scores"] = scores
    calls = {
        (row["release_id"], row["model"], row["item_id"], row["turn"]): row["call_key"]
        for row in after["evaluate.answers"]
    }
    after["evaluate.observations"] = [
        {
            **{name: row[name] for name in OBSERVED_OF_JUDGMENT},
            "judge_version": row["prompt_version"].partition("+")[0],
            "metric": metric,
            "value": float(value),
            "status": "judged",
        }
        for row in after["evaluate.judgments"]
        for metric, value in dict(row["scores"]).items()
        if calls.get((row["release_id"], row["model"], row["item_id"], row["turn"]))
        == row["answer_call_key"]
    ]
    later = (
        "second_readings",
        "extraction_queue",
        "extraction_quality",
        "task_map",
        "task_distances",
    )
    for name in ("extractions", "comparisons", "ranks", "judge_quality", *later):
        after[f"evaluate.{name}"] = []


def _judged(row: dict[str, Any]) -> tuple[str, ...]:
    return row["release_id"], row["model"], row["judge"]


def expected(before: Rows) -> Rows:
    """The rows of version 1 under the names and in the words of today."""
    after = {name: [dict(row) for row in rows] for name, rows in before.items()}
    after["rewrite.rewrites"] = after.pop("rewrite.prompts")
    after["cluster.duplicates"] = after.pop("ingest.duplicates")
    lost = after["dialogue.failed"]
    after["rewrite.failed"] = [
        {**row, "stage": "rewrites"} for row in lost if row["stage"] == "prompts"
    ]
    after["dialogue.failed"] = [row for row in lost if row["stage"] != "prompts"]
    queue, agreement = after["review.queue"], after["review.agreement"]
    after["evaluate.score_queue"] = [row for row in queue if row["kind"] == "score"]
    after["review.queue"] = [row for row in queue if row["kind"] != "score"]
    after["evaluate.judge_agreement"] = [row for row in agreement if "judge:" in row["raters"]]
    after["review.agreement"] = [row for row in agreement if "judge:" not in row["raters"]]
    for row in after["evaluate.scores"]:
        row["aggregation"] = MEANS[row["aggregation"]]
    for row in after["cluster.clusters"]:
        for column in ("group_how", "cluster_how"):
            row[column] = WORDS.get(row[column], row[column])
    for row in after["cluster.communities"]:
        row["created_in"] = row.pop("founded_in")
    for row in after["ledger.calls"]:
        if row["stage"] == "rewrite.prompts":
            row["stage"] = "rewrite.rewrites"
    return today(after)


def hand_made_version_1(path: Path) -> Rows:
    """A small file with a row for whatever a migration changes; its rows."""
    ways = [("founded", "founded"), ("founded", "overtaken"), ("assigned", "sparse")]
    ways += [("founded", "assigned"), ("founded", "no neighbour")]
    ways += [(how, None) for how in ("overtaken", "sparse", "no neighbour")]
    with duckdb.connect(str(path)) as old:
        old.execute(migrations(MIGRATIONS)[0].text())
        old.execute("CREATE TABLE main.schema_version AS SELECT 'a hash' AS version")
        for number, (group_how, cluster_how) in enumerate(ways):
            group = "g" if cluster_how else None
            cluster = "c" if cluster_how in ("founded", "assigned") else None
            old.execute(
                "INSERT INTO cluster.clusters (entry_id, category_text_id, caption_text_id, "
                "group_id, group_how, cluster_id, cluster_how) VALUES (?, 't', 't', ?, ?, ?, ?)",
                [f"{number}", group, group_how, cluster, cluster_how],
            )
        for stage in ("summaries", "questions", "answers", "dialogues", "prompts"):
            old.execute(
                "INSERT INTO dialogue.failed VALUES ('00', ?, 's', 'e', 'refused', 'no', NULL)",
                [stage],
            )
        for kind in ("dialogue", "rewrite", "score"):
            old.execute(
                "INSERT INTO review.queue VALUES (?, ?, 's', '00', '{}', 'h', NULL, ['i'])",
                [f"item-{kind}", kind],
            )
        for raters in ("all", "alice|bob", "people|judge:j"):
            old.execute(
                "INSERT INTO review.agreement VALUES "
                "('score', 'd', ?, 'raw', 1, NULL, NULL, NULL, 'one item')",
                [raters],
            )
        for aggregation in MEANS:
            old.execute(
                "INSERT INTO evaluate.scores VALUES "
                "('b', 'r', 'm', 'j', 'p', 'd', ?, 1, 0, 2, 1, 1, 1, 0, 0)",
                [aggregation],
            )
        for version in ("judge@2", "judge@1+repair@1"):
            old.execute(
                "INSERT INTO evaluate.judgments VALUES "
                "('b', 'r', 'm', 'j', 'p', ?, 1, map {'d': 7}, 7, 'good', 'a', 'k', ?)",
                [version, version],
            )
        old.execute("INSERT INTO ingest.duplicates VALUES ('i', 'i', 2, NULL)")
        old.execute(
            "INSERT INTO rewrite.prompts VALUES ('00', 's', 'w', 'd', 1, 'o', 'w', 'k', 'p', 'x')"
        )
        old.execute(
            "INSERT INTO cluster.communities VALUES "
            "('g', 'group', NULL, '0', 't', 't', 1, 'run', 'm', 0.5, 2, 'exact', 'exact')"
        )
        old.execute(
            "INSERT INTO ledger.calls VALUES ('k', 'lost', 'p', 'm', 'v', 'rewrite.prompts', 'r', "
            "'live', 'length', 1, 0, 0, NULL, NULL, '2026-01-01T00:00:00Z')"
        )
    return rows_of_duckdb(path)


def raised_to(version: int, path: Path) -> None:
    """Bring a file of version 1 to `version`, as the code of that version did."""
    with duckdb.connect(str(path)) as old:
        for step in migrations(MIGRATIONS)[:version]:
            old.execute(step.text())
        for statement in old.extract_statements(sql_text("version_write")):
            values = {"version": version, "declared": "what was declared then"}
            old.execute(statement, {name: values[name] for name in statement.named_parameters})


VERSION_6 = """
INSERT INTO cluster.image_sets SELECT 's' || i, '0' || i, k, 'c', i, 'e' || i, 'image'
FROM range(1, 4) AS t (i), (VALUES ('benchmark')) AS u (k);
INSERT INTO dialogue.summaries SELECT '0' || i, 's' || i, 'e', 'text ' || i, 'k', 'p@1', 'offline'
FROM range(2) AS t (i);
INSERT INTO dialogue.questions VALUES
    ('00', 's', 'q1', 'single', 2, 1, 'What?', 'k', 'p@1', 'offline'),
    ('07', 's', 'q2', 'multi', NULL, 2, 'Which?', 'l', 'p@1+repair@1', 'offline');
INSERT INTO dialogue.answers VALUES
    ('00', 's', 'q1', 'A kite.', 'k', 'p@1', 'offline'), ('07', 's', 'q2', 'Both.', 'l', 'p@1', 'x');
INSERT INTO dialogue.dialogues SELECT '0' || i, 's', 'd' || i, 'instruction', ['i1', 'i2'], 2, 1,
    [{question_id: 'q1', question: 'What? ' || i, answer: 'A kite.'}]
FROM range(2) AS t (i);
INSERT INTO dialogue.failed VALUES
    ('00', 'answers', 's', 'q3', 'refused', 'no', NULL),
    ('00', 'answers', 's', 'q3', 'refused', 'no', 'k');
INSERT INTO rewrite.rewrites SELECT '0' || i, 's', 'r' || i, 'd', i, 'What?', 'Say!', 'k', 'p', 'x'
FROM range(1, 3) AS t (i);
INSERT INTO rewrite.failed SELECT '00', 'rewrites', 's', 'd', 'cut', 'short', NULL FROM range(2);
INSERT INTO review.queue VALUES
    ('i1', 'dialogue', 's', '00', '{"turns": [1]}', 'h', NULL, ['a', 'b']),
    ('i2', 'rewrite', 's', '07', '{}', 'h', '{"captions": ["A tower"]}', []);
INSERT INTO evaluate.score_queue
SELECT 'a' || i, 'score', 's', '0' || i, '{"answer": "A kite."}', 'h', NULL, [] FROM range(2) AS t (i);
INSERT INTO evaluate.judgments
SELECT 'mmdu', 'mmdu-1', model, judge, 'offline', item, 1, map {'Richness': 7}, 7, 'good', 'k', 'k',
    version
FROM (VALUES
    ('careful', 'first', 'i1', 'judge@1'), ('careful', 'first', 'i2', 'judge@1+repair@1'),
    ('careful', 'second', 'i1', 'judge@2'), ('careless', 'first', 'i1', 'judge@3+repair@1')
) AS t (model, judge, item, version);
INSERT INTO evaluate.scores
SELECT 'mmdu', 'mmdu-1', model, judge, 'offline', 'Overall Score', aggregation, value, 0, 100, 1, 1, 1,
    0, 0
FROM (VALUES
    ('careful', 'first', 'micro', 60), ('careful', 'first', 'macro', 61),
    ('careful', 'second', 'micro', 70), ('careless', 'first', 'micro', 30),
    ('gone', 'first', 'micro', 10)
) AS t (model, judge, aggregation, value);
"""
"""Rows for whatever a later migration changes."""


def hand_made_version_6(path: Path) -> Rows:
    """A small file with a row for whatever a later migration changes; its rows."""
    raised_to(6, path)
    with duckdb.connect(str(path)) as old:
        old.execute(VERSION_6)
    return rows_of_duckdb(path)
