-- The turns of releases that are compared with those of others.
SELECT release_id, item_id, turn, question, given
FROM release.turns
WHERE release_id IN (SELECT unnest($release_ids::VARCHAR[]))
ORDER BY ALL;
