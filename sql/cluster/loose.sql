-- Clusters whose members are on average less similar to their centre than the limit.
SELECT title, size, mean_similarity, min_similarity, cluster_id
FROM cluster.cohesion
WHERE mean_similarity < $n_similarity
ORDER BY mean_similarity, cluster_id;
