-- Every judge's ranks of every model on one release.
SELECT *
FROM evaluate.ranks
WHERE release_id = $release_id
ORDER BY judge, judge_version, metric, aggregation, model;
