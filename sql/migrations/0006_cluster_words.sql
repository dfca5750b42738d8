-- How an entry came to its group and its cluster, in the words of the field.
CREATE TABLE cluster.new_clusters (
    entry_id VARCHAR PRIMARY KEY,
    category_text_id VARCHAR NOT NULL,
    caption_text_id VARCHAR NOT NULL,
    group_id VARCHAR,
    group_how VARCHAR NOT NULL,
    group_centre VARCHAR,
    group_similarity DOUBLE CHECK (group_similarity BETWEEN -1.001 AND 1.001),
    group_caption_similarity DOUBLE CHECK (group_caption_similarity BETWEEN -1.001 AND 1.001),
    nearest_group_id VARCHAR,
    nearest_group_similarity DOUBLE CHECK (nearest_group_similarity BETWEEN -1.001 AND 1.001),
    cluster_id VARCHAR,
    cluster_how VARCHAR,
    cluster_centre VARCHAR,
    cluster_similarity DOUBLE CHECK (cluster_similarity BETWEEN -1.001 AND 1.001),
    cluster_category_similarity DOUBLE CHECK (cluster_category_similarity BETWEEN -1.001 AND 1.001),
    nearest_cluster_id VARCHAR,
    nearest_cluster_similarity DOUBLE CHECK (nearest_cluster_similarity BETWEEN -1.001 AND 1.001),
    CHECK (cluster_id IS NULL OR group_id IS NOT NULL),
    CHECK (group_how IN ('seed', 'assigned', 'no neighbour', 'absorbed', 'noise')),
    CHECK (cluster_how IN ('seed', 'assigned', 'no neighbour', 'absorbed', 'noise')),
    CHECK ((group_id IS NOT NULL) = (group_how IN ('seed', 'assigned'))),
    CHECK ((cluster_id IS NOT NULL) = coalesce(cluster_how IN ('seed', 'assigned'), false)),
    CHECK ((cluster_how IS NULL) = (group_id IS NULL)),
    CHECK (group_id IS NULL OR nearest_group_id IS NULL),
    CHECK (cluster_id IS NULL OR nearest_cluster_id IS NULL)
);
INSERT INTO cluster.new_clusters
SELECT * REPLACE (
    CASE group_how
        WHEN 'founded' THEN 'seed'
        WHEN 'overtaken' THEN 'absorbed'
        WHEN 'sparse' THEN 'noise'
        ELSE group_how
    END AS group_how,
    CASE cluster_how
        WHEN 'founded' THEN 'seed'
        WHEN 'overtaken' THEN 'absorbed'
        WHEN 'sparse' THEN 'noise'
        ELSE cluster_how
    END AS cluster_how
)
FROM cluster.clusters;
DROP TABLE cluster.clusters;
ALTER TABLE cluster.new_clusters RENAME TO clusters;

ALTER TABLE cluster.communities RENAME COLUMN founded_in TO created_in;
