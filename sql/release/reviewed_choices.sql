-- Multiple-choice items, as they stand after review and as they were generated, with the language of their
-- entries and the calls that made them.
SELECT
    a.item_id,
    a.set_id,
    a.status,
    a.revision,
    a.reviewers,
    a.content,
    q.content AS generated,
    coalesce(e.language, 'en') AS language,
    i.call_key,
    i.prompt_version,
    i.provider
FROM review.approved AS a
JOIN review.queue AS q USING (item_id)
JOIN choice.items AS i USING (item_id)
LEFT JOIN (SELECT DISTINCT entry_id, language FROM ingest.entries) AS e USING (entry_id)
WHERE a.kind = 'multiple_choice' AND a.set_id IN (SELECT set_id FROM cluster.image_sets)
ORDER BY a.item_id;
