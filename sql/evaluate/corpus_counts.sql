-- How much there is of everything that the corpus is and that was made of it.
SELECT
    (SELECT count(*) FROM ingest.shards) AS n_shards,
    (SELECT coalesce(sum(n_rows), 0)::BIGINT FROM ingest.shards) AS n_rows,
    (SELECT count(DISTINCT page_id) FROM ingest.pages) AS n_pages,
    (SELECT count(DISTINCT entry_id) FROM ingest.entries) AS n_entries,
    (SELECT count(DISTINCT image_id) FROM ingest.entries) AS n_images,
    (SELECT coalesce(sum(n_bytes), 0)::BIGINT FROM (SELECT DISTINCT image_id, n_bytes FROM ingest.images)) AS n_bytes,
    (SELECT count(DISTINCT cluster_id) FROM cluster.clusters) AS n_clusters,
    (SELECT count(cluster_id) FROM cluster.clusters) AS n_clustered,
    (SELECT count(DISTINCT set_id) FROM cluster.image_sets) AS n_sets,
    (SELECT count(*) FROM dialogue.dialogues) AS n_dialogues,
    (SELECT count(*) FROM cluster.pictures) > 0 AS has_map,
    (SELECT count(*) FROM release.releases WHERE origin = 'imported') AS n_imported;
