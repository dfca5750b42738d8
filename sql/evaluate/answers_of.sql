-- Every model's answers to some items of one release.
SELECT a.model, a.item_id, a.trial, a.turn, a.status, a.answer, a.call_key, a.prompt_version
FROM evaluate.shown_answers AS a
JOIN release.items AS i USING (release_id, item_id)
SEMI JOIN (SELECT unnest($item_ids) AS item_id) AS wanted USING (item_id)
WHERE a.release_id = $release_id
ORDER BY a.model, i.ordinal, a.trial, a.turn;
