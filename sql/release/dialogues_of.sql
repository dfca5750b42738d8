-- One row a turn of a release, in order, with its reference.
SELECT i.item_id, i.ordinal, t.turn, t.question, t.image_positions, r.reference
FROM release.items AS i
JOIN release.turns AS t USING (release_id, item_id)
JOIN release.references AS r USING (release_id, item_id, turn)
WHERE i.release_id = $release_id
ORDER BY i.ordinal, t.turn;
