-- The events of the review store that the tables were made from.
SELECT event_id FROM review.decisions;
