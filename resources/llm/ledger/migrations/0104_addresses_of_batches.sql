-- Batches have the address that they were submitted to. It is not known of earlier ones.
ALTER TABLE batches ADD COLUMN address TEXT;
