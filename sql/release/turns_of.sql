-- One row a turn of a release, in order.
SELECT t.* EXCLUDE (release_id)
FROM release.turns AS t
JOIN release.items AS i USING (release_id, item_id)
WHERE t.release_id = $release_id
ORDER BY i.ordinal, t.turn;
