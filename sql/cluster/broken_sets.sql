-- Image sets with an entry that is no longer in ingest.entries: its page was changed or removed.
SELECT DISTINCT s.set_id
FROM cluster.image_sets AS s
ANTI JOIN ingest.entries AS e ON e.entry_id = s.entry_id
ORDER BY s.set_id;
