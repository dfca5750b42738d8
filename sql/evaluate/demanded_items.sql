-- Items that the release demands people's decisions of.
SELECT item_id FROM review.approved WHERE demanded;
