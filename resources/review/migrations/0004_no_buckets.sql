-- Items are no longer divided into buckets.
DROP INDEX standings_in_order;
ALTER TABLE standings DROP COLUMN bucket;
ALTER TABLE items DROP COLUMN bucket;
CREATE INDEX standings_in_order ON standings (place, kind, status, item_id);
