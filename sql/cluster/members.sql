-- Clustered entries, cluster by cluster.
SELECT c.cluster_id, c.entry_id, e.image_id, e.page_id
FROM cluster.clusters AS c
JOIN (SELECT DISTINCT entry_id, image_id, page_id FROM ingest.entries) AS e USING (entry_id)
WHERE c.cluster_id IS NOT NULL
ORDER BY c.cluster_id, c.entry_id;
