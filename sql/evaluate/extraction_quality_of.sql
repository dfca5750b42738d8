-- How far the letters that were read on one release can be trusted.
SELECT model, measure, reader, other, subset, metric, aggregation, n, value, ci_low, ci_high, reason
FROM evaluate.extraction_quality
WHERE release_id = $release_id
ORDER BY ALL;
