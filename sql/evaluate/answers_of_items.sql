-- What these candidates answered to these items of a release, and what was read from it.
SELECT a.item_id, a.model, a.trial, a.status, a.answer, e.value AS reading
FROM evaluate.shown_answers AS a
LEFT JOIN evaluate.extractions AS e
    ON e.release_id = a.release_id
    AND e.model = a.model
    AND e.item_id = a.item_id
    AND e.trial = a.trial
    AND e.turn = a.turn
    AND e.answer_call_key IS NOT DISTINCT FROM a.call_key
WHERE a.release_id = $release_id
    AND list_contains($item_ids, a.item_id)
    AND list_contains($models, a.model)
ORDER BY a.item_id, a.model, a.trial, a.turn;
