-- Which version this file has, and the hash of the declarations in sql/ that it was compared with.
CREATE OR REPLACE TABLE main.schema_version (
    version INTEGER NOT NULL,
    declared VARCHAR NOT NULL
);
INSERT INTO main.schema_version VALUES ($version, $declared);
