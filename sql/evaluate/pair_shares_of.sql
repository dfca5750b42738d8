-- How often each model won against each other one on a release, a tie half, of what was judged.
WITH sides AS (
    SELECT judge, judge_version, model_a AS model, model_b AS opponent, winner, 'model_a' AS own
    FROM evaluate.shown_pairs
    WHERE release_id = $release_id AND status = 'judged'
    UNION ALL
    SELECT judge, judge_version, model_b, model_a, winner, 'model_b'
    FROM evaluate.shown_pairs
    WHERE release_id = $release_id AND status = 'judged'
)
SELECT
    judge,
    judge_version,
    model,
    opponent,
    count(*) AS n,
    avg(CASE winner WHEN 'tie' THEN 0.5 WHEN own THEN 1 ELSE 0 END) AS share
FROM sides
GROUP BY ALL
ORDER BY ALL;
