-- Which models answered which items of one release, in order.
SELECT DISTINCT a.model, a.item_id, i.ordinal
FROM evaluate.shown_answers AS a
JOIN release.items AS i USING (release_id, item_id)
WHERE a.release_id = $release_id
ORDER BY a.model, i.ordinal;
