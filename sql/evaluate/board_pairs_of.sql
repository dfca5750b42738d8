-- Every two models on one release by the metric that ranks, failures at the floor.
SELECT c.* EXCLUDE (benchmark, form)
FROM evaluate.comparisons AS c
WHERE c.release_id = $release_id AND c.form = 'floor' AND EXISTS (
    FROM evaluate.scores AS s
    WHERE s.release_id = c.release_id
        AND s.judge = c.judge
        AND s.judge_version = c.judge_version
        AND s.metric = c.metric
        AND s.aggregation = c.aggregation
        AND s.place = 0
)
ORDER BY c.judge, c.judge_version, c.first, c.second;
