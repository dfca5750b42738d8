-- Entries in the benchmark split, each once, with the texts that keywords are looked for in, and the MD5 of their pictures.
SELECT entry_id, image_id, title, caption, categories, m.md5
FROM ingest.entries
JOIN cluster.entry_splits AS o USING (entry_id)
LEFT JOIN (SELECT image_id, any_value(md5) AS md5 FROM ingest.images GROUP BY image_id) AS m USING (image_id)
WHERE o.split = 'benchmark'
QUALIFY row_number() OVER (PARTITION BY entry_id ORDER BY wit_shard) = 1
ORDER BY entry_id;
