"""The queries and views that the laws are put to, and what each of them does with rows."""

import re
from typing import NamedTuple

from resources.warehouse import declared_columns
from tests.assets.query_rows import Row, Rows, reads, rows_of, views


class Query(NamedTuple):
    """A query or a view, and what it does with rows. A line of `LINES` has these columns."""

    label: str
    """Its name. A word after the name tells lines of one query apart, which have other rows."""
    order: str
    """The columns that its rows are sorted by, or texts of these columns.

    One with `-` descends. One with `+` does not order; rows that are in an order differ in it, too.
    """
    matching: str
    """Columns that rows have to have in common, or in which a filter asks for a value.

    With a dot it is a column of one table. A word in capitals is several columns (`SEVERAL`). Where
    `release_id` stands by itself, the query asks for one release.
    """
    optional: str
    """Tables without which there are the same rows."""

    @property
    def name(self) -> str:
        return self.label.split()[0]

    def matches(self, table: str, column: str) -> bool:
        """Whether a row of the table with another value in the column is as none."""
        of = table.partition(".")[2]
        names = {column, f"{of}.{column}"}
        for word in self.matching.split():
            only, dot, several = word.rpartition(".")
            if names & {f"{only}{dot}{each}" for each in SEVERAL.get(several, several).split()}:
                return f"{of}.{column}" not in UNMATCHED
        return False


SEVERAL = {
    "ITEM": "release_id item_id",
    "TURN": "release_id item_id turn",
    "ANSWER": "release_id model item_id trial turn",
    "JUDGMENT": "release_id model item_id trial turn judge replicate part",
    "SCORE": "release_id model judge judge_version metric aggregation",
    "LABEL": "answers.release_id answers.model",
    # How the score queue knows an answer.
    "TEXTS": "answers.answer turns.question references.kind references.reference",
}
"""What the words in capitals stand for: keys, and what is compared."""

