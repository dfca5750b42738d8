SELECT version FROM main.schema_version;
