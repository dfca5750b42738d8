-- Which images look alike is found over all shards, by the job `cluster`.
CREATE TABLE cluster.duplicates (
    image_id VARCHAR PRIMARY KEY,
    group_id VARCHAR NOT NULL,
    n_urls INTEGER NOT NULL CHECK (n_urls > 0),
    distance INTEGER CHECK (distance BETWEEN 0 AND 64)
);
INSERT INTO cluster.duplicates
SELECT image_id, group_id, n_urls, distance FROM ingest.duplicates;
DROP TABLE ingest.duplicates;
