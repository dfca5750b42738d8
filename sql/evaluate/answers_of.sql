-- Every model's answers on one release.
SELECT a.*
FROM evaluate.answers AS a
JOIN release.items AS i USING (release_id, item_id)
WHERE a.release_id = $release_id
ORDER BY a.model, i.ordinal, a.trial, a.turn;
