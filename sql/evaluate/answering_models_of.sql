-- The models that gave any answer of their own on one release.
SELECT DISTINCT a.model
FROM evaluate.shown_answers AS a
JOIN release.items AS i USING (release_id, item_id)
WHERE a.release_id = $release_id AND a.answer IS NOT NULL AND a.status <> 'given'
ORDER BY ALL;
