-- How many entries of each cluster are in either split.
SELECT count(*) AS n_entries
FROM cluster.clusters
JOIN cluster.entry_splits USING (entry_id)
WHERE cluster_id IS NOT NULL AND split IS NOT NULL
GROUP BY cluster_id;
