-- The choices of releases that are compared with those of others.
SELECT release_id, item_id, position, choice
FROM release.choices
WHERE release_id IN (SELECT unnest($release_ids::VARCHAR[]))
ORDER BY ALL;
