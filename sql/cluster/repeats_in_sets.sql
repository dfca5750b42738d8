-- Sets in which a page stands twice, unless pages may, or two images that look alike.
WITH pages AS (SELECT entry_id, any_value(page_id) AS page_id FROM ingest.entries GROUP BY entry_id)
SELECT
    s.set_id,
    count(*) AS n_images,
    -- An entry that has gone since the sets were drawn repeats nobody's page.
    count(DISTINCT coalesce(p.page_id, s.entry_id)) AS n_pages,
    count(DISTINCT coalesce(d.group_id, s.image_id)) AS n_looks
FROM cluster.image_sets AS s
LEFT JOIN pages AS p USING (entry_id)
LEFT JOIN cluster.duplicates AS d ON d.image_id = s.image_id
GROUP BY s.set_id
HAVING (n_pages < n_images AND NOT $n_repeat_pages) OR n_looks < n_images
ORDER BY s.set_id;
