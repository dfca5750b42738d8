-- Which answer each observed turn of one release rests on, and which calls of the judge. An answer that no
-- model was asked for has no call; its text stands for it.
SELECT
    o.model,
    o.judge,
    o.judge_version,
    o.item_id,
    o.trial,
    o.turn,
    any_value(coalesce(a.call_key, md5(a.answer))) AS answer,
    list(DISTINCT o.call_key ORDER BY o.call_key) FILTER (o.call_key IS NOT NULL) AS judge_calls
FROM evaluate.observations AS o
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
WHERE o.release_id = $release_id AND o.status NOT IN ('no_reference', 'no_picture')
GROUP BY o.model, o.judge, o.judge_version, o.item_id, o.trial, o.turn
ORDER BY ALL;
