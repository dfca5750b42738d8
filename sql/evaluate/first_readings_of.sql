-- Of every candidate's items on one release: what was read from the first pass and from each pass, how often the
-- item was asked, and whether a pass was lost. Passes are named in the order that they are asked in.
SELECT
    a.model,
    a.item_id,
    arg_min(struct_pack(reading := e.value), a.trial).reading AS reading,
    count(*) FILTER (a.status NOT IN ('given', 'not_asked')) AS n_asked,
    bool_or(a.status = 'failed') AS lost,
    list(struct_pack(trial := a.trial, reading := e.value) ORDER BY a.trial)
        FILTER (a.status NOT IN ('given', 'not_asked')) AS passes
FROM evaluate.shown_answers AS a
LEFT JOIN evaluate.extractions AS e
    ON e.release_id = a.release_id
    AND e.model = a.model
    AND e.item_id = a.item_id
    AND e.trial = a.trial
    AND e.turn = a.turn
    AND e.answer_call_key IS NOT DISTINCT FROM a.call_key
WHERE a.release_id = $release_id
GROUP BY a.model, a.item_id
ORDER BY a.model, a.item_id;
