-- The versions of a page in other languages.
ALTER TABLE ingest.pages ADD COLUMN version_ids VARCHAR[];
