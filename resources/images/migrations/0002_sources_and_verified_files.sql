-- Where an image came from, a mirror for example; the digest that the wiki gave of its file; and the state in
-- which a stored file was last found to have the bytes of its name.
ALTER TABLE fetched ADD COLUMN fetched_from TEXT;
ALTER TABLE fetched ADD COLUMN file_sha1 TEXT;
CREATE TABLE verified (
    image_id TEXT PRIMARY KEY,
    n_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Addresses are kept without passwords and tokens. What these gave is fetched again.
DELETE FROM fetched WHERE instr(
    substr(url, instr(url, '//') + 2, instr(substr(url, instr(url, '//') + 2) || '/', '/') - 1), '@'
);
DELETE FROM fetched WHERE url LIKE '%?%' AND (
    url LIKE '%token=%' OR url LIKE '%key=%' OR url LIKE '%secret=%' OR url LIKE '%pass%=%' OR url LIKE '%pwd=%'
    OR url LIKE '%sig=%' OR url LIKE '%signature=%' OR url LIKE '%auth%=%' OR url LIKE '%credential=%'
    OR url LIKE '%session%=%' OR url LIKE '%sid=%' OR url LIKE '%jwt=%' OR url LIKE '%hmac=%' OR url LIKE '%keyid=%'
);
