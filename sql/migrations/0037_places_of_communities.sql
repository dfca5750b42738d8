-- New versions of entries are known by page and image; new entries join communities in the order in which
-- these were found. For communities of earlier versions that order is taken to be largest first.
ALTER TABLE cluster.clusters ADD COLUMN page_id VARCHAR;
ALTER TABLE cluster.clusters ADD COLUMN image_id VARCHAR;
UPDATE cluster.clusters AS c
SET page_id = e.page_id, image_id = e.image_id
FROM (
    SELECT entry_id, any_value(page_id) AS page_id, any_value(image_id) AS image_id
    FROM ingest.entries
    GROUP BY entry_id
) AS e
WHERE e.entry_id = c.entry_id;

CREATE TABLE cluster.new_communities (
    community_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('group', 'cluster')),
    group_id VARCHAR,
    centre_entry_id VARCHAR NOT NULL,
    category_text_id VARCHAR NOT NULL,
    caption_text_id VARCHAR NOT NULL,
    n_members BIGINT NOT NULL CHECK (n_members > 0),
    created_in VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    tau DOUBLE NOT NULL CHECK (tau BETWEEN -1 AND 1),
    min_size INTEGER NOT NULL CHECK (min_size >= 2),
    group_method VARCHAR NOT NULL,
    cluster_method VARCHAR NOT NULL,
    place INTEGER NOT NULL CHECK (place > 0),
    UNIQUE (kind, place),
    CHECK ((kind = 'group') = (group_id IS NULL))
);
INSERT INTO cluster.new_communities BY NAME
SELECT *, row_number() OVER (PARTITION BY kind ORDER BY n_members DESC, community_id) AS place
FROM cluster.communities;
DROP TABLE cluster.communities;
ALTER TABLE cluster.new_communities RENAME TO communities;
