-- Every model's answers to a release's first items, with what was read from them and why one is lacking.
SELECT
    a.item_id,
    a.turn,
    a.model,
    a.trial,
    a.status,
    a.answer,
    a.call_key,
    e.value AS reading,
    f.reason
FROM evaluate.shown_answers AS a
JOIN release.items AS i USING (release_id, item_id)
LEFT JOIN evaluate.extractions AS e
    ON e.release_id = a.release_id
    AND e.model = a.model
    AND e.item_id = a.item_id
    AND e.trial = a.trial
    AND e.turn = a.turn
    AND e.answer_call_key IS NOT DISTINCT FROM a.call_key
LEFT JOIN (
    SELECT release_id, model, item_id, trial, turn, any_value(reason) AS reason
    FROM evaluate.shown_failed
    GROUP BY release_id, model, item_id, trial, turn
) AS f
    ON f.release_id = a.release_id
    AND f.model = a.model
    AND f.item_id = a.item_id
    AND f.trial = a.trial
    AND f.turn = a.turn
WHERE a.release_id = $release_id AND i.ordinal <= $n_items
ORDER BY i.ordinal, a.turn, a.model, a.trial;
