-- The image sets of one kind as they are.
FROM cluster.image_sets WHERE kind = $kind ORDER BY set_id, position;
