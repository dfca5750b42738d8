-- The calls by which models answered items of one release; NULL for an answer without a call.
SELECT DISTINCT a.model, a.item_id, a.call_key
FROM evaluate.shown_answers AS a
WHERE a.release_id = $release_id
ORDER BY ALL;
