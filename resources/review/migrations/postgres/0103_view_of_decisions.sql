-- The view of decisions that nobody took back. Stores on Postgres have it since version 102, their first one.
CREATE OR REPLACE VIEW in_force AS
SELECT * FROM events WHERE event_id NOT IN (SELECT event_id FROM revocations);
