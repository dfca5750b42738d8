-- The largest clusters with the picture at their centre; without one where its entry was removed.
SELECT
    k.title,
    k.size,
    any_value(e.image_id) AS image_id,
    any_value(e.licence) AS licence,
    any_value(e.artist) AS artist
FROM cluster.cohesion AS k
LEFT JOIN cluster.communities AS c ON c.community_id = k.cluster_id
LEFT JOIN ingest.entries AS e ON e.entry_id = c.centre_entry_id
GROUP BY k.cluster_id, k.title, k.size
ORDER BY k.size DESC, k.cluster_id
LIMIT $n_clusters;
