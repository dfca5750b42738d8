-- Each image once, with its perceptual hash and the number of its URLs.
SELECT image_id, any_value(phash) AS phash, count(DISTINCT image_url) AS n_urls
FROM ingest.images
GROUP BY image_id
ORDER BY image_id;
