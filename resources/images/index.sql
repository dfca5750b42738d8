-- The image index's tables (SQLite, WAL): what each address gave last; and the state in which a stored file was last
-- found to have the bytes of its name.
CREATE TABLE IF NOT EXISTS fetched (
    url TEXT PRIMARY KEY,
    image_id TEXT NOT NULL,
    facts TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    fetched_from TEXT,
    file_sha1 TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS verified (
    image_id TEXT PRIMARY KEY,
    n_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
