-- Every cluster with the caption vector of its centre, and a title: the title of the centre's page, or
-- the centre's caption if the page was removed.
SELECT
    c.community_id AS cluster_id,
    c.group_id,
    c.tau,
    coalesce(e.title, v.text) AS title,
    v.vector
FROM cluster.communities AS c
JOIN cluster.embeddings AS v ON v.text_id = c.caption_text_id AND v.model = c.model
LEFT JOIN (
    SELECT entry_id, any_value(title) AS title FROM ingest.entries GROUP BY entry_id
) AS e ON e.entry_id = c.centre_entry_id
WHERE c.kind = 'cluster'
ORDER BY c.community_id;
