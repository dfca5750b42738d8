-- Clustering: where each entry lies, which entries belong together, which sets are drawn from them.
CREATE SCHEMA IF NOT EXISTS cluster;

-- One text of one entry as a unit vector; space 'category' or 'caption' (MMDU B.1, Figure 7).
CREATE TABLE IF NOT EXISTS cluster.embeddings (
    entry_id VARCHAR NOT NULL,
    space VARCHAR NOT NULL CHECK (space IN ('category', 'caption')),
    text VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    vector FLOAT[] NOT NULL,
    PRIMARY KEY (entry_id, space)
);

-- Where each entry sits: its group (by category) and its cluster inside the group (by caption),
-- each with the similarity to its centre; NULL where the entry joined none.
CREATE TABLE IF NOT EXISTS cluster.clusters (
    entry_id VARCHAR PRIMARY KEY,
    group_id VARCHAR,
    group_centre VARCHAR,
    group_similarity DOUBLE CHECK (group_similarity BETWEEN -1.001 AND 1.001),
    cluster_id VARCHAR,
    cluster_centre VARCHAR,
    cluster_similarity DOUBLE CHECK (cluster_similarity BETWEEN -1.001 AND 1.001),
    CHECK (cluster_id IS NULL OR group_id IS NOT NULL)
);

-- One image of one set, in its order (MMDU 2.2: 2-20 images for the benchmark, 3.2: 2-5 to instruct).
CREATE TABLE IF NOT EXISTS cluster.image_sets (
    set_id VARCHAR NOT NULL,
    bucket VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    cluster_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position BETWEEN 1 AND 20),
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    PRIMARY KEY (set_id, position)
);