LINES = """
release/all | name | current.name current.release_id | current
release/approved_dialogues | item_id | item_id status kind set_id |
release/built_splits | item_id | benchmark origin split release_id |
release/choices_of | ordinal position | release_id item_id |
release/images_of | ordinal position | release_id item_id |
release/turns_of | ordinal turn | release_id item_id |
release/references_of | ordinal turn kind | release_id item_id |
release/items_of | ordinal | release_id |
release/current | name | release_id |
release/current_of | name | release_id benchmark |
release/export_agreement | kind dimension | kind release_id item_id raters value |
release/export_licences | licences | release_id images.item_id | images
release/imported_images | image_id | release_id origin releases.kind |
release/imported_pages | page_id | release_id page_url origin releases.kind |
release/items_by_kind | kind +release_id +name | release_id |
release/named | | release_id |
release/origins | | question_id |
release/picture_sources | image_id | | seeds contexts three_turns
release/reviewed_choices | item_id | item_id entries.entry_id approved.kind set_id | entries
release/reviewed_mmiu | item_id | item_id kind |
release/reviewed_three_turns | item_id | item_id |
release/reviewed_translations | language item_id | item_id approved.kind set_id |
release/sources | | entry_id | dialogues questions
cluster/captions_of_languages | language | |
cluster/categories | -n_entries category | |
cluster/cluster_centres | cluster_id +place | text_id model | entries
cluster/cluster_members | cluster_id entry_id | |
cluster/cluster_sizes | | page_id image_id entry_id split |
cluster/communities | kind | text_id embeddings.model | embeddings
cluster/first_embeddings | entry_id space | text_id model |
cluster/image_hashes | image_id | |
cluster/known_texts | | text_id model |
cluster/largest_communities | -kind -n_members community_id +cluster_id +place | text_id model |
cluster/largest_groups | -size group_id | entries.entry_id | entries
cluster/left_out_of_benchmarks | reason | page_id image_id |
cluster/loose | mean_similarity cluster_id | |
cluster/loosest | mean_similarity cluster_id +place | entries.entry_id | communities entries
cluster/map_points | place +title | entry_id text_id model cohesion.cluster_id | communities
    cohesion embeddings
cluster/members | cluster_id entry_id | page_id image_id entry_id split | duplicates
cluster/nearest_pairs | -similarity cluster_id other_cluster_id +place | entries.entry_id |
    entries communities
cluster/page_images | page_id image_id | clusters.entry_id | duplicates clusters pages
cluster/prior_memberships | entry_id | languages.language languages.model | clusters languages
cluster/prior_sets | set_id | kind |
cluster/sets_across_splits | kind | image_sets.entry_id page_id |
cluster/sets_by_kind | kind | |
cluster/text_ids | entry_id | |
cluster/unreadable_languages | -n language | language model is_read |
cluster/vectors | | text_id model |
review/queue | kind item_id | | checks
ingest/entry_sources_of_shards | wit_shard line_number +page_url +page_id | wit_shard page_url
    image_url |
ingest/image_urls_of_shards | wit_shard image_url | wit_shard page_url |
ingest/shards_read | wit_shard | |
ingest/shard | | wit_shard |
ingest/without_licence | wit_shard | |
dialogue/entry_texts | entry_id | entry_id | summaries
dialogue/pictures | entry_id | page_id image_id split | duplicates
dialogue/questions | set_id ordinal | answers.question_id | answers
dialogue/sets | set_id position | summaries.set_id entries.entry_id image_sets.entry_id |
    summaries
dialogue/shape | kind | questions.question_id |
dialogue/turn_tasks | turn name | |
rewrite/candidates | task entry_id +image_id | entry_id | summaries
rewrite/first_questions | dialogue_id | set_id position entry_id |
rewrite/near_groups | image_id | distance |
rewrite/pictured | entry_id | page_id image_id split | images
rewrite/released_images | name image_id +release_id | name images.release_id | images
choice/entries | entry_id +page_id +image_id | page_id image_id entry_id split summaries.set_id |
    summaries
choice/items | item_id | language entry_id |
choice/mmiu_subjects | entry_id +page_id +image_id | page_id image_id entry_id split |
quality/dialogues | set_id dialogue_id | entries.entry_id image_sets.entry_id | questions
quality/found | dialogue_id turn | questions.question_id | questions
evaluate/answered_items_of | ordinal model | release_id ITEM |
evaluate/answered_releases | release_id | |
evaluate/answering_models_of | model | release_id ITEM answers.answer answers.status |
evaluate/answers_of | model ordinal trial turn | release_id ITEM |
evaluate/answers_of_items | item_id model trial turn +answer | release_id item_id answers.model
    extractions.ANSWER extractions.answer_call_key | extractions
evaluate/asked_items | release_id model | answers.release_id releases.release_id releases.n_items
    |
evaluate/call_keys_of | model judge judge_version item_id trial turn | release_id ANSWER
    observations.status |
evaluate/calls_behind | model extractor extractor_call_key | release_id ANSWER answer_call_key |
evaluate/calls_behind model | model | release_id answers.status |
evaluate/calls_behind judge | | release_id |
evaluate/example_answers_of | ordinal turn model trial | release_id ITEM items.ordinal
    extractions.ANSWER extractions.answer_call_key failed.ANSWER | extractions failed
evaluate/example_judgments_of | judge part +ordinal | release_id ANSWER answer_call_key
    items.ordinal replicate |
evaluate/example_rules_of | part +ordinal | release_id ITEM items.ordinal judge replicate status |
evaluate/extractions_of | | release_id ANSWER answer_call_key |
evaluate/failures_of | model stage asked reason | release_id |
evaluate/findings_of | analysis place | release_id |
evaluate/findings_of other | analysis place | other |
evaluate/first_readings_of | model item_id | release_id extractions.ANSWER
    extractions.answer_call_key | extractions
evaluate/flags_of | ordinal filter +judge | release_id ITEM |
evaluate/flags_of statistics | ordinal flag +judge | release_id ITEM |
evaluate/image_sizes_of | image_id | release_id image_id |
evaluate/item_statistics_of | ordinal | release_id ITEM |
evaluate/judged_models_of | judge judge_version replicate model | release_id ANSWER
    answer_call_key |
evaluate/judged_scores | judge | ANSWER answer_call_key TEXTS |
evaluate/judgments_of | judge judge_version replicate model | release_id ANSWER answer_call_key |
evaluate/labels_of_calls | answer_call_key | answers.call_key answers.settings | scores
evaluate/made_in_run | model release_id | key run |
evaluate/made_in_run judge | model judge release_id | key run |
evaluate/missing_current | release_id model stage | release_id |
evaluate/observed_of | judge judge_version model item_id trial turn part metric | release_id
    model answers.ANSWER observations.status judgments.JUDGMENT | judgments
evaluate/overall | benchmark release_id judge judge_version -value n_refused model | release_id
    place form subset_label ranks.SCORE LABEL | answers judgments models ranks
evaluate/overall_of | -value model judge judge_version | release_id place form subset_label
    ranks.SCORE | ranks
evaluate/page_categories_of | category | release_id page_url |
evaluate/pair_counts_of | judge judge_version | release_id |
evaluate/pairs_of | judge judge_version ordinal turn model_a model_b | release_id ITEM turn
    answers.trial answers.model answers.call_key |
evaluate/pairs_of reference | judge judge_version ordinal turn model_a model_b | release_id ITEM |
evaluate/queued_answers | release_id model item_id trial turn | TURN TEXTS |
evaluate/queued_pairs | release_id model item_id trial turn | ANSWER TEXTS part scores
    score_queue.kind |
evaluate/readings_of | | release_id ANSWER answer_call_key failed.stage failed.call_key | failed
evaluate/report_paths | name +release_id +path | release_id n_models |
evaluate/results_of | judge judge_version place subset_label subset_value -value n_refused model
    | release_id form ranks.SCORE models.model LABEL | answers models ranks
evaluate/results_of whole | judge judge_version place form -value n_refused model | release_id
    ranks.SCORE | answers models ranks
evaluate/score_candidates | benchmark model item_id turn trial | ANSWER answers.answer
    references.kind | images
evaluate/second_readings_of | | release_id ANSWER answer_call_key |
evaluate/site_answer_counts | | release_id ITEM |
evaluate/site_counts | ordinal | release_id turns.ITEM images.ITEM references.ITEM | turns images
    references
evaluate/unjudgeable_of | model | release_id status |
evaluate/unjudged | benchmark release_id model | ITEM turn answers.answer answers.status |
evaluate.candidates | release_id model | answers.settings | scores
evaluate.leaderboard | benchmark release_id judge judge_version place metric aggregation -value
    n_refused model | form subset_label ranks.SCORE models.model LABEL | answers judgments models
    ranks
evaluate.provenance | | ANSWER observations.status judgments.JUDGMENT extractions.ANSWER
    releases.release_id images.ITEM references.TURN references.kind | judgments extractions
    releases images references
evaluate.training_effects | release_id judge judge_version before after place | comparisons.form
    scores.form scores.subset_label scores.SCORE models.model |
"""
QUERIES = [
    Query(*(part.strip() for part in line.split("|")))
    for line in re.sub(r"\n +", " ", LINES).strip().splitlines()
]
UNMATCHED = {"clusters.page_id", "clusters.image_id", "image_sets.image_id", "queue.kind"}
UNMATCHED |= {"queue.set_id", "items.set_id", "translations.set_id", "score_queue.item_id"}
"""Columns that no query joins by."""
KINDS = {"choices": "multiple_choice", "mmiu": "multiple_choice", "translations": "translation"}
OF_SUBSET = {"subset_label": "subset_label", "subset_value": "subset_value"}
CHANGES: dict[str, dict[str, list[Row]]] = {
    **{
        f"release/reviewed_{of}": {"review.approved": [{"kind": kind}]}
        for of, kind in KINDS.items()
    },
    "release/built_splits": {"release.releases": [{"origin": "built"}]},
    "cluster/left_out_of_benchmarks": {"cluster.splits": [{"split": "instruction"}]},
    "cluster/sets_across_splits": {"cluster.splits": [{"split": None, "reason": "bridges_splits"}]},
    "cluster/unreadable_languages": {"cluster.languages": [{"is_read": False}]},
    "evaluate/calls_behind": {"evaluate.answers": [{"status": "given"}], "evaluate.judgments": []},
    "evaluate/calls_behind model": {"evaluate.extractions": [], "evaluate.judgments": []},
    "evaluate/calls_behind judge": {"evaluate.answers": [], "evaluate.extractions": []},
    "evaluate/example_rules_of": {"evaluate.observations": [{"judge": "rule"}]},
    "evaluate/findings_of other": {
        "evaluate.findings": [{"release_id": "another", "other": "release_id"}]
    },
    "evaluate/flags_of": {"evaluate.item_statistics": []},
    "evaluate/flags_of statistics": {"evaluate.flagged_items": []},
    "evaluate/made_in_run": {
        "evaluate.judgments": [],
        "ledger.calls": [{"key": "answer_call_key"}, {"key": "answer_call_key", "run": "run 2"}],
    },
    "evaluate/made_in_run judge": {
        "evaluate.answers": [],
        "ledger.calls": [{"key": "judge_call_key"}, {"key": "judge_call_key", "run": "run 2"}],
    },
    "evaluate/pairs_of": {
        "evaluate.answers": [
            {"model": f"model_{side}", "trial": "plain", "call_key": f"answer_{side}_call_key"}
            for side in "ab"
        ]
    },
    # It is no answer, and the item is in no group.
    "evaluate/pairs_of reference": {
        "release.items": [{"item_id": "group_id", "group_id": None}],
        "evaluate.answers": [],
        "evaluate.pairs": [
            {"item_id": "group_id", "answer_a_call_key": None, "answer_b_call_key": None}
        ],
    },
    "evaluate/results_of": {
        "evaluate.scores": [OF_SUBSET, {**OF_SUBSET, "form": "judged", "value": 0.44}]
    },
    "evaluate/results_of whole": {"evaluate.scores": [{}]},
    "evaluate/unjudgeable_of": {"release.references": []},
    "evaluate/unjudged": {"evaluate.judgments": [], "evaluate.failed": []},
    "evaluate.training_effects": {
        "evaluate.models": [
            {"model": "first", "trained_on": ["x", "y"], "parameters": None},
            {"model": "second", "trained_on": ["x"], "parameters": None},
        ],
        "evaluate.scores": [{"model": "first"}, {"model": "second", "value": 0.25}],
    },
}
"""What each row of a table has for one query alone. An empty list stands for a table without rows."""
N_ROWS = dict.fromkeys(("cluster/communities", "cluster/largest_communities"), 2)
N_ROWS |= {"cluster/vectors": 2, "cluster/first_embeddings": 2, "dialogue/turn_tasks": 3}
"""How many rows a query gives of them, where it is not one."""


def world_of(query: Query) -> Rows:
    """Rows for each table that a query reads, which belong together. Nothing is archived."""
    world = {}
    tables = reads(query.name) & declared_columns().keys() - views().keys()
    for table in sorted(tables - {"evaluate.archive"}):
        rows = rows_of(table)
        changes = CHANGES.get(query.label, {}).get(table)
        world[table] = [*rows] if changes is None else [{**rows[0], **each} for each in changes]
    return world
