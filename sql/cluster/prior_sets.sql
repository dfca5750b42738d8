-- The existing sets of a kind, each with its entries and their images in order.
SELECT
    set_id,
    list(entry_id ORDER BY position) AS entry_ids,
    list(image_id ORDER BY position) AS image_ids
FROM cluster.image_sets
WHERE kind = $kind
GROUP BY set_id
ORDER BY set_id;
