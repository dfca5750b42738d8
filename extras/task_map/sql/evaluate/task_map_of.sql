-- The task map of one release, the tasks with the lowest scores first.
SELECT *
FROM evaluate.task_map
WHERE release_id = $release_id
ORDER BY judge, judge_version, place, task;
