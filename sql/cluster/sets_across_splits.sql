-- How many sets of each kind have an entry that is not in the split of their kind.
SELECT s.kind, count(DISTINCT s.set_id) AS n
FROM cluster.image_sets AS s
JOIN cluster.entry_splits AS e USING (entry_id)
WHERE e.split IS DISTINCT FROM s.kind
GROUP BY s.kind
ORDER BY s.kind;
