-- The entries on the map in drawing order. A group's title is the title of its centre's page, or that
-- page's categories if the page was removed.
WITH entries AS (
    SELECT entry_id, title, caption, image_id
    FROM ingest.entries
    QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
),
groups AS (
    SELECT c.community_id AS group_id, coalesce(e.title, v.text) AS title
    FROM cluster.communities AS c
    JOIN cluster.embeddings AS v ON v.text_id = c.category_text_id AND v.model = c.model
    LEFT JOIN entries AS e ON e.entry_id = c.centre_entry_id
    WHERE c.kind = 'group'
)
SELECT
    m.x,
    m.y,
    e.title,
    e.caption,
    e.image_id,
    c.group_id,
    g.title AS group_title,
    c.cluster_id,
    k.title AS cluster_title,
    k.size AS cluster_size,
    c.cluster_similarity AS similarity,
    coalesce(c.cluster_centre = m.entry_id, false) AS is_centre
FROM cluster.map AS m
JOIN cluster.clusters AS c USING (entry_id)
JOIN entries AS e USING (entry_id)
LEFT JOIN groups AS g ON g.group_id = c.group_id
LEFT JOIN cluster.cohesion AS k ON k.cluster_id = c.cluster_id
ORDER BY m.place;
