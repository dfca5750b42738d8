-- How many entries of each cluster are on a side, on whichever.
SELECT count(*) AS n_entries
FROM cluster.clusters
JOIN cluster.entry_sides USING (entry_id)
WHERE cluster_id IS NOT NULL AND side IS NOT NULL
GROUP BY cluster_id;
