-- What was lost on one release, by model, stage and reason.
SELECT model, stage, asked, reason, count(*) AS n
FROM evaluate.shown_failed
WHERE release_id = $release_id
GROUP BY model, stage, asked, reason
ORDER BY model, stage, asked, reason;
