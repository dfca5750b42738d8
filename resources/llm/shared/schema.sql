-- What processes share when they ask models. All of it may be deleted while nothing runs: what
-- was taken of a minute is forgotten after it, and what runs have spent is in the ledger.

-- What was taken of a limit per minute, in the time of the machine's monotonic clock, or of the server's clock
-- where machines share it. A row with `of`
-- corrects the row of that number by `units`.
CREATE TABLE IF NOT EXISTS taken (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    of INTEGER,
    minute TEXT NOT NULL,
    at REAL NOT NULL,
    units REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS taken_of_minute ON taken (minute, seq);

-- The runs that share a budget, which is an account. A run may spend what it was granted; while its
-- process lives, it holds the lock of the byte that belongs to `seq`.
CREATE TABLE IF NOT EXISTS spenders (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    run TEXT NOT NULL,
    together INTEGER NOT NULL,
    spent_usd REAL NOT NULL,
    granted_usd REAL NOT NULL,
    joined_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS spenders_of_account ON spenders (account);
