-- Pictures of entries by licence; NULL is not known.
SELECT licence, count(DISTINCT image_id) AS n_images
FROM ingest.entries
GROUP BY licence
ORDER BY n_images DESC, licence;
