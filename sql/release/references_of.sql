-- One row a reference of a release, in order; a turn may have none, or one of each kind.
SELECT t.* EXCLUDE (release_id)
FROM release.references AS t
JOIN release.items AS i USING (release_id, item_id)
WHERE t.release_id = $release_id
ORDER BY i.ordinal, t.turn, t.kind;
