-- The page and the attribution behind each image of each set.
SELECT DISTINCT s.set_id, s.image_id, e.title, e.page_url, e.attribution
FROM cluster.image_sets AS s
JOIN (SELECT DISTINCT entry_id, title, page_url, attribution FROM ingest.entries) AS e USING (entry_id);
