-- Clustering: vectors of entries, groups and clusters of entries, image sets sampled from clusters.
CREATE SCHEMA IF NOT EXISTS cluster;

-- Images behind several URLs, or with near-duplicates (copies by cluster.picture_pairs): `group_id` is the
-- smallest image id of the group, `distance` the Hamming distance of the perceptual hash to the nearest copy.
CREATE TABLE IF NOT EXISTS cluster.duplicates (
    image_id VARCHAR PRIMARY KEY,
    group_id VARCHAR NOT NULL,
    n_urls INTEGER NOT NULL CHECK (n_urls > 0),
    distance INTEGER CHECK (distance BETWEEN 0 AND 64)
);

-- A text's unit vector by one model, under the SHA-256 of the text; cluster.entry_texts says which entries
-- have it. Rows are never deleted, so no text is embedded twice, even if its entry is removed and added
-- again. `model` includes the backend unless that is torch.
CREATE TABLE IF NOT EXISTS cluster.embeddings (
    text_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    vector FLOAT[] NOT NULL CHECK (len(vector) > 0),
    PRIMARY KEY (text_id, model),
    CHECK (text_id = sha256(text))
);

-- Whether the embedding model reads the captions of a language, measured on `n_texts` of them by how the
-- model's tokenizer splits them (methods/clustering/languages.py).
CREATE TABLE IF NOT EXISTS cluster.languages (
    model VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    n_texts BIGINT NOT NULL CHECK (n_texts > 0),
    unknown_share DOUBLE NOT NULL CHECK (unknown_share BETWEEN 0 AND 1),
    letters_per_token DOUBLE CHECK (letters_per_token > 0),
    is_read BOOLEAN NOT NULL,
    PRIMARY KEY (model, language)
);

-- Each entry with its group (by category) and its cluster inside the group (by caption), and its cosine to
-- their centres in both spaces; for an entry in none, the nearest one and the cosine to its centre.
-- `group_how` and `cluster_how` are defined in methods/clustering/two_passes.py. The entry at a centre may
-- have been removed since. The two texts are those that were compared, in cluster.embeddings. By page and
-- image a later run knows the new version of an entry whose texts were changed.
CREATE TABLE IF NOT EXISTS cluster.clusters (
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

-- Every group, and every cluster with its group. A community gets its id once, in the run `created_in`, and
-- keeps it while entries join and leave. `place` is the order in which the communities of a kind were found:
-- a new entry joins the first one within tau. Its centre and the centre's two texts are kept too, even if the
-- entry is removed; only reclustering may change the centre. Its members are in one language, which is NULL if
-- it was found by a version that did not look at languages. The other columns are the settings.
CREATE TABLE IF NOT EXISTS cluster.communities (
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
    language VARCHAR,
    UNIQUE (kind, place),
    CHECK ((kind = 'group') = (group_id IS NULL))
);

-- How each run changed the prior communities, as defined in methods/clustering/incremental.py. A run that
-- reclustered has rows for all communities, a run that extended only for new and gone ones. n_old, n_new
-- and n_common count entries: of the old community, of the new one, and of both.
CREATE TABLE IF NOT EXISTS cluster.changes (
    run_id VARCHAR NOT NULL,
    changed_at TIMESTAMP NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('group', 'cluster')),
    change VARCHAR NOT NULL CHECK (change IN ('kept', 'split', 'merged', 'new', 'gone')),
    old_id VARCHAR,
    new_id VARCHAR,
    n_old BIGINT NOT NULL CHECK (n_old >= 0),
    n_new BIGINT NOT NULL CHECK (n_new >= 0),
    n_common BIGINT NOT NULL CHECK (n_common >= 0),
    UNIQUE (run_id, old_id, new_id),
    CHECK ((change = 'new') = (old_id IS NULL)),
    CHECK ((change = 'gone') = (new_id IS NULL)),
    CHECK ((change = 'kept') = coalesce(old_id = new_id, false))
);

-- One image of one set, by position (MMDU 2.2: 2-20 images in benchmark sets, 3.2: 2-5 in instruction sets).
CREATE TABLE IF NOT EXISTS cluster.image_sets (
    set_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    cluster_id VARCHAR NOT NULL,
    position INTEGER NOT NULL CHECK (position BETWEEN 1 AND 20),
    entry_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    PRIMARY KEY (set_id, position)
);

-- For each requested size the number of sets wanted and made, and the reasons for the difference, as
-- defined in methods/image_sets/sampling.py. If no number of sets was requested, `wanted` is the size's share
-- of the sets that were made.
CREATE TABLE IF NOT EXISTS cluster.set_counts (
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    n_images INTEGER NOT NULL CHECK (n_images BETWEEN 2 AND 20),
    wanted BIGINT NOT NULL CHECK (wanted >= 0),
    made BIGINT NOT NULL CHECK (made >= 0),
    reasons MAP(VARCHAR, BIGINT) NOT NULL,
    PRIMARY KEY (kind, n_images),
    CHECK (coalesce(list_sum(map_values(reasons)), 0) = wanted - made)
);

