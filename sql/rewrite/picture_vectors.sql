-- The vectors of one encoder.
SELECT image_id, vector FROM rewrite.picture_vectors WHERE encoder = $encoder ORDER BY image_id;
