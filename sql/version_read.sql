SELECT version, declared FROM main.schema_version;
