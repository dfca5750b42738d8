-- The sides that there are.
SELECT page_id, image_id, side, reason FROM cluster.sides ORDER BY page_id, image_id;
