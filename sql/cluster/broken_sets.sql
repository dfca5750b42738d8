-- Image sets with an entry that is no longer in ingest.entries, as its page was changed or removed, or that
-- has another split now.
SELECT DISTINCT s.set_id
FROM cluster.image_sets AS s
ANTI JOIN ingest.entries AS e ON e.entry_id = s.entry_id
UNION
SELECT s.set_id
FROM cluster.image_sets AS s
JOIN cluster.entry_splits AS o USING (entry_id)
WHERE o.split IS DISTINCT FROM s.kind
ORDER BY set_id;
