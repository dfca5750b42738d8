-- The page, the attribution and the licence behind each image of each set.
SELECT DISTINCT
    s.set_id,
    s.image_id,
    e.title,
    e.page_url,
    e.attribution,
    e.licence,
    e.licence_url,
    e.artist
FROM cluster.image_sets AS s
JOIN (
    FROM ingest.entries
    QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY licence IS NULL, wit_shard) = 1
) AS e USING (entry_id);
