-- The observations of some models on one release, repetitions of a judge averaged; each of them is in `replicates` where there are
-- several. `is_lost`: a model was not asked the item for want of its picture.
SELECT
    o.model,
    o.judge,
    o.judge_version,
    o.metric,
    o.item_id,
    o.trial,
    o.turn,
    o.part,
    coalesce(min(o.status) FILTER (o.status = 'judged'), min(o.status)) AS status,
    avg(o.value) AS value,
    CASE
        WHEN count(o.value) > 1 THEN list(o.value ORDER BY o.replicate) FILTER (o.value IS NOT NULL)
    END AS replicates,
    any_value(a.status) = 'refused' AS refused,
    any_value(a.provider) AS provider,
    any_value(j.provider) AS judge_provider,
    o.item_id IN (
        SELECT item_id FROM evaluate.observations WHERE release_id = $release_id AND status = 'no_picture'
    ) AS is_lost
FROM evaluate.observations AS o
JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
LEFT JOIN evaluate.shown_judgments AS j
    USING (release_id, model, judge, replicate, item_id, trial, turn, part)
WHERE o.release_id = $release_id AND o.model IN (SELECT unnest($models)) AND o.status <> 'no_reference'
GROUP BY o.model, o.judge, o.judge_version, o.metric, o.item_id, o.trial, o.turn, o.part
ORDER BY o.judge, o.judge_version, o.model, o.item_id, o.trial, o.turn, o.part, o.metric;
