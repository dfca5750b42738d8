-- The images of releases that are compared with those of others.
SELECT release_id, item_id, image_id, page_url
FROM release.images
WHERE release_id IN (SELECT unnest($release_ids::VARCHAR[]))
ORDER BY ALL;
