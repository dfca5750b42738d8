-- Items that are approved and had to be by people.
SELECT item_id FROM review.approved WHERE status = 'approved' AND demanded;
