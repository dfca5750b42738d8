-- One row a choice of a release, in order.
SELECT c.* EXCLUDE (release_id)
FROM release.choices AS c
JOIN release.items AS i USING (release_id, item_id)
WHERE c.release_id = $release_id
ORDER BY i.ordinal, c.position;
