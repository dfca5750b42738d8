-- The miniatures of these pictures, as far as earlier runs looked at them.
SELECT image_id, grey
FROM cluster.picture_miniatures
WHERE version = $version AND image_id IN (SELECT unnest($keys::VARCHAR[]));
