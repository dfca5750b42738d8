-- The most frequent categories of the pages that a release's images are from, by number of images
-- (MMDU, Figure 11). Pages that the corpus has no more are not counted.
SELECT c.category, count(DISTINCT m.image_id) AS n
FROM release.images AS m
JOIN (
    SELECT DISTINCT page_url, unnest(categories) AS category FROM ingest.pages
) AS c USING (page_url)
WHERE m.release_id = $release_id
GROUP BY c.category
ORDER BY n DESC, c.category
LIMIT $n_categories;
