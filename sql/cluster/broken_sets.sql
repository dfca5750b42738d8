-- Image sets with an entry that is no longer ingested: its page has changed or has gone.
SELECT DISTINCT s.set_id
FROM cluster.image_sets AS s
ANTI JOIN ingest.entries AS e ON e.entry_id = s.entry_id
ORDER BY s.set_id;
