-- Sets with too few or too many images for their kind, or with a gap in their positions.
SELECT set_id, kind, count(*) AS n_images, max(position) AS last_position
FROM cluster.image_sets
GROUP BY set_id, kind
HAVING n_images < $n_least
    OR n_images > CASE kind WHEN 'benchmark' THEN $n_benchmark ELSE $n_instruction END
    OR last_position <> n_images
ORDER BY set_id;
