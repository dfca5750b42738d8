-- AlignMMBench's seeds (part 0), their rewrites (part: their place) and dialogues (part 0), as they stand after
-- review and as they were made, with the calls that made them. The task of a seed is reviewed by itself: it is
-- the one that people say, and a seed whose task is not approved is not.
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
SELECT
    m.* REPLACE (coalesce(t.content ->> 'category', m.task) AS task),
    a.kind,
    CASE WHEN a.status = 'approved' THEN coalesce(t.status, a.status) ELSE a.status END AS status,
    a.revision,
    a.reviewers || list_filter(
        coalesce(t.reviewers, []), lambda name: NOT list_contains(a.reviewers, name)
    ) AS reviewers,
    a.content,
    q.content AS generated
FROM review.approved AS a
JOIN review.queue AS q USING (item_id)
JOIN made AS m USING (item_id)
LEFT JOIN review.approved AS t ON t.item_id = m.group_id || '-task' AND t.kind = 'category'
ORDER BY m.group_id, m.part;
