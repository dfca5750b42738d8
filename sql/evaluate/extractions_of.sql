-- What was read from the answers on one release.
SELECT e.model, e.item_id, e.trial, e.turn, e.value
FROM evaluate.extractions AS e
JOIN evaluate.answers AS a USING (release_id, model, item_id, trial, turn)
WHERE e.release_id = $release_id AND e.answer_call_key IS NOT DISTINCT FROM a.call_key;
