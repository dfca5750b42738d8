-- Every clustered entry, cluster by cluster.
SELECT entry_id, cluster_id, entry_id = cluster_centre AS is_centre
FROM cluster.clusters
WHERE cluster_id IS NOT NULL
ORDER BY cluster_id, entry_id;
