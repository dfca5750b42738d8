-- Who read each answer on one release, what was read, and why nothing was.
SELECT e.model, e.item_id, e.trial, e.turn, e.extractor, e.value, f.reason
FROM evaluate.extractions AS e
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
LEFT JOIN evaluate.shown_failed AS f
    ON f.release_id = e.release_id
    AND f.model = e.model
    AND f.stage = 'answers'
    AND f.item_id = e.item_id
    AND f.trial = e.trial
    AND f.turn = e.turn
    AND f.call_key = e.call_key
-- A reading of an answer that has been replaced is none.
WHERE e.release_id = $release_id AND e.answer_call_key IS NOT DISTINCT FROM a.call_key;
