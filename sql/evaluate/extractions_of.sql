-- What was read from the answers to some items of one release.
SELECT e.model, e.item_id, e.trial, e.turn, e.value
FROM evaluate.extractions AS e
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
SEMI JOIN (SELECT unnest($item_ids) AS item_id) AS wanted USING (item_id)
WHERE e.release_id = $release_id AND e.answer_call_key IS NOT DISTINCT FROM a.call_key;
