-- The tables of accounts, which a file had only if an account was ever asked for.
-- Who reviews. Nobody is deleted: their events stand under the name, which nobody else may get.
CREATE TABLE IF NOT EXISTS accounts (
    name        TEXT PRIMARY KEY CHECK (name <> '' AND name NOT LIKE 'policy:%'),
    folded      TEXT NOT NULL UNIQUE,   -- what names that look alike have in common
    role        TEXT NOT NULL CHECK (role IN ('annotator', 'expert', 'admin')),
    password    TEXT,                   -- its hash, with salt and cost; none: signs in by link only
    created_at  TEXT NOT NULL,
    disabled_at TEXT
) STRICT;

-- Links that sign in once. Of every token only the SHA-256 is kept.
CREATE TABLE IF NOT EXISTS sign_in_links (
    token_hash TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE REFERENCES accounts (name),
    expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who is signed in, since when, and when they last did something.
CREATE TABLE IF NOT EXISTS sessions (
    token_hash TEXT PRIMARY KEY,
    name       TEXT NOT NULL REFERENCES accounts (name),
    began_at   TEXT NOT NULL,
    seen_at    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of_name ON sessions (name);

-- Passwords tried of late, but for those that were right. What was typed for a name may be a
-- password, so only its SHA-256 is kept.
CREATE TABLE IF NOT EXISTS sign_in_attempts (
    attempt_id INTEGER PRIMARY KEY,
    name_hash  TEXT NOT NULL,
    address    TEXT NOT NULL,
    tried_at   TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS attempts_of_name ON sign_in_attempts (name_hash);
CREATE INDEX IF NOT EXISTS attempts_of_address ON sign_in_attempts (address);
