-- Pairs of clusters near each other, the mergeable ones first, with an image of each centre.
WITH images AS (
    SELECT c.community_id, any_value(e.image_id) AS image_id
    FROM cluster.communities AS c
    JOIN ingest.entries AS e ON e.entry_id = c.centre_entry_id
    GROUP BY c.community_id
)
SELECT p.*, a.image_id AS image_a, b.image_id AS image_b
FROM cluster.near_pairs AS p
LEFT JOIN images AS a ON a.community_id = p.cluster_a
LEFT JOIN images AS b ON b.community_id = p.cluster_b
ORDER BY p.mergeable DESC, p.similarity DESC, p.cluster_a, p.cluster_b
LIMIT $n_rows;
