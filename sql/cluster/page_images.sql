-- Each image of each page once, with the page's versions in other languages, the group of its near-duplicates
-- and the clusters of its entries.
SELECT
    e.page_id,
    e.image_id,
    any_value(d.group_id) AS duplicate_group,
    coalesce(
        list(DISTINCT c.cluster_id ORDER BY c.cluster_id) FILTER (WHERE c.cluster_id IS NOT NULL), []
    ) AS clusters,
    coalesce(any_value(p.version_ids), []) AS versions
FROM ingest.entries AS e
LEFT JOIN cluster.duplicates AS d ON d.image_id = e.image_id AND d.distance IS NOT NULL
LEFT JOIN cluster.clusters AS c USING (entry_id)
LEFT JOIN ingest.pages AS p ON p.wit_shard = e.wit_shard AND p.page_id = e.page_id
GROUP BY e.page_id, e.image_id
ORDER BY e.page_id, e.image_id;
