-- Approved items that the policy demands people's decisions of.
SELECT item_id FROM review.approved WHERE status = 'approved' AND demanded;
