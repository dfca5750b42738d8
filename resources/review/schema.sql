-- The review store's tables (SQLite, WAL).

-- What people decided, in the order they did. Standings and bars follow from it, without the decisions
-- that were taken back.
CREATE TABLE IF NOT EXISTS events (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer TEXT NOT NULL CHECK (reviewer <> '' AND reviewer NOT LIKE 'policy:%'),
    verdict TEXT NOT NULL CHECK (verdict IN ('accept', 'edit', 'reject', 'skip')),
    edits TEXT CHECK ((edits IS NOT NULL) = (verdict = 'edit')),
    reason TEXT CHECK (reason IS NOT NULL OR verdict <> 'reject'),
    note TEXT,
    seconds REAL,
    decided_at TEXT NOT NULL,
    source_hash TEXT NOT NULL UNIQUE
);
CREATE INDEX IF NOT EXISTS events_of_item ON events (item_id);
CREATE INDEX IF NOT EXISTS events_of_reviewer ON events (reviewer, decided_at);
CREATE TRIGGER IF NOT EXISTS events_no_update BEFORE UPDATE ON events
WHEN NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.reviewer AND new = NEW.reviewer)
    OR NEW.event_id IS NOT OLD.event_id OR NEW.item_id IS NOT OLD.item_id
    OR NEW.content_hash IS NOT OLD.content_hash OR NEW.round IS NOT OLD.round
    OR NEW.verdict IS NOT OLD.verdict OR NEW.edits IS NOT OLD.edits
    OR NEW.reason IS NOT OLD.reason OR NEW.note IS NOT OLD.note
    OR NEW.seconds IS NOT OLD.seconds OR NEW.decided_at IS NOT OLD.decided_at
BEGIN SELECT RAISE(ABORT, 'review events are append-only: no UPDATE'); END;
CREATE TRIGGER IF NOT EXISTS events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'review events are append-only: no DELETE'); END;
-- INSERT OR REPLACE deletes without asking the delete trigger.
CREATE TRIGGER IF NOT EXISTS events_no_replace BEFORE INSERT ON events
WHEN EXISTS (
    SELECT 1 FROM events WHERE event_id = NEW.event_id OR source_hash = NEW.source_hash
)
BEGIN SELECT RAISE(IGNORE); END;

-- Decisions that no longer count: taken back by their person (no reason), or re-opened by an expert or
-- administrator with a reason.
CREATE TABLE IF NOT EXISTS revocations (
    revocation_id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id INTEGER NOT NULL UNIQUE REFERENCES events,
    person TEXT NOT NULL CHECK (person <> ''),
    reason TEXT,
    revoked_at TEXT NOT NULL
);
CREATE TRIGGER IF NOT EXISTS revocations_no_update BEFORE UPDATE ON revocations
WHEN NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.person AND new = NEW.person)
    OR NEW.revocation_id IS NOT OLD.revocation_id OR NEW.event_id IS NOT OLD.event_id
    OR NEW.reason IS NOT OLD.reason OR NEW.revoked_at IS NOT OLD.revoked_at
BEGIN SELECT RAISE(ABORT, 'revocations are append-only: no UPDATE'); END;
CREATE TRIGGER IF NOT EXISTS revocations_no_delete BEFORE DELETE ON revocations
BEGIN SELECT RAISE(ABORT, 'revocations are append-only: no DELETE'); END;
CREATE TRIGGER IF NOT EXISTS revocations_no_replace BEFORE INSERT ON revocations
WHEN EXISTS (SELECT 1 FROM revocations WHERE event_id = NEW.event_id)
BEGIN SELECT RAISE(IGNORE); END;

