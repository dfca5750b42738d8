-- A model's answers to the release in force.
SELECT a.*
FROM evaluate.answers AS a
JOIN release.items AS i USING (release_id, item_id)
WHERE a.release_id = $release_id AND list_contains($models, a.model)
ORDER BY a.model, i.ordinal, a.turn;
