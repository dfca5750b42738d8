-- Counts of entries, groups and clusters; no row before the first clustering.
SELECT
    count(*) AS n_entries,
    count(DISTINCT group_id) AS n_groups,
    count(DISTINCT cluster_id) AS n_clusters,
    count(group_id) AS n_grouped,
    count(cluster_id) AS n_clustered
FROM cluster.clusters
HAVING n_entries > 0;
