-- Entries that are in more sets of a kind than allowed.
SELECT kind, entry_id, count(DISTINCT set_id) AS n_sets
FROM cluster.image_sets
GROUP BY kind, entry_id
HAVING n_sets > CASE kind WHEN 'benchmark' THEN $n_benchmark ELSE $n_instruction END
ORDER BY n_sets DESC, entry_id;
