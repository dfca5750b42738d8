-- Questions are given an angle, and may be on the first images of a set. Earlier ones were on all of them.
ALTER TABLE dialogue.questions ADD COLUMN angle VARCHAR;
ALTER TABLE dialogue.questions ADD COLUMN until_position INTEGER;