-- What people wrote about an item to each other; `addressee` NULL means everybody who may read it.
CREATE TABLE IF NOT EXISTS comments (
    comment_id INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id TEXT NOT NULL,
    author TEXT NOT NULL CHECK (author <> ''),
    addressee TEXT,
    text TEXT NOT NULL CHECK (text <> ''),
    written_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS comments_of_item ON comments (item_id);
CREATE TRIGGER IF NOT EXISTS comments_no_update BEFORE UPDATE ON comments
WHEN NEW.comment_id IS NOT OLD.comment_id OR NEW.item_id IS NOT OLD.item_id
    OR NEW.text IS NOT OLD.text OR NEW.written_at IS NOT OLD.written_at
    OR (NEW.author IS NOT OLD.author
        AND NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.author AND new = NEW.author))
    OR (NEW.addressee IS NOT OLD.addressee
        AND NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.addressee AND new = NEW.addressee))
BEGIN SELECT RAISE(ABORT, 'comments are append-only: no UPDATE'); END;
CREATE TRIGGER IF NOT EXISTS comments_no_delete BEFORE DELETE ON comments
BEGIN SELECT RAISE(ABORT, 'comments are append-only: no DELETE'); END;

-- The names that change at this moment: filled and emptied in the transaction that renames a person. It is
-- the only change of an event that the triggers allow.
CREATE TABLE IF NOT EXISTS renaming (
    old TEXT PRIMARY KEY,
    new TEXT NOT NULL
) WITHOUT ROWID;

-- Items as last offered, `place` by place. Withdrawn ones stay: somebody may have worked on them.
-- `made_of` is the content id of the whole item, so that an offer writes only what is another.
CREATE TABLE IF NOT EXISTS items (
    item_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    set_id TEXT,
    content_hash TEXT NOT NULL,
    made_of TEXT NOT NULL,
    place INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL CHECK (withdrawn IN (0, 1)),
    title TEXT NOT NULL
);

-- What is long stands apart: `item` is the whole of it as JSON, `text` its texts in lower case.
CREATE TABLE IF NOT EXISTS item_contents (
    item_id TEXT PRIMARY KEY REFERENCES items,
    item TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS item_texts (
    item_id TEXT PRIMARY KEY REFERENCES items,
    text TEXT NOT NULL
);

-- What each offered item awaits, as methods/review/process.py says; made anew with every event.
-- `round` and `content_hash` are those of the next decision, `people` how many are still needed.
CREATE TABLE IF NOT EXISTS standings (
    item_id TEXT PRIMARY KEY REFERENCES items,
    kind TEXT NOT NULL,
    place INTEGER NOT NULL,
    status TEXT NOT NULL,
    people INTEGER NOT NULL,
    round INTEGER,
    content_hash TEXT NOT NULL
);
-- With all that the choice of the next item reads.
CREATE INDEX IF NOT EXISTS standings_of_status
ON standings (status, place, kind, item_id, people, round, content_hash);
CREATE INDEX IF NOT EXISTS standings_in_order ON standings (place, kind, status, item_id);
CREATE INDEX IF NOT EXISTS standings_of_kind ON standings (kind, status);

-- Who may not make the next decision on an item.
CREATE TABLE IF NOT EXISTS bars (
    item_id TEXT NOT NULL,
    annotator TEXT NOT NULL,
    PRIMARY KEY (item_id, annotator)
) WITHOUT ROWID;

-- Who works on what until when. An expired lock holds nothing; its token still names its drafts.
CREATE TABLE IF NOT EXISTS locks (
    token TEXT PRIMARY KEY,
    item_id TEXT NOT NULL,
    annotator TEXT NOT NULL,
    round INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    UNIQUE (item_id, annotator)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS locks_of_annotator ON locks (annotator);

-- Work that was begun, until it is decided.
CREATE TABLE IF NOT EXISTS drafts (
    item_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    round INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    draft TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    PRIMARY KEY (item_id, content_hash, round, annotator)
);

-- The rules that the standings follow, as JSON: one row.
CREATE TABLE IF NOT EXISTS rules (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    rules TEXT NOT NULL
);

-- The store's time is the time since the machine's start `boot` plus `ahead` seconds, so that setting the
-- clock neither ends nor prolongs a lock: one row.
CREATE TABLE IF NOT EXISTS clock (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    boot TEXT NOT NULL,
    ahead REAL NOT NULL
);
