-- What a rule observed of the answers to a release's first items.
SELECT
    o.item_id,
    o.turn,
    o.model,
    o.trial,
    o.part,
    o.judge,
    o.judge_version AS version,
    list({'key': o.metric, 'value': o.value} ORDER BY o.metric) AS scores,
    NULL AS score,
    '' AS explanation,
    NULL AS call_key
FROM evaluate.observations AS o
JOIN release.items AS i USING (release_id, item_id)
WHERE o.release_id = $release_id
    AND i.ordinal <= $n_items
    AND o.judge = 'rule'
    AND o.replicate = 0
    AND o.status = 'judged'
GROUP BY o.item_id, o.turn, o.model, o.trial, o.part, o.judge, o.judge_version
ORDER BY o.part;
