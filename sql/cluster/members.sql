-- Clustered entries of one split, cluster by cluster, with the group of near-duplicates of each image.
SELECT c.cluster_id, c.entry_id, e.image_id, e.page_id, d.group_id AS duplicate_group
FROM cluster.clusters AS c
JOIN (SELECT DISTINCT entry_id, image_id, page_id FROM ingest.entries) AS e USING (entry_id)
JOIN cluster.entry_splits AS s USING (entry_id)
LEFT JOIN cluster.duplicates AS d ON d.image_id = e.image_id
WHERE c.cluster_id IS NOT NULL AND s.split = $kind
ORDER BY c.cluster_id, c.entry_id;