-- The cohesion of each cluster, and the cluster with the nearest centre; similarities are cosines of
-- captions. Mean and minimum are over all members but the centre, whose similarity is always 1.
CREATE TABLE IF NOT EXISTS cluster.cohesion (
    cluster_id VARCHAR PRIMARY KEY,
    group_id VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    size INTEGER NOT NULL CHECK (size > 0),
    mean_similarity DOUBLE NOT NULL CHECK (mean_similarity BETWEEN -1.001 AND 1.001),
    min_similarity DOUBLE NOT NULL CHECK (min_similarity BETWEEN -1.001 AND 1.001),
    nearest_cluster VARCHAR,
    nearest_similarity DOUBLE CHECK (nearest_similarity BETWEEN -1.001 AND 1.001),
    CHECK (mean_similarity >= min_similarity - 0.001),
    CHECK (nearest_cluster <> cluster_id)
);

-- Clusters whose centres are near each other, each pair once. `union_similarity` is the lowest similarity
-- of a member of either to the better of the two centres; `mergeable`: it is at least tau, or at least the
-- lowest similarity in one of the two clusters if density made that less than tau.
CREATE TABLE IF NOT EXISTS cluster.near_pairs (
    cluster_a VARCHAR NOT NULL,
    cluster_b VARCHAR NOT NULL,
    title_a VARCHAR NOT NULL,
    title_b VARCHAR NOT NULL,
    size_a INTEGER NOT NULL,
    size_b INTEGER NOT NULL,
    same_group BOOLEAN NOT NULL,
    similarity DOUBLE NOT NULL CHECK (similarity BETWEEN -1.001 AND 1.001),
    union_similarity DOUBLE NOT NULL CHECK (union_similarity <= similarity + 0.001),
    mergeable BOOLEAN NOT NULL,
    PRIMARY KEY (cluster_a, cluster_b),
    CHECK (cluster_a < cluster_b)
);

-- The coordinates of an entry on the map, and its place in the drawing order: clustered entries are first.
CREATE TABLE IF NOT EXISTS cluster.map (
    entry_id VARCHAR PRIMARY KEY,
    place INTEGER NOT NULL UNIQUE CHECK (place > 0),
    x FLOAT NOT NULL,
    y FLOAT NOT NULL
);

-- The HTML page of the clustering, with the SHA-256 of its file.
CREATE TABLE IF NOT EXISTS cluster.pictures (
    path VARCHAR PRIMARY KEY,
    sha256 VARCHAR NOT NULL,
    n_points INTEGER NOT NULL,
    n_thumbnails INTEGER NOT NULL
);

-- What benchmarks and what instruction sets are made of, divided before anything is sampled: the split of each
-- image on each page, as defined in methods/image_sets/split.py; NULL if it is left out of both. Rows stay
-- when a page leaves the corpus or gets other texts, since a release may have the earlier ones.
CREATE TABLE IF NOT EXISTS cluster.splits (
    page_id VARCHAR NOT NULL,
    image_id VARCHAR NOT NULL,
    split VARCHAR CHECK (split IN ('benchmark', 'instruction')),
    reason VARCHAR NOT NULL CHECK (
        reason IN ('sampled', 'joined', 'bridges_splits', 'in_imported_benchmark')
    ),
    PRIMARY KEY (page_id, image_id),
    CHECK ((split IS NULL) = (reason IN ('bridges_splits', 'in_imported_benchmark')))
);

-- Each image as a JPEG of 128 pixels a side without its frame: what is compared, as defined in
-- methods/ingest/picture_thumbnail.py.
CREATE TABLE IF NOT EXISTS cluster.picture_thumbnails (
    image_id VARCHAR PRIMARY KEY,
    version INTEGER NOT NULL,
    thumbnail BLOB NOT NULL
);

-- Pairs of images that were aligned and compared, as defined in methods/ingest/picture_match.py.
CREATE TABLE IF NOT EXISTS cluster.picture_pairs (
    pair_id VARCHAR PRIMARY KEY,
    first_id VARCHAR NOT NULL,
    second_id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    common DOUBLE NOT NULL CHECK (common BETWEEN 0 AND 1),
    correlation DOUBLE NOT NULL CHECK (correlation BETWEEN -1.001 AND 1.001),
    windows DOUBLE NOT NULL CHECK (windows >= 0),
    differing DOUBLE NOT NULL CHECK (differing BETWEEN 0 AND 1),
    mark DOUBLE NOT NULL CHECK (mark BETWEEN 0 AND 1),
    is_turned BOOLEAN NOT NULL,
    is_added BOOLEAN NOT NULL,
    coarse_levels DOUBLE NOT NULL CHECK (coarse_levels BETWEEN 0.999 AND 16.001),
    levels DOUBLE NOT NULL CHECK (levels BETWEEN 0.999 AND 64.001),
    other_colour DOUBLE NOT NULL CHECK (other_colour >= 0),
    is_same BOOLEAN NOT NULL,
    CHECK (first_id < second_id)
);
