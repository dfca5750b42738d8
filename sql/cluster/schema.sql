-- Clustering: where each entry lies, which entries belong together, which sets are drawn from them.
CREATE SCHEMA IF NOT EXISTS cluster;

-- Images that stand behind several URLs or look like others: `group_id` is the smallest id of those
-- that look alike, `distance` the bits in which the hash differs from the nearest of them.
CREATE TABLE IF NOT EXISTS cluster.duplicates (
    image_id VARCHAR PRIMARY KEY,
    group_id VARCHAR NOT NULL,
    n_urls INTEGER NOT NULL CHECK (n_urls > 0),
    distance INTEGER CHECK (distance BETWEEN 0 AND 64)
);

-- One text as a unit vector of one model, under the SHA-256 of the text; which entries have it, says
-- cluster.entry_texts. Rows are only ever added: no text is embedded twice, though its entry goes and
-- comes back. `model` names the backend too, where that is not torch.
CREATE TABLE IF NOT EXISTS cluster.embeddings (
    text_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    vector FLOAT[] NOT NULL CHECK (len(vector) > 0),
    PRIMARY KEY (text_id, model),
    CHECK (text_id = sha256(text))
);

-- Where each entry sits: its group (by category) and its cluster inside the group (by caption), with the
-- centre and the cosine to it in both spaces; where it joined none, which one is nearest and how near.
-- How it came there says methods/clustering/placement.py; a centre's entry may have gone since. The two
-- texts are those by which it was placed, in cluster.embeddings.
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
    CHECK (cluster_id IS NULL OR group_id IS NOT NULL),
    CHECK (group_how IN ('founded', 'assigned', 'no neighbour', 'overtaken', 'sparse')),
    CHECK (cluster_how IN ('founded', 'assigned', 'no neighbour', 'overtaken', 'sparse')),
    CHECK ((group_id IS NOT NULL) = (group_how IN ('founded', 'assigned'))),
    CHECK ((cluster_id IS NOT NULL) = coalesce(cluster_how IN ('founded', 'assigned'), false)),
    CHECK ((cluster_how IS NULL) = (group_id IS NULL)),
    CHECK (group_id IS NULL OR nearest_group_id IS NULL),
    CHECK (cluster_id IS NULL OR nearest_cluster_id IS NULL)
);

-- Every group, and every cluster with the group it lies in. A name is given once, when a community is
-- founded, and stays while it lives, whoever joins or leaves. Its centre stays too, with its two texts,
-- though the entry may go; only clustering all anew may move it. With that: how it was found.
CREATE TABLE IF NOT EXISTS cluster.communities (
    community_id VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('group', 'cluster')),
    group_id VARCHAR,
    centre_entry_id VARCHAR NOT NULL,
    category_text_id VARCHAR NOT NULL,
    caption_text_id VARCHAR NOT NULL,
    n_members BIGINT NOT NULL CHECK (n_members > 0),
    founded_in VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    tau DOUBLE NOT NULL CHECK (tau BETWEEN -1 AND 1),
    min_size INTEGER NOT NULL CHECK (min_size >= 2),
    group_method VARCHAR NOT NULL,
    cluster_method VARCHAR NOT NULL,
    CHECK ((kind = 'group') = (group_id IS NULL))
);

-- What each run made of the communities before it, as defined in methods/clustering/difference.py. A run
-- that clustered all anew tells of every one; one that extended only of those new or gone. Numbers are of
-- entries: all in the old one, all in the new one, and those in both.
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

-- How many sets of each wanted size were wanted and made, and what the rest is put down to; reasons are
-- defined in methods/image_sets/counts.py. Where no number of sets was asked for, the wanted ones are the
-- wanted shares of as many as were made.
CREATE TABLE IF NOT EXISTS cluster.set_counts (
    kind VARCHAR NOT NULL CHECK (kind IN ('benchmark', 'instruction')),
    n_images INTEGER NOT NULL CHECK (n_images BETWEEN 2 AND 20),
    wanted BIGINT NOT NULL CHECK (wanted >= 0),
    made BIGINT NOT NULL CHECK (made >= 0),
    reasons MAP(VARCHAR, BIGINT) NOT NULL,
    PRIMARY KEY (kind, n_images),
    CHECK (coalesce(list_sum(map_values(reasons)), 0) = wanted - made)
);

-- How tightly each cluster lies about its centre, and the cluster whose centre is nearest; similarities
-- are cosines of captions. The centre itself is not in mean and minimum: it would always be 1.
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

-- Clusters whose centres are near each other, each pair once. `union_similarity` is the lowest that any
-- member of both has to the better of the two centres; `mergeable`: that is no less than tau, or than the
-- lowest in one of the two already is where density made it wider than that.
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

-- Where an entry lies on the map, and when it was drawn: the first places are those of clustered entries.
CREATE TABLE IF NOT EXISTS cluster.map (
    entry_id VARCHAR PRIMARY KEY,
    place INTEGER NOT NULL UNIQUE CHECK (place > 0),
    x FLOAT NOT NULL,
    y FLOAT NOT NULL
);

-- The page that shows all this, with the SHA-256 of its file.
CREATE TABLE IF NOT EXISTS cluster.pictures (
    path VARCHAR PRIMARY KEY,
    sha256 VARCHAR NOT NULL,
    n_points INTEGER NOT NULL,
    n_thumbnails INTEGER NOT NULL
);
