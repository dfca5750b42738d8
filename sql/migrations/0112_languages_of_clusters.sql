-- Clusters within a language, and languages that the embedding model does not read.
CREATE TABLE cluster.languages (
    model VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    n_texts BIGINT NOT NULL CHECK (n_texts > 0),
    unknown_share DOUBLE NOT NULL CHECK (unknown_share BETWEEN 0 AND 1),
    letters_per_token DOUBLE CHECK (letters_per_token > 0),
    is_read BOOLEAN NOT NULL,
    PRIMARY KEY (model, language)
);
ALTER TABLE cluster.communities ADD COLUMN language VARCHAR;
CREATE TEMP TABLE clusters_before AS FROM cluster.clusters;
DROP TABLE cluster.clusters;
CREATE TABLE cluster.clusters (
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
    page_id VARCHAR,
    image_id VARCHAR,
    CHECK (cluster_id IS NULL OR group_id IS NOT NULL),
    CHECK (group_how IN ('seed', 'assigned', 'no neighbour', 'absorbed', 'noise', 'unreadable language')),
    CHECK (cluster_how IN ('seed', 'assigned', 'no neighbour', 'absorbed', 'noise')),
    CHECK ((group_id IS NOT NULL) = (group_how IN ('seed', 'assigned'))),
    CHECK ((cluster_id IS NOT NULL) = coalesce(cluster_how IN ('seed', 'assigned'), false)),
    CHECK ((cluster_how IS NULL) = (group_id IS NULL)),
    CHECK (group_id IS NULL OR nearest_group_id IS NULL),
    CHECK (cluster_id IS NULL OR nearest_cluster_id IS NULL)
);
INSERT INTO cluster.clusters BY NAME FROM clusters_before;
DROP TABLE clusters_before;
