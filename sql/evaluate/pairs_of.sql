-- Comparisons on one release with the cluster that each item is drawn in.
SELECT p.* REPLACE (map_entries(p.style) AS style), coalesce(i.group_id, i.item_id) AS cluster
FROM evaluate.pairs AS p
JOIN release.items AS i USING (release_id, item_id)
WHERE p.release_id = $release_id
ORDER BY p.judge, p.judge_version, i.ordinal, p.turn, p.model_a, p.model_b;
