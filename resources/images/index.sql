-- The image index's table (SQLite, WAL): what each address gave last.
CREATE TABLE IF NOT EXISTS fetched (
    url TEXT PRIMARY KEY,
    image_id TEXT NOT NULL,
    facts TEXT NOT NULL,
    fetched_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
