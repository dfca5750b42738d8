-- The pixels of the images of a release that were collected here.
SELECT i.image_id, any_value(i.width) AS width, any_value(i.height) AS height
FROM ingest.images AS i
SEMI JOIN (SELECT image_id FROM release.images WHERE release_id = $release_id) AS r USING (image_id)
GROUP BY i.image_id
ORDER BY i.image_id;
