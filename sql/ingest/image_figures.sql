-- The distribution of each measurement of the images of some shards, to choose limits by.
WITH figures AS (
    UNPIVOT (
        SELECT
            width::DOUBLE AS width,
            height::DOUBLE AS height,
            aspect,
            blur,
            entropy,
            brightness,
            contrast::DOUBLE AS contrast,
            visible
        FROM ingest.images
        WHERE list_contains($shards, wit_shard)
    ) ON COLUMNS(*) INTO NAME figure VALUE value
)
SELECT
    figure,
    round(min(value), 2) AS least,
    round(quantile_cont(value, 0.05), 2) AS "5 %",
    round(median(value), 2) AS median,
    round(quantile_cont(value, 0.95), 2) AS "95 %",
    round(max(value), 2) AS most
FROM figures
GROUP BY figure
ORDER BY figure;
