-- Rows of review.approved that do not follow from review.queue and review.decisions, and why.
WITH RECURSIVE reached AS (
    -- Contents of an item: the queued one, and every edit of a content in this list.
    SELECT item_id, content_hash FROM review.queue
    UNION
    SELECT d.item_id, d.edits_hash
    FROM reached AS r
    JOIN review.decisions AS d ON d.item_id = r.item_id AND d.content_hash = r.content_hash
    WHERE d.edits_hash IS NOT NULL
),
approvals AS (
    SELECT
        d.item_id,
        d.reviewer,
        coalesce(d.edits_hash, d.content_hash) AS content_hash
    FROM review.decisions AS d
    WHERE d.verdict IN ('accept', 'edit')
)
SELECT a.item_id, 'its content is neither the queued one nor an edit of it' AS why
FROM review.approved AS a
WHERE NOT EXISTS (
    SELECT 1 FROM reached AS r WHERE r.item_id = a.item_id AND r.content_hash = a.content_hash
)
UNION ALL
SELECT a.item_id, 'people are demanded and nobody approved exactly this content'
FROM review.approved AS a
WHERE a.status = 'approved' AND a.demanded AND NOT EXISTS (
    SELECT 1
    FROM approvals AS p
    WHERE p.item_id = a.item_id
        AND p.content_hash = a.content_hash
        AND list_contains(a.reviewers, p.reviewer)
)
UNION ALL
SELECT a.item_id, 'people are demanded and a policy is among the reviewers'
FROM review.approved AS a
WHERE a.status = 'approved'
    AND (a.demanded OR a.policy = 'all')
    AND len(list_filter(a.reviewers, lambda name: name LIKE 'policy:%')) > 0
UNION ALL
SELECT a.item_id, name || ' is among the reviewers without a decision on its contents'
FROM review.approved AS a, unnest(a.reviewers) AS n (name)
WHERE name <> 'policy:' || a.policy AND NOT EXISTS (
    SELECT 1
    FROM review.decisions AS d
    JOIN reached AS r ON r.item_id = d.item_id AND r.content_hash = d.content_hash
    WHERE d.item_id = a.item_id AND d.reviewer = name AND d.verdict <> 'skip'
)
UNION ALL
SELECT a.item_id, 'it is approved without a reviewer, not even a policy'
FROM review.approved AS a
WHERE a.status = 'approved' AND len(a.reviewers) = 0
ORDER BY ALL;
