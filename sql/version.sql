-- Which version of sql/ this file was prepared with.
CREATE TABLE IF NOT EXISTS main.schema_version (version VARCHAR NOT NULL);
