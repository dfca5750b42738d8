-- Pairs of clusters that could be merged, the nearest first.
SELECT title_a, size_a, title_b, size_b, same_group, similarity, union_similarity, cluster_a, cluster_b
FROM cluster.near_pairs
WHERE mergeable
ORDER BY similarity DESC, cluster_a, cluster_b;
