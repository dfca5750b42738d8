-- Assignments, and the order in which items are handed out. Priorities are computed when the store is opened
-- next, since the stored rules lack those of this version.
ALTER TABLE standings ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE standings ADD COLUMN unreserved INTEGER NOT NULL DEFAULT 0;
DROP INDEX IF EXISTS standings_of_status;
CREATE INDEX IF NOT EXISTS standings_to_hand_out
ON standings (status, priority, place, kind, item_id, people, unreserved, round, content_hash);
UPDATE standings SET unreserved = people;

-- Who is to decide what, as a lead said, in the order it was said: an assignment, or with `ends` the end of
-- one. What it means is methods/review/assignment.py; `assigned` follows from it.
CREATE TABLE IF NOT EXISTS assignments (
    assignment_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ends INTEGER UNIQUE REFERENCES assignments,
    annotator TEXT,
    round INTEGER CHECK (round IN (1, 2)),
    kind TEXT,
    bucket INTEGER,
    start REAL,
    share REAL CHECK (share > 0 AND share <= 1),
    made_by TEXT NOT NULL,
    made_at TEXT NOT NULL,
    CHECK ((ends IS NULL) = (annotator IS NOT NULL AND round IS NOT NULL AND share IS NOT NULL))
);
CREATE TRIGGER IF NOT EXISTS assignments_no_update BEFORE UPDATE ON assignments
WHEN NEW.assignment_id IS NOT OLD.assignment_id OR NEW.ends IS NOT OLD.ends OR NEW.round IS NOT OLD.round
    OR NEW.kind IS NOT OLD.kind OR NEW.bucket IS NOT OLD.bucket OR NEW.start IS NOT OLD.start
    OR NEW.share IS NOT OLD.share OR NEW.made_at IS NOT OLD.made_at
    OR (NEW.annotator IS NOT OLD.annotator
        AND NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.annotator AND new = NEW.annotator))
    OR (NEW.made_by IS NOT OLD.made_by
        AND NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.made_by AND new = NEW.made_by))
BEGIN SELECT RAISE(ABORT, 'assignments are append-only: no UPDATE'); END;
CREATE TRIGGER IF NOT EXISTS assignments_no_delete BEFORE DELETE ON assignments
BEGIN SELECT RAISE(ABORT, 'assignments are append-only: no DELETE'); END;

-- The offered items of every assignment that has not ended, each person's once; made anew with every event.
CREATE TABLE IF NOT EXISTS assigned (
    item_id TEXT NOT NULL,
    annotator TEXT NOT NULL,
    round INTEGER NOT NULL,
    assignment_id INTEGER NOT NULL,
    progress TEXT NOT NULL CHECK (progress IN ('open', 'done', 'waiting')),
    priority INTEGER NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (item_id, annotator, round)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS assigned_in_order
ON assigned (annotator, round, progress, priority, place, item_id);
CREATE INDEX IF NOT EXISTS assigned_of_assignment ON assigned (assignment_id, progress);

-- Items whose right decision is known: copies of items that an expert decided, each in `items` under an id of
-- its own, as if withdrawn, so that decisions on it change nothing but what is known of people. `expected` is
-- what the expert made of it, as JSON.
CREATE TABLE IF NOT EXISTS gold (
    item_id TEXT PRIMARY KEY REFERENCES items,
    of_item TEXT NOT NULL,
    expected TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at TEXT NOT NULL
);
