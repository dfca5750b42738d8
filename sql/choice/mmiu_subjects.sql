-- Entries in the benchmark split that were sampled into image sets, each once, and no two of one picture, with what their pages say.
SELECT s.entry_id, s.set_id, s.cluster_id, s.image_id, e.title, e.caption, e.page_url, e.categories, e.language
FROM cluster.image_sets AS s
JOIN (
    FROM ingest.entries
    QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
) AS e USING (entry_id)
JOIN cluster.entry_splits AS o ON o.entry_id = s.entry_id AND o.split = 'benchmark'
QUALIFY row_number() OVER (PARTITION BY s.image_id ORDER BY s.entry_id, s.set_id) = 1
ORDER BY s.entry_id;
