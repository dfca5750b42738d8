-- What was lost on one release, by model, stage and reason, with one of the items.
SELECT model, stage, asked, reason, count(*) AS n, min(item_id) AS item_id
FROM evaluate.shown_failed
WHERE release_id = $release_id
GROUP BY model, stage, asked, reason
ORDER BY model, stage, asked, reason;
