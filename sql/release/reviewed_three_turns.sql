-- Conversations of three turns as they stand after review and as they were made, with the calls that made their
-- questions and focus points, and those of caption and answers.
SELECT
    t.item_id,
    t.image_id,
    t.call_key,
    t.prompt_version,
    t.provider,
    r.calls,
    a.status,
    a.revision,
    a.reviewers,
    a.content,
    q.content AS generated
FROM review.approved AS a
JOIN review.queue AS q USING (item_id)
JOIN dialogue.three_turns AS t USING (item_id)
JOIN (
    SELECT
        item_id,
        list({'turn': turn, 'kind': kind, 'call_key': call_key, 'prompt_version': prompt_version}) AS calls
    FROM dialogue.turn_references
    GROUP BY item_id
) AS r USING (item_id)
ORDER BY t.item_id;
