-- The view of decisions that nobody took back, for files whose step to version 101 did not make it yet.
CREATE VIEW IF NOT EXISTS in_force AS
SELECT * FROM events WHERE event_id NOT IN (SELECT event_id FROM revocations);
