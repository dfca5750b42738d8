-- Sets with two images of one page, unless pages may repeat, or with two near-duplicate images.
WITH pages AS (SELECT entry_id, any_value(page_id) AS page_id FROM ingest.entries GROUP BY entry_id)
SELECT
    s.set_id,
    count(*) AS n_images,
    -- The page of a removed entry is unknown: count it as a page of its own.
    count(DISTINCT coalesce(p.page_id, s.entry_id)) AS n_pages,
    count(DISTINCT coalesce(d.group_id, s.image_id)) AS n_distinct_images
FROM cluster.image_sets AS s
LEFT JOIN pages AS p USING (entry_id)
LEFT JOIN cluster.duplicates AS d ON d.image_id = s.image_id
GROUP BY s.set_id
HAVING (n_pages < n_images AND NOT $n_repeat_pages) OR n_distinct_images < n_images
ORDER BY s.set_id;
