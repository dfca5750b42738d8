-- Every two models compared on one release, failures at the floor.
SELECT *
FROM evaluate.comparisons
WHERE release_id = $release_id AND form = 'floor'
ORDER BY judge, judge_version, metric, aggregation, first, second;
