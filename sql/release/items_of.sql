-- One row an item of a release, in order.
SELECT * EXCLUDE (release_id)
FROM release.items
WHERE release_id = $release_id
ORDER BY ordinal;
