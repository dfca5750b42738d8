-- Every entry in the benchmark split with its picture, and the group of pictures that look like it.
SELECT entry_id, any_value(image_id) AS image_id, coalesce(any_value(d.group_id), any_value(image_id)) AS group_id
FROM ingest.entries
JOIN cluster.entry_splits AS o USING (entry_id)
LEFT JOIN cluster.duplicates AS d USING (image_id)
WHERE o.split = 'benchmark'
GROUP BY entry_id
ORDER BY entry_id;
