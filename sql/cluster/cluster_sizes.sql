-- How many entries each cluster has, on whichever side.
SELECT count(*) AS n_entries FROM cluster.clusters WHERE cluster_id IS NOT NULL GROUP BY cluster_id;
