DELETE FROM main.schema_version;
INSERT INTO main.schema_version VALUES ($version);
