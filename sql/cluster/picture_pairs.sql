-- Which of these pairs were compared, and whether they are copies of one picture.
SELECT pair_id, is_same
FROM cluster.picture_pairs
WHERE version = $version AND pair_id IN (SELECT unnest($keys::VARCHAR[]));
