-- The groups in which a model's ratings differ most on one release, and of each wording the mean value and the calls.
WITH spreads AS (
    SELECT
        release_id,
        judge,
        judge_version,
        subject AS model,
        subset_value AS group_id,
        max(value) FILTER (measure = 'mean') AS mean,
        max(value) FILTER (measure = 'deviation') AS deviation
    FROM evaluate.prompt_sensitivity
    WHERE release_id = $release_id AND subset_label = 'group'
    GROUP BY ALL
),
widest AS (
    SELECT *
    FROM spreads
    WHERE deviation > 0
    QUALIFY row_number() OVER (
        PARTITION BY judge, judge_version, model ORDER BY deviation DESC, group_id
    ) <= $n_groups
)
SELECT
    w.judge,
    w.judge_version,
    w.model,
    w.group_id,
    w.mean,
    w.deviation,
    i.item_id,
    avg(o.value) AS value,
    any_value(o.status) AS status,
    any_value(o.call_key) AS call_key,
    any_value(o.answer_call_key) AS answer_call_key
FROM widest AS w
JOIN release.items AS i USING (release_id, group_id)
LEFT JOIN evaluate.observations AS o
    ON o.release_id = w.release_id
    AND o.judge = w.judge
    AND o.judge_version = w.judge_version
    AND o.model = w.model
    AND o.item_id = i.item_id
    AND o.metric = $metric
GROUP BY w.judge, w.judge_version, w.model, w.group_id, w.mean, w.deviation, i.item_id, i.ordinal
ORDER BY w.judge, w.judge_version, w.model, w.deviation DESC, w.group_id, i.ordinal;
