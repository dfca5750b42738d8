-- The group of each picture that has near-duplicates.
SELECT image_id, group_id FROM cluster.duplicates WHERE distance IS NOT NULL ORDER BY image_id;
