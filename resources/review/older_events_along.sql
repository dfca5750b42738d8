-- After the tables are made: every event of the older form, under the number it had.
INSERT INTO events (
    event_id, item_id, content_hash, round, reviewer, verdict, edits, reason, note, seconds,
    decided_at, source_hash
)
SELECT
    event_id, item_id, content_hash, round, reviewer, verdict, edits, reason, note, seconds,
    decided_at, source_hash
FROM older_events
ORDER BY event_id;
DROP TABLE older_events;
