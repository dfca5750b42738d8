-- The clusters with the lowest mean similarity to their centre, with an image of each centre.
WITH entries AS (
    SELECT entry_id, any_value(title) AS title, any_value(image_id) AS image_id
    FROM ingest.entries
    GROUP BY entry_id
),
communities AS (
    SELECT c.community_id, e.title, e.image_id
    FROM cluster.communities AS c
    LEFT JOIN entries AS e ON e.entry_id = c.centre_entry_id
)
SELECT k.*, c.image_id, g.title AS group_title
FROM cluster.cohesion AS k
LEFT JOIN communities AS c ON c.community_id = k.cluster_id
LEFT JOIN communities AS g ON g.community_id = k.group_id
ORDER BY k.mean_similarity, k.cluster_id
LIMIT $n_rows;
