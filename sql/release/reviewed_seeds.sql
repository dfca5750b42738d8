-- AlignMMBench's seeds (part 0), their rewrites (part: their place) and dialogues (part 0), as they stand after
-- review and as they were made, with the calls that made them.
WITH made AS (
    SELECT seed_id AS item_id, seed_id AS group_id, 0 AS part, task, language, call_key, prompt_version, provider
    FROM rewrite.seeds
    UNION ALL
    SELECT r.rewrite_id, r.seed_id, r.ordinal, s.task, s.language, r.call_key, r.prompt_version, r.provider
    FROM rewrite.seed_rewrites AS r
    JOIN rewrite.seeds AS s USING (seed_id)
    UNION ALL
    SELECT dialogue_id, dialogue_id, 0, task, language, call_key, prompt_version, provider
    FROM rewrite.contexts
)
SELECT m.*, a.kind, a.status, a.revision, a.reviewers, a.content, q.content AS generated
FROM review.approved AS a
JOIN review.queue AS q USING (item_id)
JOIN made AS m USING (item_id)
ORDER BY m.group_id, m.part;
