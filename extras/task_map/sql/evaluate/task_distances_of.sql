-- The distances between tasks of one release.
SELECT *
FROM evaluate.task_distances
WHERE release_id = $release_id
ORDER BY judge, judge_version, first, second;
