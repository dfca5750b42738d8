-- The references of releases that are compared with those of others.
SELECT release_id, item_id, turn, kind, reference
FROM release.references
WHERE release_id IN (SELECT unnest($release_ids::VARCHAR[]))
ORDER BY ALL;
