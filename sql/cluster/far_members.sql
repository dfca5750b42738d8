-- Members whose similarity to their centre, computed again from the vectors, is below tau or differs from
-- the recorded one. In communities by density tau binds only the members that were assigned later.
WITH memberships AS (
    SELECT entry_id, group_id AS community_id, group_how AS how, category_text_id AS text_id,
        group_similarity AS recorded
    FROM cluster.clusters
    UNION ALL
    SELECT entry_id, cluster_id, cluster_how, caption_text_id, cluster_similarity
    FROM cluster.clusters
),
centres AS (
    SELECT
        *,
        if(kind = 'group', category_text_id, caption_text_id) AS text_id,
        if(kind = 'group', group_method, cluster_method) <> 'density' AS by_threshold
    FROM cluster.communities
)
SELECT
    c.kind,
    p.community_id,
    p.entry_id,
    c.tau,
    p.recorded,
    list_inner_product(a.vector, b.vector) AS similarity,
    similarity < c.tau - $n_tolerance AND (c.by_threshold OR p.how = 'assigned') AS is_far
FROM memberships AS p
JOIN centres AS c USING (community_id)
JOIN cluster.embeddings AS a ON a.text_id = p.text_id AND a.model = c.model
JOIN cluster.embeddings AS b ON b.text_id = c.text_id AND b.model = c.model
WHERE is_far OR p.recorded IS NULL OR abs(similarity - p.recorded) > $n_tolerance
ORDER BY similarity, p.entry_id;
