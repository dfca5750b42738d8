-- How far each judge's scores shift under what should not shift them, on one release.
SELECT *
FROM evaluate.judge_probes
WHERE release_id = $release_id
ORDER BY judge, judge_version, probe;
