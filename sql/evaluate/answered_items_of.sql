-- Which models answered which items of one release, item by item: a judge that one model's answers confuse
-- has replies about other models among its first ones.
SELECT DISTINCT a.model, a.item_id, i.ordinal
FROM evaluate.shown_answers AS a
JOIN release.items AS i USING (release_id, item_id)
WHERE a.release_id = $release_id
ORDER BY i.ordinal, a.model;
