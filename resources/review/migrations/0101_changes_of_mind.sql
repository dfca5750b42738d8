-- Decisions that are taken back, comments, names that change, and a clock that no setting of the time moves.

CREATE TABLE revocations (
    revocation_id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id INTEGER NOT NULL UNIQUE REFERENCES events,
    person TEXT NOT NULL CHECK (person <> ''),
    reason TEXT,
    revoked_at TEXT NOT NULL
);
CREATE TRIGGER revocations_no_update BEFORE UPDATE ON revocations
WHEN NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.person AND new = NEW.person)
    OR NEW.revocation_id IS NOT OLD.revocation_id OR NEW.event_id IS NOT OLD.event_id
    OR NEW.reason IS NOT OLD.reason OR NEW.revoked_at IS NOT OLD.revoked_at
BEGIN SELECT RAISE(ABORT, 'revocations are append-only: no UPDATE'); END;
CREATE TRIGGER revocations_no_delete BEFORE DELETE ON revocations
BEGIN SELECT RAISE(ABORT, 'revocations are append-only: no DELETE'); END;
CREATE TRIGGER revocations_no_replace BEFORE INSERT ON revocations
WHEN EXISTS (SELECT 1 FROM revocations WHERE event_id = NEW.event_id)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TABLE comments (
    comment_id INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id TEXT NOT NULL,
    author TEXT NOT NULL CHECK (author <> ''),
    addressee TEXT,
    text TEXT NOT NULL CHECK (text <> ''),
    written_at TEXT NOT NULL
);
CREATE INDEX comments_of_item ON comments (item_id);
CREATE TRIGGER comments_no_update BEFORE UPDATE ON comments
WHEN NEW.comment_id IS NOT OLD.comment_id OR NEW.item_id IS NOT OLD.item_id
    OR NEW.text IS NOT OLD.text OR NEW.written_at IS NOT OLD.written_at
    OR (NEW.author IS NOT OLD.author
        AND NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.author AND new = NEW.author))
    OR (NEW.addressee IS NOT OLD.addressee
        AND NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.addressee AND new = NEW.addressee))
BEGIN SELECT RAISE(ABORT, 'comments are append-only: no UPDATE'); END;
CREATE TRIGGER comments_no_delete BEFORE DELETE ON comments
BEGIN SELECT RAISE(ABORT, 'comments are append-only: no DELETE'); END;

CREATE TABLE renaming (
    old TEXT PRIMARY KEY,
    new TEXT NOT NULL
) WITHOUT ROWID;
DROP TRIGGER events_no_update;
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
WHEN NOT EXISTS (SELECT 1 FROM renaming WHERE old = OLD.reviewer AND new = NEW.reviewer)
    OR NEW.event_id IS NOT OLD.event_id OR NEW.item_id IS NOT OLD.item_id
    OR NEW.content_hash IS NOT OLD.content_hash OR NEW.round IS NOT OLD.round
    OR NEW.verdict IS NOT OLD.verdict OR NEW.edits IS NOT OLD.edits
    OR NEW.reason IS NOT OLD.reason OR NEW.note IS NOT OLD.note
    OR NEW.seconds IS NOT OLD.seconds OR NEW.decided_at IS NOT OLD.decided_at
BEGIN SELECT RAISE(ABORT, 'review events are append-only: no UPDATE'); END;

CREATE TABLE clock (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    boot TEXT NOT NULL,
    ahead REAL NOT NULL
);
