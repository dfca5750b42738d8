-- Translations of multiple-choice items, as they stand after review and as they were generated, with the calls
-- that made them, and whether their item has, after its review, the content that was translated.
SELECT
    t.item_id,
    t.language,
    a.status,
    a.revision,
    a.reviewers,
    a.content,
    q.content AS generated,
    t.call_key,
    t.prompt_version,
    t.provider,
    i.content_hash = t.source_hash AS same_content
FROM review.approved AS a
JOIN review.queue AS q USING (item_id)
JOIN choice.translations AS t ON t.translation_id = a.item_id
JOIN review.approved AS i ON i.item_id = t.item_id
WHERE a.kind = 'translation' AND a.set_id IN (SELECT set_id FROM cluster.image_sets)
ORDER BY t.language, t.item_id;
