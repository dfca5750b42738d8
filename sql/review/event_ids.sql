-- Which of the review store's events the tables rest on.
SELECT event_id FROM review.decisions;
