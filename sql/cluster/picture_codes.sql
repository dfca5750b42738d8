-- The codes of these pictures, as far as earlier runs looked at them.
SELECT p.image_id, p.code
FROM cluster.picture_codes AS p
WHERE p.image_id IN (SELECT unnest($image_ids::VARCHAR[]));
