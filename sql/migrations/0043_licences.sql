-- Where a licence was read, what files say of rights, and licences on the card of a release. What was ingested
-- before is read anew by the next ingestion.
ALTER TABLE ingest.images ADD COLUMN rights VARCHAR;
ALTER TABLE ingest.images ADD COLUMN licence_source VARCHAR;
ALTER TABLE ingest.entries ADD COLUMN licence_source VARCHAR;
ALTER TABLE release.releases ADD COLUMN licences JSON;
