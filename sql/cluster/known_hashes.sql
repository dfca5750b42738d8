-- Perceptual hashes of images that were measured: at ingestion, or since they are in a release.
SELECT image_id, any_value(phash) AS phash
FROM (
    SELECT image_id, phash FROM ingest.images
    UNION ALL
    SELECT image_id, phash FROM cluster.released_hashes
)
WHERE image_id IN (SELECT unnest($image_ids::VARCHAR[]))
GROUP BY image_id
ORDER BY image_id;
