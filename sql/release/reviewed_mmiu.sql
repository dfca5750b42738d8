-- MMIU's items, as they stand after review and as they were made, with the calls that made them.
SELECT
    a.item_id,
    i.group_id,
    i.strategy,
    a.status,
    a.revision,
    a.reviewers,
    a.content,
    q.content AS generated,
    i.call_key,
    i.prompt_version,
    i.provider
FROM review.approved AS a
JOIN review.queue AS q USING (item_id)
JOIN choice.mmiu_items AS i USING (item_id)
WHERE a.kind = 'multiple_choice'
ORDER BY a.item_id;
