-- The time of locks is the database's, and does not go back: no longer that of the machine's start.
DROP TABLE clock;
CREATE TABLE clock (
    "only" INTEGER PRIMARY KEY CHECK ("only" = 1),
    ahead REAL NOT NULL,
    latest REAL NOT NULL
);
